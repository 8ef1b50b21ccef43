"""People's data are found, and deleted from log, models, snapshots and files: as if they had never been."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from rankloop.candidate import Candidate
from rankloop.errors import RequestError
from rankloop.policies import PairRank
from rankloop.policies.policy_names import POLICIES
from rankloop.service import FairSettings, HistoryError, RankerSettings, RankResponse, UserEvent
from rankloop.service.extensions.registry import load_registry
from rankloop.service.operations.jobs import ask
from rankloop.service.operations.people import OTHERS_TURN, Deletions
from rankloop.service.operations.person_removal import remove_people
from rankloop.service.operations.verify import verify
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import SERVICE, Person, SqliteStore, Store, open_temporary_store
from rankloop.service.store.log_archive import export_log, import_log
from rankloop.service.store.postgres import PostgresStore
from tests.support.faults import settle
from tests.support.life import Ids
from tests.support.limits import keep_snapshots_every

frequent_snapshots = keep_snapshots_every(5)

OTTO = Person(client_id="client-of-otto")
RULES = RankerSettings(policy=PairRank(), window=10.0, fair=FairSettings())


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    make: dict[str, Callable[[], Store]] = {
        "sqlite": lambda: SqliteStore(tmp_path / "log.db"),
        "postgres": lambda: PostgresStore(request.getfixturevalue("postgres").url()),
    }
    opened = make[request.param]()
    yield opened
    opened.close()


def live(service: ServiceFacade, clock: Clock, rounds: int, *, start: int = 0) -> list[str]:
    """Otto and others ask and click; the ids of his lists."""
    rng, his = np.random.default_rng(start), list[str]()
    for number in range(start, start + rounds):
        clock.now += 1.0
        otto = number % 3 == 0
        values = rng.normal(size=(5, 3))
        shown = service.rank(
            [
                Candidate(f"d{i}", {f"f{j}": float(v) for j, v in enumerate(row)}, group=f"g{i % 2}")
                for i, row in enumerate(values)
            ],
            ranker="shop",
            k=4,
            client_id=OTTO.client_id if otto else f"other-{number}",
            session_id=f"session-{'otto' if otto else 'x'}-{number}",
        )
        his += [shown.query_id] if otto else []
        event = f"{'otto' if otto else 'other'}-event-{number}"
        clicked = shown.object_ids[int(rng.integers(4))]
        service.record(
            [UserEvent(shown.query_id, clicked, event_id=event, client_id=OTTO.client_id if otto else "")]
        )
        service.tick()
    return his


def never_saw(store: Store, folder: Path) -> dict[str, Any]:
    """The model of a log without his lists and events: exported, left out, folded from its start."""
    export_log(store, folder / "all.jsonl")
    rows = [json.loads(line) for line in (folder / "all.jsonl").read_text().splitlines()]
    his = {
        row["query_id"] for row in rows if row["entry"] == "impression" and row["client_id"] == OTTO.client_id
    }
    kept = [
        row
        for row in rows
        if row["entry"] == "decision"
        or (
            row["entry"] in ("impression", "event")
            and row["query_id"] not in his
            and row["client_id"] != OTTO.client_id
        )
    ]
    (folder / "kept.jsonl").write_text("".join(json.dumps(row) + "\n" for row in kept))
    other = open_temporary_store()
    import_log(folder / "kept.jsonl", other)
    return state(ServiceFacade(other, clock=lambda: 0.0))


def state(service: ServiceFacade) -> dict[str, Any]:
    model = service.model("shop")
    arrays = {**model.policy.state(), **model.scale.state()}
    return {"lists": model.lists, **{name: value.tobytes() for name, value in arrays.items()}}


def test_a_deleted_person_is_gone_from_log_model_and_snapshots_and_the_account_stays(
    store: Store, tmp_path: Path
) -> None:
    clock = Clock()
    service = ServiceFacade(store, clock=clock)
    service.create("shop", RULES)
    his = live(service, clock, 18)
    service.forget("shop", ["otto-event-3", "other-event-4"])
    live(service, clock, 6, start=18)
    service.rollback("shop", to=service.versions("shop")[-1][0])
    live(service, clock, 3, start=24)
    expected, account, knew = never_saw(store, tmp_path), service.account("shop"), state(service)
    found = service.find_person(OTTO)
    assert (found.lists, found.events, found.rankers) == (9, 9, {"shop": 18})
    deleted = service.delete_people([OTTO], by="anna", reason="as they asked")
    assert (deleted.lists, deleted.events, deleted.rankers, deleted.done) == (9, 9, ["shop"], True)
    assert state(service) == expected != knew
    assert state(ServiceFacade(store, clock=clock)) == expected  # also after a restart
    assert service.account("shop") == ServiceFacade(store, clock=clock).account("shop") == account
    assert service.find_person(OTTO).lists == 0
    with pytest.raises(HistoryError, match="deleted on request") as gone:
        service.audit(his[0])
    assert his[0] not in str(gone.value)
    told = service.decided(kind="delete")
    assert [(each.who, each.why) for each in told if each.ranker == SERVICE] == [("anna", "as they asked")]
    late = UserEvent(
        his[0], "a", event_id="otto-late", client_id="otto", session_id="otto-s", source="a-otto"
    )
    known = UserEvent(his[0], "a", event_id="other-event-5", client_id="otto")  # the id of another event
    assert [each.verdict for each in service.record([late, known])] == ["orphan", "duplicate"]
    export_log(store, tmp_path / "after.jsonl")
    text = (tmp_path / "after.jsonl").read_text()
    assert "otto" not in text
    assert not any(query_id in text for query_id in his)
    live(service, clock, 6, start=40)  # and life goes on
    assert state(service) == state(ServiceFacade(store, clock=clock))
    assert service.delete_people([Person(session_id="nobody")]).decision == 0


def test_a_person_whose_list_is_open_where_a_retained_log_begins_is_gone_from_there_too(
    tmp_path: Path,
) -> None:
    clock, store = Clock(), open_temporary_store()
    service = ServiceFacade(store, clock=clock)
    service.create("shop", RULES)
    live(service, clock, 31)  # the last list is his, and open
    service.ranker("shop").keep()
    live(service, clock, 8, start=31)
    assert service.retain("shop", since=clock.now - 8).entries
    base = service.ranker("shop").history.first_entry()
    kept = store.load_latest("shop", until=base)
    assert kept is not None
    assert kept.body["learned"]["open"]
    service.delete_people([OTTO])
    after = store.load_latest("shop", until=base)
    assert after is not None
    assert len(after.body["learned"]["open"]) < len(kept.body["learned"]["open"])
    assert state(service) == state(ServiceFacade(store, clock=clock))
    export_log(store, tmp_path / "after.jsonl")
    assert "otto" not in (tmp_path / "after.jsonl").read_text()


def test_a_snapshot_that_was_made_before_a_deletion_and_comes_after_it_is_not_kept(tmp_path: Path) -> None:
    clock = Clock()
    with SqliteStore(tmp_path / "log.db") as one, SqliteStore(tmp_path / "log.db") as two:
        here, there = ServiceFacade(one, clock=clock), ServiceFacade(two, clock=clock)
        here.create("shop", RULES)
        live(here, clock, 20)
        there.tick()
        remove_people(one, [OTTO], clock=clock.now, said={})
        there.ranker("shop").keep()  # it has not heard of it yet
        there.store.submit(lambda _: None).result()
        assert not [seq for seq, _ in one.list_snapshots("shop") if seq > 3]
        for each in (here, there):
            each.tick()
        assert state(here) == state(there) == state(ServiceFacade(one, clock=clock))
        here.finish_deletions()
        assert all(each.done for each in here.deletions())


def ask_for_lists(service: ServiceFacade, lists: int) -> list[RankResponse]:
    """Others ask, before anything was learned anew."""
    rng = np.random.default_rng(7)
    return [
        service.rank(
            [
                Candidate(f"d{i}", {f"f{j}": float(v) for j, v in enumerate(row)})
                for i, row in enumerate(rows)
            ],
            ranker="shop",
            client_id=f"late-{number}",
        )
        for number, rows in enumerate(rng.normal(size=(lists, 5, 3)))
    ]


@pytest.mark.parametrize("forgotten", [False, True], ids=["snapshot", "no snapshot fits"])
def test_lists_of_a_log_that_is_being_learned_again_can_be_made_again(forgotten: bool, store: Store) -> None:
    """From the deletion on, no list is made by a model that knew the person, however long learning takes."""
    clock = Clock()
    service, follower = ServiceFacade(store, clock=clock), ServiceFacade(store, clock=clock, ids=Ids("f"))
    service.create("shop", RULES)
    live(service, clock, 20)
    service.flush("shop")
    once = Person(client_id="other-19")
    if forgotten:
        service.forget("shop", ["other-event-19"])
    live(service, clock, 12, start=20)
    follower.tick()
    knew = service.model("shop").version
    decision, _ = remove_people(store, [once], clock=clock.now, said={})
    assert decision is not None
    first = store.read_decisions("shop", kinds=("delete",))[0].body["first"]
    assert first <= knew
    for each in (service, follower):  # they hear of it, and have learned nothing anew
        each.ranker("shop").refresh()
        shown = ask_for_lists(each, 3)
        assert all(list_.provenance.model < first for list_ in shown)
        assert all(bool(list_.provenance.fallback) == forgotten for list_ in shown)
        assert all(service.replay(list_.query_id).identical for list_ in shown)
    service.tick()
    assert service.model("shop").version >= decision.seq - 1  # that of the ranker stands before it
    assert not ask_for_lists(service, 1)[0].provenance.fallback
    settle(store)
    assert list(verify(store, load_registry(), POLICIES)) == []


def test_every_list_around_a_deletion_beside_a_busy_learner_can_be_made_again(tmp_path: Path) -> None:
    clock = Clock()
    with SqliteStore(tmp_path / "log.db") as store:
        service = ServiceFacade(store, clock=clock, background=True)
        with service:
            service.create("shop", RULES)
            live(service, clock, 150)
            service.flush("shop")
            service.delete_people([OTTO])
            shown = ask_for_lists(service, 50)
        (deleted,) = store.read_decisions("shop", kinds=("delete",))
        assert all(not deleted.body["first"] <= each.provenance.model < deleted.seq for each in shown)
        assert list(verify(store, load_registry(), POLICIES)) == []


@pytest.mark.parametrize("kind", ["forget", "relearn", "rollback"])
def test_a_job_that_knew_a_person_when_they_were_deleted_is_begun_anew(
    kind: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are deleted, and unlearned, when the job has all but put into force what it has learned."""
    clock, store = Clock(), open_temporary_store()
    service = ServiceFacade(store, clock=clock)
    service.create("shop", RULES)
    live(service, clock, 18)
    ranker, (swap_in, prepare_rollback) = service.ranker("shop"), deleting(service, monkeypatch)
    bodies: dict[str, dict[str, Any]] = {
        "forget": {"events": ["otto-event-3", "other-event-4"]},
        "relearn": {"settings": structs.replace(RULES, policy=PairRank(prior_lists=1)).to_json()},
        "rollback": {"to": service.model("shop").version - 4},
    }
    number = ask(ranker, kind, bodies[kind])
    service.tick()
    assert service.find_person(OTTO).lists == 0
    monkeypatch.setattr(ranker, "swap_in", swap_in)
    monkeypatch.setattr(ranker, "prepare_rollback", prepare_rollback)
    service.tick()
    assert service.job(number).state == "done"
    assert state(service) == state(ServiceFacade(store, clock=clock))
    export_log(store, tmp_path / "after.jsonl")
    assert "otto" not in (tmp_path / "after.jsonl").read_text()


def deleting(service: ServiceFacade, monkeypatch: pytest.MonkeyPatch) -> list[Callable[..., Any]]:
    """Have Otto deleted just before a job hands over what it has learned; how it does so as a rule."""
    ranker, usual = service.ranker("shop"), list[Callable[..., Any]]()

    def handed_over(then: Callable[..., Any], *parts: Any) -> Any:
        service.delete_people([OTTO])
        return then(*parts)

    for name in ("swap_in", "prepare_rollback"):
        usual.append(getattr(ranker, name))
        monkeypatch.setattr(ranker, name, partial(handed_over, usual[-1]))
    return usual


def test_what_would_name_the_person_or_names_nobody_is_refused() -> None:
    service = ServiceFacade(open_temporary_store())
    with pytest.raises(RequestError, match="would stay in the log"):
        service.delete_people([OTTO], reason="client-of-otto wrote to us")
    for nobody in ([], [Person()]):
        with pytest.raises(RequestError, match=r"people in one call|found none of them"):
            service.delete_people(nobody)
    assert not service.store.read_decisions(SERVICE)


def test_reasons_keys_and_groups_keep_no_id_of_a_deleted_person(store: Store, tmp_path: Path) -> None:
    """What others wrote stays, without the id; a group that only this person's lists had is forgotten."""
    clock = Clock()
    service = ServiceFacade(store, clock=clock)
    service.create("shop", RULES, reason="client-of-otto complained; client-of-otto-2 did not")
    his = live(service, clock, 12)
    shown = service.rank(
        [Candidate("own", {"f0": 1.0}, group="seller-otto"), Candidate("d1", {"f0": 2.0}, group="g0")],
        ranker="shop",
        client_id=OTTO.client_id,
    )
    service.forget(
        "shop", ["other-event-1", "otto-event-3"], key="ticket of client-of-otto", reason="a robot"
    )
    clock.now += 100.0
    service.tick()
    assert "seller-otto" in {each.name for each in store.read_totals("shop")}
    assert service.delete_people([OTTO]).done
    assert {each.name for each in store.read_totals("shop")} == {"g0", "g1"}
    whys = [each.why for each in service.decided()]
    assert "(removed) complained; client-of-otto-2 did not" in whys
    assert "a robot" in whys
    export_log(store, tmp_path / "after.jsonl")
    text = (tmp_path / "after.jsonl").read_text().replace("client-of-otto-2", "")
    for said in (*his, shown.query_id, OTTO.client_id, "seller-otto"):
        assert said not in text


def test_of_several_processes_the_one_that_knows_what_to_search_for_finishes_a_deletion(store: Store) -> None:
    """The one that leads takes its turn later: the other may have been killed."""
    clock = Clock()
    live_service = ServiceFacade(store, clock=clock)
    live_service.create("shop", RULES)
    live(live_service, clock, 12)
    follows, leads = (Deletions(store, clock, alone=False) for _ in range(2))
    decision = follows.delete([OTTO], {})
    assert decision is not None
    assert leads.find_due(leads=True) == []
    assert [each.seq for each in follows.find_due(leads=False)] == [decision.seq]
    clock.now += OTHERS_TURN + 1.0
    (due,) = leads.find_due(leads=True)
    leads.finish([due])
    assert follows.report(due).done
    assert follows.find_due(leads=True) == []
