"""The front door: a service at an address, in a file, a database or a temporary file, and its objects."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

import rankloop
from rankloop import Candidate, RankerSettings, RankingService, UserEvent
from rankloop.errors import DataError, RequestError, SettingError
from rankloop.policies import PDGD, Random
from rankloop.service import ImportedList, RankRequest, TrialSettings, columns
from rankloop.service.events.event_selection import EventSelection
from rankloop.service.reports.report_registry import REPORTS, Reports
from rankloop.service.store import Person, SqliteStore, Store, StoreError
from tests.support.life import Clock, Ids
from tests.support.own_policies import Remembering
from tests.support.postgres import Cluster

MUGS = [Candidate("red", {"price": 9.0}), Candidate("blue", {"price": 12.0})]
PUBLIC = """
Query Ranking Feedback Context Policy PairRank PePairRank OlRankNet OlLambdaRank P2NeurRank PDGD RankNet
EpsilonGreedy DBGD MGD NSGD FairExpPairRank Random read_policy write_policy check_policy RankloopError
Candidate UserEvent Client RankingService RankerSettings
"""


@pytest.fixture(params=["file", "database", "temporary", "store"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str | Path | Store | None:
    """Where the log of a service can be."""
    if request.param == "database":
        cluster: Cluster = request.getfixturevalue("postgres")
        return cluster.url()
    path = tmp_path / "shop.db"
    if request.param == "store":
        return SqliteStore(path)
    return str(path) if request.param == "file" else None


def test_the_first_example_runs_wherever_the_log_is(where: str | Path | Store | None) -> None:
    service = RankingService(where)
    service.rankers.create("shop")
    shown = service.lists.rank([Candidate("red"), Candidate("blue")], ranker="shop", user_query="mug")
    (receipt,) = service.events.record([UserEvent(shown.query_id, "red")])
    service.rankers.flush("shop")
    why = service.reports.read("explanation", query_id=shown.query_id, upper="red", lower="blue")
    assert receipt.verdict == "accepted"
    assert {why.above, why.below} == {"red", "blue"}
    assert service.reports.read("learned", ranker="shop").lists == 1
    assert service.lists.replay(shown.query_id).identical
    service.close()


def test_the_first_example_goes_on_where_it_was_closed(tmp_path: Path, postgres: Cluster) -> None:
    for where in (tmp_path / "shop.db", postgres.url()):
        with RankingService(where) as service:
            service.rankers.create("shop")
            shown = service.lists.rank(MUGS, ranker="shop")
        with RankingService(where) as service:
            assert list(service.rankers.names()) == ["shop"]
            assert service.lists.replay(shown.query_id).identical


def test_a_service_closes_the_store_that_it_opened_and_no_other(tmp_path: Path) -> None:
    with RankingService(tmp_path / "own.db") as own:
        pass
    with pytest.raises(StoreError, match="closed"):
        own.store.list_rankers()
    with SqliteStore(tmp_path / "given.db") as store:
        with RankingService(store) as service:
            service.rankers.create("shop")
        assert list(store.list_rankers()) == ["shop"]


def test_a_temporary_file_is_deleted_when_the_service_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with RankingService() as service:
        service.rankers.create("shop")
        assert list(tmp_path.glob("rankloop-*/log.db"))
    assert not list(tmp_path.iterdir())


def test_a_store_is_closed_if_there_is_no_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(DataError):
        RankingService(recommenders={"shop": tmp_path / "nowhere.npz"})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("where", ["", "mysql://localhost/shop", "sqlite:///shop.db"])
def test_an_address_of_another_kind_is_refused(where: str) -> None:
    with pytest.raises(SettingError, match=r"expected the path of a file or postgresql://"):
        RankingService(where)


def test_an_address_is_refused_without_its_password() -> None:
    with pytest.raises(SettingError) as refused:
        RankingService("mysql://anna:s3cret@localhost/shop")
    assert "s3cret" not in str(refused.value)


def test_the_package_offers_these_names_and_no_store() -> None:
    assert set(rankloop.__all__) == set(PUBLIC.split())
    assert all(hasattr(rankloop, name) for name in rankloop.__all__)


def lived(lists: int = 10) -> RankingService:
    """A service whose ranker has learned from some lists."""
    service = RankingService(clock=(clock := Clock()), ids=Ids())
    service.rankers.create("shop", RankerSettings(policy=Random(), window=10.0))
    for number in range(lists):
        shown = service.lists.rank(MUGS, ranker="shop", session_id=f"s{number}", client_id=f"c{number}")
        service.events.record([UserEvent(shown.query_id, "red", client_id=f"c{number}")])
        clock.now += 20.0
    service.tick()
    return service


def test_every_report_is_read_by_its_name_and_told_of() -> None:
    given = {"ranker": "shop", "query_id": "q1", "upper": "red", "lower": "blue", "other": "plain"}
    with lived(lists=100) as service:
        service.rankers.create("plain")
        for name, compute in REPORTS.items():
            wanted = {*inspect.signature(compute).parameters} - {"facade", "version", "days"}
            wanted |= {"other"} if name == "evaluation" else set()
            found = service.reports.read(name, **{each: given[each] for each in wanted & {*given}})
            assert found is not None, name
            assert f"- `{name}` (" in (Reports.read.__doc__ or "")


def test_a_report_that_does_not_exist_is_refused_with_the_nearest_name() -> None:
    with RankingService() as service, pytest.raises(RequestError, match=r"'explain'.*explanation"):
        service.reports.read("explain")


def test_rankers_are_described_configured_and_learned_again() -> None:
    with lived() as service:
        before = service.rankers.describe("shop")
        changed = service.rankers.merge_settings("shop", {"window": 60})
        assert [each.name for each in service.rankers.preview("shop", changed).changes] == ["window"]
        version = service.rankers.configure("shop", changed, version=before.settings_version)
        service.rankers.set_mode("shop", "exploit", by="anna", reason="enough tried")
        now = service.rankers.describe("shop")
        assert (now.settings.window, now.settings_version, now.mode) == (60.0, version, "exploit")
        assert service.reports.read("decisions", ranker="shop", last=1)[0].who == "anna"
        done = service.jobs.relearn("shop", RankerSettings(policy=PDGD()))
        assert (done.state, service.rankers.describe("shop").policy) == ("done", "PDGD()")


def test_jobs_forget_roll_back_and_retire() -> None:
    with lived() as service:
        events = service.events.select("shop", EventSelection(client_id="c3"))
        assert len(events) == 1
        good = service.reports.read("learned", ranker="shop").version
        assert service.jobs.forget("shop", events).done
        assert service.reports.read("learned", ranker="shop").lists == 9
        assert service.jobs.roll_back("shop", to=good).done
        assert service.jobs.retire_features("shop", ["price"]).done
        assert service.rankers.describe("shop").features == ()
        newest = service.jobs.list()[0]
        assert service.jobs.get(newest.id) == newest
        with pytest.raises(RequestError, match="cannot be cancelled: it is done"):
            service.jobs.cancel(newest.id)


def test_people_and_what_is_old_are_deleted() -> None:
    with lived() as service:
        assert service.people.find(Person(client_id="c3")).lists == 1
        assert service.people.delete([Person(client_id="c3")], reason="asked for").done
        assert [each.lists for each in service.people.deletions()] == [1]
        assert len(service.lists.find("shop")) == 9
        assert service.retention.discard_before("shop", 1e9).entries > 0
        assert service.retention.shrink("shop", 1.0).entries == 0
        service.events.record([UserEvent("nobody-knows", "red")])
        assert service.events.discard_unmatched() == 1
        past = RankRequest(ranker="shop", candidates=columns(MUGS), query_id="old")
        assert service.events.import_lists("shop", [ImportedList(past, (UserEvent("old", "blue"),))])[0] == 1


def test_a_trial_is_started_and_stopped() -> None:
    with lived() as service:
        number = service.trials.start("shop", TrialSettings(share=0.5))
        service.trials.stop("shop", number, reason="enough is known")
        assert [(each.trial, each.runs) for each in service.trials.list("shop")] == [(number, False)]


def test_a_policy_of_ones_own_is_served() -> None:
    with RankingService(policies=[Remembering]) as service:
        service.rankers.create("shop", RankerSettings(policy=Remembering()))
        shown = service.lists.rank(MUGS, ranker="shop")
        assert (shown.provenance.policy, shown.fallback) == ("Remembering", None)


def test_keys_are_those_of_the_store() -> None:
    with RankingService() as service:
        secret = service.keys.create("front", "rank")
        found = service.keys.find(secret)
        assert found is not None
        assert found.name == "front"
