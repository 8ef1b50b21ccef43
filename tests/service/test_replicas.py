"""Replicas on one database: one learns and all know it; cut off, they rank, keep nothing back, and heal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import pytest

from rankloop.candidate import Candidate
from rankloop.service import RankerSettings, RankResponse, UserEvent
from rankloop.service.core import ranker as ranker_module
from rankloop.service.operations.data_directory import DataDirectory
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import ConnectionLost, StoreError, open_temporary_store
from rankloop.service.store.postgres import PostgresStore
from tests.support.life import SHORT, Clock, live, make, same, state
from tests.support.limits import keep_snapshots_every
from tests.support.postgres import Cluster
from tests.support.proxy import Proxy
from tests.support.waiting import wait_until

frequent_snapshots = keep_snapshots_every(3)

QUICK = RankerSettings(window=0.2)


@contextmanager
def replica(url: str, folder: Path) -> Iterator[ServiceFacade]:
    """One replica, as `rankloop serve` puts it together."""
    with (
        DataDirectory(folder, url).join() as log,
        ServiceFacade(log.store, clock=log.clock, election=log.election, background=True) as service,
    ):
        log.listen(partial(service.learn, ()))
        service.create("shop", QUICK)
        yield service


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as opened:
        yield opened


def shown_by(service: ServiceFacade) -> RankResponse:
    candidates = [Candidate(f"d{number}", {"price": number, "age": 3 - number}) for number in range(4)]
    shown = service.rank(candidates, ranker="shop")
    assert shown.provenance.fallback is None
    return shown


def click(service: ServiceFacade, shown: RankResponse) -> str:
    return service.record([UserEvent(shown.query_id, shown.object_ids[-1])])[0].verdict


def clicked(one: ServiceFacade, other: ServiceFacade) -> RankResponse:
    """A list by one, clicked at the other in time; if a busy machine takes too long, the next one."""
    for _ in range(100):
        shown = shown_by(one)
        verdict = click(other, shown)
        if verdict != "late":
            break
    assert verdict == "accepted"
    return shown


def version(service: ServiceFacade) -> int:
    return service.model("shop").version


def learner_of(services: list[ServiceFacade]) -> ServiceFacade:
    wait_until(lambda: any(each.ranker("shop").leads for each in services))
    (found,) = [each for each in services if each.ranker("shop").leads]
    return found


def test_one_learns_all_follow_and_another_takes_over(
    postgres: Cluster, tmp_path: Path, stack: ExitStack
) -> None:
    url = postgres.url()
    opened = [
        (own := stack.enter_context(ExitStack()), own.enter_context(replica(url, tmp_path))) for _ in "12"
    ]
    services = [service for _, service in opened]
    learner = learner_of(services)
    (follower,) = [each for each in services if each is not learner]
    for turn in range(4):  # a click goes to the other one, at once: its list may be on the way
        one, other = services[turn % 2], services[(turn + 1) % 2]
        clicked(one, other)
    wait_until(lambda: learner.model("shop").lists == follower.model("shop").lists == 4)
    assert version(learner) == version(follower)
    assert same(state(learner), state(follower))
    shown = shown_by(learner)
    wait_until(lambda: follower.store.find_impression(shown.query_id))
    assert follower.replay(shown.query_id).identical
    next(own for own, each in opened if each is learner).close()
    wait_until(lambda: follower.ranker("shop").leads)
    clicked(follower, follower)
    wait_until(lambda: follower.model("shop").lists == 5)  # it is the one who tells the time now


def test_a_replica_that_is_cut_off_ranks_says_so_and_heals(
    postgres: Cluster, tmp_path: Path, stack: ExitStack
) -> None:
    url = postgres.url()
    proxy = Proxy(postgres.port)
    stack.callback(proxy.close)
    service = stack.enter_context(replica(url.replace(f":{postgres.port}/", f":{proxy.port}/"), tmp_path))
    before = clicked(service, service)
    wait_until(lambda: service.model("shop").lists == 1)
    held_up = shown_by(service)  # not written yet
    proxy.drop()
    assert held_up.provenance.unlogged is None
    wait_until(service.store.describe_outage)
    assert isinstance(service.store, PostgresStore)
    for _ in range(20):
        shown = shown_by(service)  # by the model it has
        assert "cannot be reached" in (shown.provenance.unlogged or "")
        assert shown.provenance.model == version(service) > 0
        with pytest.raises(StoreError):
            click(service, before)
    assert service.store.committer.waiting() <= 1  # nothing is queued but a try now and then
    proxy.mend()
    wait_until(lambda: not service.store.describe_outage())
    assert shown_by(service).provenance.unlogged is None
    assert click(service, held_up) in ("accepted", "late")  # it was kept, and written first
    with pytest.raises(Exception, match="no list is kept"):
        service.audit(shown.query_id)  # it said so


def test_a_learner_that_stands_still_keeps_nobody_from_learning(
    postgres: Cluster, tmp_path: Path, stack: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its connections are open and its locks are held: nobody can tell that it is gone."""
    monkeypatch.setattr(ranker_module, "OVERDUE", 0.5)
    url = postgres.url()
    proxy = Proxy(postgres.port)
    stack.callback(proxy.close)
    behind = stack.enter_context(replica(url.replace(f":{postgres.port}/", f":{proxy.port}/"), tmp_path))
    wait_until(lambda: behind.ranker("shop").leads)
    other = stack.enter_context(replica(url, tmp_path))
    proxy.stall()
    assert not other.ranker("shop").leads
    clicked(other, other)
    wait_until(lambda: other.model("shop").lists == 1)
    wait_until(lambda: not behind.ranker("shop").leads)  # it cannot know, so it does not claim to
    proxy.mend()
    wait_until(lambda: version(behind) == version(other))
    assert same(state(behind), state(other))


def test_who_missed_what_was_discarded_begins_with_what_is_kept() -> None:
    store, clock = open_temporary_store(), Clock()
    writer = make(store, clock)
    writer.create("shop", SHORT)
    sleeper = make(store, clock, prefix="other")
    live(writer, clock, rounds=60)
    assert writer.retain("shop", since=clock.now - 300).entries > 0
    for each in (sleeper, sleeper, writer):
        each.tick()
    assert version(sleeper) == version(writer)
    assert same(state(sleeper), state(writer))


def test_ids_are_not_looked_up_while_nobody_can_say(postgres: Cluster, tmp_path: Path) -> None:
    """A list under an id of the caller's own is made all the same."""
    proxy = Proxy(postgres.port)
    url = postgres.url().replace(f":{postgres.port}/", f":{proxy.port}/")
    with replica(url, tmp_path) as service:
        candidates = [Candidate("a", {"price": 1.0}), Candidate("b", {"price": 2.0})]
        service.rank(candidates, ranker="shop", query_id="mine")
        proxy.drop()
        wait_until(service.store.describe_outage)
        assert service.rank(candidates, ranker="shop", query_id="another").provenance.unlogged
        with pytest.raises(ConnectionLost):
            service.store.submit(lambda transaction: None).result()
        proxy.mend()
        wait_until(lambda: not service.store.describe_outage())
    proxy.close()
