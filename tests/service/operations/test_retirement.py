"""Retired features: from there on the model is, to the bit, that of callers who never sent them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from rankloop.errors import RequestError
from rankloop.policies import MGD, PairRank, Policy, RankNet
from rankloop.scorers import MLP
from rankloop.service import TrialSettings
from rankloop.service.http.routes.health_routes import diagnose
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import Decision, Impression, SqliteStore, Store, open_temporary_store, write
from rankloop.service.store.postgres import PostgresStore
from tests.support.internals import catch_up, folded_anew
from tests.support.life import NAMES, SHORT, Clock, live, make, same, some_candidates, state
from tests.support.limits import keep_snapshots_every
from tests.support.serving import alive

frequent_snapshots = keep_snapshots_every(7)

DAY = 86400.0
GONE = NAMES.index("clicks")


def never_sent(store: Store, *, until: int) -> ServiceFacade:
    """A service on a log like this one, whose callers never sent `clicks`, and were shown the same lists."""
    twin = open_temporary_store()
    found: list[Any] = [
        *store.read_decisions("shop"),
        *store.read_events("shop"),
        *store.read_impressions("shop"),
    ]
    for entry in sorted((each for each in found if each.seq < until), key=lambda each: each.seq):
        write(twin, lambda transaction, entry=entry: transaction.append(without_it(entry)))  # type: ignore[misc]
    return make(twin)


def without_it(entry: Any) -> Any:
    if isinstance(entry, Decision) and entry.kind == "schema":
        return replace(entry, body={"names": [name for name in entry.body["names"] if name != "clicks"]})
    if isinstance(entry, Impression):
        evidence = {
            name: np.delete(value, GONE, axis=-1) if name == "directions" else value
            for name, value in entry.evidence.items()
        }
        return replace(entry, features=np.delete(entry.features, GONE, axis=1), evidence=evidence)
    return entry


def lived(store: Store, clock: Clock, policy: Policy, **settings: Any) -> ServiceFacade:
    service = make(store, clock)
    service.create("shop", structs.replace(SHORT, policy=policy, **settings))
    live(service, clock, rounds=15)
    service.rollback("shop", to=service.versions("shop")[-1][0])
    live(service, clock, rounds=10, seed=1)
    service.flush("shop")
    return service


@pytest.mark.parametrize(
    ("policy", "scaling"),
    [
        (PairRank(), "query"),
        (PairRank(caller_order="decent"), "running"),
        (RankNet(scorer=MLP(4)), "query"),
        (MGD(), "query"),
    ],
    ids=["pairrank", "pairrank, running", "network", "mgd"],
)
def test_the_weights_are_those_of_callers_who_never_sent_the_feature(policy: Policy, scaling: str) -> None:
    store, clock = open_temporary_store(), Clock()
    service = lived(store, clock, policy, scaling=scaling)
    before, shown = state(service), [each.query_id for each in service.lists("shop", last=30)]
    version = service.retire_features("shop", ["clicks"], by="anna", reason="no longer computed").version
    assert version == service.model("shop").version
    assert service.schema("shop") == ["age", "bm25", "price"]
    twin = never_sent(store, until=version or 0)
    assert same(state(service), state(twin))
    assert not same(state(service), before)
    assert all(service.replay(each).identical for each in shown)
    told = service.decided(kind="retire")[0]
    assert (told.who, told.why, told.what) == ("anna", "no longer computed", "without the features clicks")


def test_one_that_comes_again_is_learned_anew_and_older_values_stay_ignored() -> None:
    store, clock = open_temporary_store(), Clock()
    service = lived(store, clock, PairRank())
    service.retire_features("shop", ["clicks"])
    assert service.model("shop").width == 3
    shown = live(service, clock, rounds=8, seed=2)  # sends all four
    service.flush("shop")
    assert service.schema("shop") == ["age", "bm25", "price", "clicks"]
    assert service.columns("shop") == [*NAMES, "clicks"]
    assert service.model("shop").width == 4
    assert same(folded_anew(service)[2], state(service))
    assert all(service.replay(each.query_id).identical for each in shown)
    assert service.explain(shown[-1].query_id, *shown[-1].object_ids[:2]).contributions
    service.retire_features("shop", ["age", "clicks"])  # a second time, and another one
    live(service, clock, rounds=5, seed=3)
    service.flush("shop")
    service.configure("shop", structs.replace(SHORT, policy=RankNet(scorer=MLP(4))), relearn=True)
    everything = [each.query_id for each in service.lists("shop", last=100)]
    assert all(service.replay(each).identical for each in everything)
    assert same(folded_anew(service)[2], state(service))


@pytest.fixture(params=["sqlite", "postgres"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened: dict[str, Callable[[], Store]] = {
        "sqlite": lambda: SqliteStore(tmp_path / "log.db"),
        "postgres": lambda: PostgresStore(request.getfixturevalue("postgres").url()),
    }
    store = opened[request.param]()
    yield store
    store.close()


def test_it_survives_reopening_and_a_second_service_agrees(kept: Store) -> None:
    store, clock = kept, Clock()
    service = lived(store, clock, PairRank())
    other = make(store, clock, "other")
    service.retire_features("shop", ["clicks", "age"])
    live(service, clock, rounds=4, seed=2)
    service.flush("shop")
    catch_up(other)
    service.close()
    again = make(store, clock, "again")
    for each in (other, again):
        assert each.schema("shop") == service.schema("shop")
        assert same(state(each), state(service))
        assert each.model("shop").version == service.model("shop").version


def test_what_is_refused_changes_nothing() -> None:
    store, clock = open_temporary_store(), Clock()
    service = lived(store, clock, PairRank())
    before, entries = state(service), len(store.read_decisions("shop"))
    for names, days, word in (
        (["clcks"], None, "'clicks'"),
        (["clicks", "gone"], None, "no feature 'gone'"),
        ([], None, "one of them"),
        (["clicks"], 3.0, "one of them"),
        ([], -1.0, "above 0"),
        ([], 1.0, "was sent"),
    ):
        with pytest.raises(RequestError, match=word):
            service.retire_features("shop", names, unused_for=days)
    assert len(store.read_decisions("shop")) == entries
    assert same(state(service), before)
    service.retire_features("shop", ["clicks"])
    narrow = state(service)
    with pytest.raises(RequestError, match="from before features were retired"):
        service.rollback("shop", to=service.versions("shop")[-2][0])
    assert same(state(service), narrow)


def test_features_that_no_list_had_for_days_are_found_and_retired() -> None:
    store, clock = open_temporary_store(), Clock()
    service = lived(store, clock, PairRank())
    clock.now += 40 * DAY
    rng = np.random.default_rng(5)
    assert service.unused_features("shop", days=30) == []  # nobody asks any more: that says nothing
    with pytest.raises(RequestError, match="or no list was shown"):
        service.retire_features("shop", unused_for=30)
    for _ in range(3):
        service.rank(some_candidates(rng, names=("bm25", "price", "new")), ranker="shop")
    assert service.unused_features("shop", days=30) == ["age", "clicks"]
    assert service.unused_features("shop", days=60) == []
    said = "\n".join(diagnose(service, minutes=60).findings)
    assert "2 features of ranker 'shop'" in said
    assert "rankloop jobs retire --unused-for 30 --ranker shop" in said
    assert service.retire_features("shop", unused_for=30).done
    assert service.schema("shop") == ["bm25", "price", "new"]
    assert "jobs retire" not in "\n".join(diagnose(service, minutes=60).findings)


def test_a_trial_ends_and_its_lists_replay() -> None:
    store, clock = open_temporary_store(), Clock()
    service = lived(store, clock, PairRank())
    service.create("other", SHORT)
    live(service, clock, rounds=8, ranker="other", seed=4)
    service.start_trial("shop", TrialSettings(ranker="other", kind="interleave"))
    shown = live(service, clock, rounds=6, seed=5)
    service.retire_features("shop", ["bm25"])
    trial = service.trial("shop")
    assert trial is not None
    assert trial.reason == "features were retired"
    live(service, clock, rounds=2, seed=6)  # it comes again
    assert all(service.replay(each.query_id).identical for each in shown)


def test_over_http_with_an_admin_key_and_once() -> None:
    clock = Clock()
    service = make(open_temporary_store(), clock)
    service.create("default", SHORT)
    live(service, clock, rounds=10, ranker="default")
    with alive(service) as http:
        path, headers, body = "/v1/features/retire", {"Idempotency-Key": "one"}, {"names": ["age"]}
        done = http["admin"].post(path, json={**body, "reason": "gone"}, headers=headers)
        assert (done.status_code, done.json()["state"]) == (200, "done")
        again = http["admin"].post(path, json=body, headers=headers)
        assert again.json()["id"] == done.json()["id"]
        assert http["admin"].post(path, json={"names": ["price"]}, headers=headers).status_code == 409
        refused = http["admin"].post(path, json={"names": ["prise"]})
        assert (refused.status_code, "'price'" in refused.text) == (400, True)
        assert http["admin"].get("/v1/models").json()["features"] == ["bm25", "clicks", "price"]
        told = http["admin"].get("/v1/decisions?kind=retire").json()[0]
        assert (told["why"], told["what"]) == ("gone", "without the features age")


def test_what_was_learned_before_the_log_begins_keeps_its_features(tmp_path: Path) -> None:
    clock = Clock()
    with SqliteStore(tmp_path / "log.db") as store:
        service = lived(store, clock, PairRank())
        service.ranker("shop").keep()
        assert service.retain("shop", since=clock.now + 1).base
        with pytest.raises(RequestError, match="only features that came later"):
            service.retire_features("shop", ["clicks"])
        service.rank(some_candidates(np.random.default_rng(1), names=(*NAMES, "later")), ranker="shop")
        live(service, clock, rounds=5, seed=7)
        assert service.retire_features("shop", ["later"]).done
        assert same(folded_anew(service)[2], state(service))
