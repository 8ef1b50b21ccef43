"""A live session with ads: they appear, are learned, one is withdrawn, a new one gets its chance."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs
from typer.testing import CliRunner

from rankloop.candidate import Candidate
from rankloop.cli import app
from rankloop.cli.service_log import FAIR, GUARDED, PINNED, REPEATED, log_of
from rankloop.client import Client
from rankloop.errors import DataError, RequestError
from rankloop.evaluation import NoSupport, estimate_rewards
from rankloop.lab.data.logged_rounds import weigh_rounds
from rankloop.policies import AdForest, AdPolicy, AUCRanker, LinUCB, SquareCB, ThompsonLogistic
from rankloop.service import FairSettings, GuardrailSettings, RankerSettings, UserEvent
from rankloop.service.core.model import asker_of
from rankloop.service.core.ranker_settings import Scaling
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import SqliteStore, open_temporary_store
from tests.support.life import Ids
from tests.support.limits import keep_snapshots_every
from tests.support.serving import Live, alive

frequent_snapshots = keep_snapshots_every(20)

POLICIES: dict[str, AdPolicy] = {
    "auc-ranker": AUCRanker(batch=10),
    "ad-forest": AdForest(batch=10, growth=0.25, trees=10),
    "linucb": LinUCB(),
    "thompson-logistic": ThompsonLogistic(),
    "squarecb": SquareCB(),
}
LIKES = {"tea": 0, "coffee": 1, "juice": 2, "cocoa": 0}  # who likes what: by the feature that is 1


class Clock:
    """Time that passes by being told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Session:
    """Visitors who come one after the other, see one ad, and click if it is theirs."""

    def __init__(self, live: Live, clock: Clock) -> None:
        self.live, self.clock, self.rng = live, clock, np.random.default_rng(4)

    def visit(self, *ads: str, name: str = "visits") -> tuple[str, str, bool]:
        """One visitor; the list's id, what was shown, and whether it was clicked."""
        kind = int(self.rng.integers(3))
        features: dict[str, float | None] = {f"likes {number}": float(number == kind) for number in range(3)}
        body = {
            "k": 1,
            "candidates": [{"object_id": ad} for ad in ads],
            "context": {"user": f"{name} {kind}", "features": features},
        }
        answer = self.live["rank"].post("/v1/rank", json=body)
        assert answer.status_code == 200, answer.text
        told: dict[str, Any] = answer.json()
        assert told["provenance"]["fallback"] is None, told
        shown = told["ranking"][0]["object_id"]
        if clicked := LIKES[shown] == kind:
            event = {
                "event_id": told["query_id"],
                "action_name": "click",
                "query_id": told["query_id"],
                "event_attributes": {"object": {"object_id": shown}},
            }
            receipts = self.live["rank"].post("/v1/events", json={"events": [event]}).json()["receipts"]
            assert [each["verdict"] for each in receipts] == ["accepted"]
        self.clock.now += 10
        return told["query_id"], shown, clicked

    def visits(self, count: int, *ads: str) -> list[tuple[str, str, bool]]:
        found = [self.visit(*ads) for _ in range(count)]
        self.clock.now += 100
        self.live.context.service.tick()
        return found


@pytest.fixture(params=["auc-ranker", "thompson-logistic"])
def session(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Session]:
    clock = Clock()
    service = ServiceFacade(SqliteStore(tmp_path / "log.db"), clock=clock, ids=Ids())
    policy = POLICIES[request.param]
    service.create("default", RankerSettings(policy=policy, window=50))
    with alive(service) as live:
        yield Session(live, clock)


def test_ads_appear_are_learned_withdrawn_and_replaced(session: Session) -> None:
    live, service = session.live, session.live.context.service
    early = session.visits(60, "tea", "coffee", "juice")
    for _ in range(4):
        later = session.visits(40, "tea", "coffee", "juice")
    assert service.model("default").lists == 220  # also those that nobody clicked
    assert np.mean([clicked for *_, clicked in later]) > 0.6  # by chance: a third
    for _ in range(6):
        last = session.visits(60, "cocoa", "coffee", "juice")  # tea is withdrawn, cocoa is new
    assert any(shown == "cocoa" for _, shown, _ in last)
    assert np.mean([clicked for *_, clicked in last]) > 0.6

    for query_id, shown, _ in (early[0], early[-1], later[-1], last[-1]):
        told = live["admin"].get(f"/v1/audit/{query_id}").json()
        chances = told["evidence"]["propensities"]
        assert sum(chances) == pytest.approx(1)
        assert chances[[each["object_id"] for each in told["candidates"]].index(shown)] > 0
        assert sum(told["context"]["features"].values()) == 1
        assert told["context"]["user"].startswith("visits ")
        again = live["admin"].post(f"/v1/audit/{query_id}/replay").json()
        assert again["identical"] is True

    query_id, shown, _ = last[-1]
    other = next(ad for ad in ("cocoa", "coffee", "juice") if ad != shown)
    why = live["admin"].get(f"/v1/explain/{query_id}", params={"a": shown, "b": other}).json()
    spoke = why["explanation"]["contributions"]
    assert why["explanation"]["above"] == shown
    assert set(spoke) <= {"likes 0", "likes 1", "likes 2"}
    kind = LIKES[shown]
    if told["context"]["features"][f"likes {kind}"] == 1:
        assert max(spoke, key=lambda name: float(spoke[name])) == f"likes {kind}"


def test_the_client_says_who_asks() -> None:
    service = ServiceFacade(open_temporary_store())
    service.create("default", RankerSettings(policy=SquareCB()))
    with alive(service) as live, Client(live.url, live.keys["rank"], timeout=60) as client:
        shown = client.rank([Candidate("tea"), Candidate("coffee")], k=1, user="anna", context={"age": 30.0})
        kept = service.audit(shown.query_id).impression
    assert (kept.user, kept.context.tolist(), len(shown.object_ids)) == ("anna", [30.0], 1)


# In this process


def visited(policy: AdPolicy, visits: int = 90) -> tuple[ServiceFacade, Clock]:
    """A service whose visitors are of two kinds, each of which likes one of two ads."""
    clock, numbers = Clock(), iter(range(10_000))
    service = ServiceFacade(open_temporary_store(), clock=clock, ids=lambda: f"list {next(numbers)}")
    service.create("banner", RankerSettings(policy=policy, window=50))
    ads = [Candidate("tea"), Candidate("coffee")]
    for number in range(visits):
        context: dict[str, float | None] = {"likes tea": float(number % 2)}
        if number > visits // 2:  # a feature that appears later
            context["evening"] = float(number % 3 == 0)
        shown = service.rank(ads, ranker="banner", k=1, user=f"user {number}", context=context)
        assert shown.provenance.fallback is None, shown.provenance.fallback
        if shown.object_ids[0] == ("tea" if number % 2 else "coffee"):
            service.record([UserEvent(shown.query_id, shown.object_ids[0])])
        clock.now += 10
    clock.now += 100
    service.tick()
    return service, clock


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES.keys())
def test_what_was_learned_follows_from_the_log_alone(policy: AdPolicy) -> None:
    service, clock = visited(policy)
    live = service.model("banner")
    assert (live.lists, live.width) == (90, 2)
    again = service.relearn("banner", service.settings("banner"))
    restarted = ServiceFacade(service.store, clock=clock).model("banner")
    assert again.lists == restarted.lists == 90
    for twin in (again, restarted):
        for name, value in live.policy.state().items():
            if name not in live.policy.rewritten_names():
                np.testing.assert_allclose(twin.policy.state()[name], value, atol=1e-9, err_msg=name)
    assert all(service.replay(each.query_id).identical for each in service.lists("banner", last=90))


def test_a_list_is_learned_once_when_its_window_closes() -> None:
    service, clock = visited(LinUCB(), visits=0)
    ads = [Candidate("tea"), Candidate("coffee")]
    shown = service.rank(ads, ranker="banner", k=1)
    service.tick()
    assert service.model("banner").lists == 0  # it may still be clicked
    clock.now += 60
    service.tick()
    assert service.model("banner").lists == 1  # nobody did, and that is a 0
    [late] = service.record([UserEvent(shown.query_id, shown.object_ids[0])])
    clock.now += 60
    service.tick()
    assert late.verdict == "late"
    assert service.model("banner").lists == 1


def test_a_context_that_is_none_is_refused_and_changes_nothing() -> None:
    service, _ = visited(LinUCB(), visits=4)
    for context in ({"age": "old"}, {"age": float("nan")}, {"": 1.0}, {"age": 1e200}):
        with pytest.raises(RequestError):
            service.rank([Candidate("tea")], ranker="banner", context=context)  # type: ignore[arg-type]
    assert service.context_schema("banner") == ["likes tea", "evening"]


def test_contexts_may_be_in_standard_deviations_or_as_they_come() -> None:
    cases: tuple[tuple[Scaling, list[float]], ...] = (("running", [1.0, 0.0]), ("query", [70.0, 0.0]))
    for scaling, expected in cases:
        clock = Clock()
        service = ServiceFacade(open_temporary_store(), clock=clock)
        service.create("banner", RankerSettings(policy=LinUCB(), scaling=scaling))
        for number in range(20):
            service.rank([Candidate("tea")], ranker="banner", k=1, context={"age": 30.0 + 40 * (number % 2)})
        service.flush("banner")
        last = service.rank([Candidate("tea")], ranker="banner", k=1, context={"age": 70.0, "new": None})
        kept, model = service.audit(last.query_id).impression, service.model("banner")
        _, query = model.asked("q", kept.features, ["tea"], (), asker_of(kept.user, kept.context))
        assert last.provenance.fallback is None
        assert query.context.features.tolist() == pytest.approx(expected)
        assert model.lists == 20


def test_policies_that_rank_by_features_pass_the_context_on_and_learn_as_ever() -> None:
    service, numbers = ServiceFacade(open_temporary_store()), range(3)
    service.create("shop")
    mugs = [Candidate(f"mug {number}", {"price": float(number)}) for number in numbers]
    shown = service.rank(mugs, ranker="shop", user="anna", context={"age": 30.0, "visits": None})
    kept = service.audit(shown.query_id).impression
    assert (kept.user, kept.context[0], np.isnan(kept.context[1])) == ("anna", 30.0, True)
    assert service.replay(shown.query_id).identical


def test_a_service_log_says_what_others_would_have_got() -> None:
    service, clock = visited(SquareCB(), visits=200)
    clock.now += 1000
    log = log_of(service, "banner").rounds
    assert (len(log), log.ads, log.contexts.shape) == (200, ("tea", "coffee"), (200, 2))
    right = (log.contexts[:, 0] == 1) == (log.shown == 0)
    np.testing.assert_array_equal(log.rewards, right)
    best = np.stack([log.contexts[:, 0], 1 - log.contexts[:, 0]], axis=1)  # always the right ad
    estimate = estimate_rewards(weigh_rounds(log, best))[1]
    assert estimate.value == pytest.approx(1.0)
    deterministic, clock = visited(LinUCB(), visits=30)
    clock.now += 1000
    with pytest.raises(NoSupport, match="the policy may show what the log could not"):
        weigh_rounds(log_of(deterministic, "banner").rounds, np.full((30, 2), 0.5))
    empty, _ = visited(LinUCB(), visits=0)
    with pytest.raises(DataError, match="no closed list of one ad"):
        log_of(empty, "banner")


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        ({"fair": FairSettings(shares={"A": 0.1})}, FAIR),
        ({"guardrails": GuardrailSettings(max_displacement=0)}, GUARDED),
        ({}, PINNED),
    ],
)
def test_lists_that_may_not_be_shown_as_drawn_are_no_rounds(rules: dict[str, Any], reason: str) -> None:
    clock = Clock()
    service = ServiceFacade(open_temporary_store(), clock=clock)
    plain = RankerSettings(policy=AUCRanker(epsilon=0.5), window=50)
    service.create("banner", structs.replace(plain, **rules))
    pin = 1 if reason == PINNED else None
    ads = [Candidate("tea", group="A", pinned_at=pin), Candidate("coffee", group="B")]
    for _ in range(20):
        service.rank(ads, ranker="banner", k=1)
    clock.now += 1000
    service.tick()
    with pytest.raises(DataError, match=f"left out were 20 {reason}"):
        log_of(service, "banner")
    service.configure("banner", plain)
    for _ in range(5):
        service.rank([Candidate("tea", group="A"), Candidate("coffee", group="B")], ranker="banner", k=1)
    clock.now += 1000
    service.tick()
    log = log_of(service, "banner")
    assert (len(log.rounds), log.left_out) == (5, {reason: 20})
    alone = ServiceFacade(open_temporary_store(), clock=clock)  # one group: there is nothing to merge
    alone.create("banner", structs.replace(plain, fair=FairSettings(shares="equal")))
    for _ in range(5):
        alone.rank([Candidate("tea", group="A"), Candidate("coffee", group="A")], ranker="banner", k=1)
    clock.now += 1000
    alone.tick()
    assert len(log_of(alone, "banner").rounds) == 5


def test_what_a_session_asks_for_again_is_no_new_round() -> None:
    """It gets the ad that was drawn before; counted each time, the interval would be too narrow."""
    clock = Clock()
    service = ServiceFacade(open_temporary_store(), clock=clock)
    service.create("banner", RankerSettings(policy=AUCRanker(epsilon=0.5), window=50))
    for session in range(20):
        for _ in range(25):
            ads = [Candidate("tea"), Candidate("coffee")]
            service.rank(ads, ranker="banner", k=1, session_id=f"s{session}", user_query="drinks")
            clock.now += 1
    clock.now += 1000
    service.tick()
    log = log_of(service, "banner")
    assert (len(log.rounds), log.left_out) == (20, {REPEATED: 480})


def test_the_command_says_which_lists_of_a_service_it_left_out(tmp_path: Path) -> None:
    service = ServiceFacade(SqliteStore(tmp_path / "log.db"), clock=Clock())
    rules = RankerSettings(policy=AUCRanker(epsilon=0.5), window=50)
    service.create("banner", structs.replace(rules, guardrails=GuardrailSettings(max_displacement=0)))
    ads = [Candidate("tea"), Candidate("coffee")]
    for count in (3, 40):
        for _ in range(count):
            service.rank(ads, ranker="banner", k=1)
        service.configure("banner", rules)
    service.close()
    command = ["evaluate", str(tmp_path), "--ranker", "banner", "--policies", "random"]
    result = CliRunner(env={"COLUMNS": "200"}).invoke(app, command)
    assert result.exit_code == 0, result.output
    assert "lists 3 under guardrails" in result.output
    assert "20 rounds to learn from, 20 to judge by" in result.output
