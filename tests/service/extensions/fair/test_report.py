"""Who is seen, and who should be: explanations, findings and the report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from msgspec import structs

from rankloop.service import FairSettings, GuardrailSettings, RankerSettings, UserEvent
from rankloop.service.extensions.fair import report
from rankloop.service.extensions.fair.exposure_sums import ExposureTally, GroupTally
from rankloop.service.reports.service_facts import doctor
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import Store, open_temporary_store
from tests.support.fairness import VIEW, account_by_hand, of_sellers
from tests.support.life import Clock, make, some_candidates

FAIR = FairSettings(shares="equal", tolerance=1.0)


def lived(store: Store, rules: RankerSettings, rounds: int = 30) -> ServiceFacade:
    """A service whose seller b has a quarter of the candidates; every list gets a click."""
    clock = Clock()
    service = make(store, clock)
    service.create("shop", rules)
    rng = np.random.default_rng(5)
    for number in range(rounds):
        candidates = of_sellers(rng, ("a", "a", "a", "b"), 20)
        shown = service.rank(candidates, ranker="shop", k=5, user_query=f"q{number % 3}")
        service.record([UserEvent(shown.query_id, shown.object_ids[number % 2])])
        clock.now += 20.0
    return service


def test_a_pair_that_was_turned_is_explained_by_fair_exposure() -> None:
    """By hand: what is shown in `exploit` is the order by score, but for the merge."""
    service = lived(open_temporary_store(), RankerSettings(fair=FAIR))
    service.flush("shop")
    service.set_mode("shop", "exploit")
    turned = explored = 0
    for _ in range(10):
        candidates = of_sellers(np.random.default_rng(7), ("a", "a", "a", "b"), 20, {3: 2})
        shown = service.rank(candidates, ranker="shop", k=6)
        scores = {each.object_id: each.score for each in shown.ranking}
        free = [each.object_id for each in shown.ranking if not each.pinned]
        picture = service.settled(shown.query_id)
        assert picture.turned is not None
        before = turned
        for index, above in enumerate(free):
            for below in free[index + 1 :]:
                why = service.explain(shown.query_id, below, above)
                assert why.turned == (scores[above] < scores[below])
                assert ("for fair exposure" in why.sentence) == why.turned
                turned += why.turned
                assert picture.turned[picture.shown.index(above)][picture.shown.index(below)] == why.turned
                explored += why.explored
        assert picture.turned_pairs == turned - before
    assert turned > 0
    assert explored == 0


def test_the_report_adds_up(store: Store) -> None:
    service = lived(store, RankerSettings(fair=FAIR))
    service.tick()
    report = service.exposure("shop", since=0.0, until=1e4)
    assert report.account is not None
    assert report.account.number == service.ranker("shop").view.configuration.extension_states["fair"]
    ahead = {each.group: round(each.ahead * VIEW) for each in report.account.groups}
    assert ahead == account_by_hand(store)
    assert report.total.lists == 30
    a, b = report.total.groups
    assert a.clicks + b.clicks == 30
    assert a.results + b.results == 150
    assert a.share_of_candidates == pytest.approx(a.candidates / 600)
    assert a.clicks_per_look == pytest.approx(a.clicks / a.granted)
    assert a.fulfilled == pytest.approx(a.granted / a.due)
    assert b.fulfilled == pytest.approx(b.granted / b.due)
    ratios = sorted((a.granted / a.due, b.granted / b.due))
    assert report.total.impact_ratio == pytest.approx(ratios[0] / ratios[1])
    assert report.total.impact_ratio is not None
    assert report.total.impact_ratio > 0.95
    assert report.findings == ()


def test_the_account_over_time_is_what_the_lists_left(store: Store) -> None:
    """By hand, list by list; what another account did before is not in it."""
    service = lived(store, RankerSettings(fair=FAIR), rounds=15)
    service.configure("shop", RankerSettings(fair=structs.replace(FAIR, tolerance=2.0)))
    rng = np.random.default_rng(1)
    for number in range(85):
        sellers = ("a", "b") if number < 50 else ("a", "a", "b", "c")
        service.rank(of_sellers(rng, sellers, 20), ranker="shop", k=5)
    store.submit(lambda transaction: transaction.list_rankers()).result()  # what waits is written first
    account = service.exposure("shop", since=0.0, until=1e9, steps=10).account
    assert account is not None
    assert [step.lists for step in account.steps] == [22, 21, 21, 21]
    mine = [each.parts["fair"] for each in store.read_impressions("shop")]
    mine, end = [each for each in mine if each.account == account.number], 0
    for step in account.steps:
        end += step.lists
        ahead = {"a": 0, "b": 0, "c": 0}
        for told in mine[:end]:
            for group, *sums in zip(told.groups, told.granted, told.due, told.lapsed, strict=True):
                ahead[group] += sums[0] - sums[1] - sums[2]
        assert {each.group: round(each.ahead * VIEW) for each in step.groups} == ahead
    assert {each.group: each.ahead for each in account.steps[-1].groups} == {
        each.group: each.ahead for each in account.groups
    }


def test_a_ranker_that_shares_nothing_says_so(store: Store) -> None:
    report = lived(store, RankerSettings(), rounds=2).exposure("shop")
    assert (report.account, report.total.lists, report.total.groups) == (None, 0, ())
    assert report.total.impact_ratio is None


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        (RankerSettings(fair=structs.replace(FAIR, tolerance=0.01)), "tolerance of 0.01 views is less than"),
        (
            RankerSettings(fair=FairSettings(shares={"a": 0.5, "c": 0.5})),
            "'c' has a share of 0.5 and no candidate",
        ),
        (
            RankerSettings(fair=FAIR, guardrails=GuardrailSettings(max_displacement=0)),
            "lists left an account outside",
        ),
    ],
)
def test_the_doctor_says_what_is_wrong(store: Store, rules: RankerSettings, reason: str) -> None:
    service = lived(store, rules)
    found = doctor(
        store, since=0.0, until=1e9, configurations={"shop": service.ranker("shop").view.configuration}
    )
    assert any(reason in finding for finding in found.findings), found.findings


@pytest.mark.parametrize(("group", "reason"), [("", "of one group, 'others'"), ("a", "came without a group")])
def test_the_doctor_misses_groups(store: Store, group: str, reason: str) -> None:
    service = make(store)
    service.create("shop", RankerSettings(fair=FAIR))
    rng = np.random.default_rng(0)
    for _ in range(25):
        one, *rest = some_candidates(rng)
        service.rank([replace(one, group=group), *rest], ranker="shop")
    store.submit(lambda transaction: transaction.list_rankers()).result()
    found = doctor(
        store, since=0.0, until=1e9, configurations={"shop": service.ranker("shop").view.configuration}
    )
    assert any(reason in finding for finding in found.findings), found.findings


class Read(list[GroupTally]):
    """Groups that count how often somebody goes through all of them."""

    times = 0

    def __iter__(self) -> Iterator[GroupTally]:
        self.times += 1
        return super().__iter__()


def test_sums_are_read_as_often_with_many_groups_as_with_few(monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_temporary_store()
    service = make(store, Clock())
    service.create("shop", RankerSettings(fair=FAIR))
    times = []
    for count in (2, 50):
        sums = dict.fromkeys(("lists", "candidates", "results", "granted", "due", "lapsed", "clicks"), 3)
        groups = Read(GroupTally(group=f"g{number}", **sums) for number in range(count))
        step = ExposureTally(start=0.0, lists=3, held=3, outside=0, turned=0, groups=groups)
        monkeypatch.setattr(report, "sum_exposure", lambda *_, found=step, **__: found)
        told = service.exposure("shop", since=0.0, until=1.0).total
        assert [each.share_of_clicks for each in told.groups] == [pytest.approx(1 / count)] * count
        times.append(groups.times)
    assert times[0] == times[1]
