"""The doctor finds what people get wrong, says why, and what to do: on the page and at the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rankloop.candidate import Candidate
from rankloop.cli import app
from rankloop.service import UserEvent
from rankloop.service.core.finding import Finding
from rankloop.service.http.routes.health_routes import diagnose
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import SqliteStore, Store, StoreError, open_temporary_store
from tests.support.looking import signed_in, watched

MUGS = [Candidate("a"), Candidate("b"), Candidate("c")]


def shop(visits: int = 60, store: Store | None = None) -> ServiceFacade:
    """Visitors who click on every second list."""
    service = ServiceFacade(store or open_temporary_store())
    service.create("shop")
    for number in range(visits):
        shown = service.rank(MUGS, ranker="shop", session_id=f"s{number}", client_id=f"c{number}")
        clicked = UserEvent(shown.query_id, shown.object_ids[0], ordinal=1, client_id=f"c{number}")
        service.record([clicked] if number % 2 else [])
    return service


def found(service: ServiceFacade) -> dict[str, Finding]:
    return {each.code: each for each in diagnose(service, 60).causes}


def test_nothing_is_found_where_nothing_is_wrong() -> None:
    assert found(shop()) == {}


def test_actions_without_a_weight_are_named_with_the_command_that_gives_them_one() -> None:
    service = shop()
    shown = service.rank(MUGS, ranker="shop", session_id="s")
    service.record(
        [UserEvent(shown.query_id, "a", action="purchase"), UserEvent(shown.query_id, "b", "zoom")]
    )
    finding = found(service)["ignored-actions"]
    assert "'purchase' (1), 'zoom' (1)" in finding.sentence
    patch = json.loads(finding.fix.split("'")[1])
    assert patch == {"actions": {"click": 1.0, "purchase": 1.0, "zoom": 1.0}}
    service.configure("shop", service.patched("shop", patch))  # the fix is one
    shown = service.rank(MUGS, ranker="shop", session_id="t")
    assert service.record([UserEvent(shown.query_id, "a", action="purchase")])[0].verdict == "accepted"


def test_a_quarter_of_the_clicks_by_one_client_is_found_and_less_is_not() -> None:
    service = shop()  # 30 clicks
    for number in range(9):
        shown = service.rank(MUGS, ranker="shop", session_id=f"r{number}")
        service.record([UserEvent(shown.query_id, "a", client_id="robot")])
    assert "one-client" not in found(service)  # 9 of 39
    shown = service.rank(MUGS, ranker="shop", session_id="r")
    service.record([UserEvent(shown.query_id, "a", client_id="robot")])
    finding = found(service)["one-client"]
    assert "'robot' sent 10 of the last 40 events" in finding.sentence
    assert '"client_id": "robot"' in finding.fix


def test_requests_that_are_no_visits_are_told_from_bad_luck() -> None:
    service = shop()
    for _ in range(19):
        service.rank(MUGS, ranker="shop", session_id="monitor")
    assert found(service) == {}  # too few to tell
    for _ in range(11):
        service.rank(MUGS, ranker="shop", session_id="monitor")
    finding = found(service)["no-visits"]
    assert "'monitor' asked for 30 of the last 90 lists" in finding.sentence
    assert "/v1/ready" in finding.fix
    for _ in range(91):
        service.rank(MUGS, ranker="shop")
    assert "91 of the last 181 lists" in found(service)["no-session"].sentence


def test_positions_from_zero_are_a_hint_and_lost_query_ids_are_serious_first_of_all() -> None:
    service = shop(0)
    for number in range(30):
        shown = service.rank(MUGS, ranker="shop", session_id=f"s{number}")
        service.record([UserEvent(shown.query_id, shown.object_ids[1], ordinal=1, client_id=f"c{number}")])
        service.record([UserEvent("made up", "a")] if number % 10 == 0 else [])
    causes = diagnose(service, 60).causes
    assert [(each.code, each.level) for each in causes] == [("orphans", "serious"), ("zero-based", "hint")]
    assert causes[1].fix == '"position": {"ordinal": index + 1}'
    assert diagnose(service, 60).findings == tuple(each.sentence for each in causes)


@pytest.mark.parametrize(
    ("wrong", "strict", "code"), [(0, True, 0), (1, False, 0), (1, True, 1), (2, False, 1)]
)
def test_the_command_fails_on_what_is_serious_and_prints_the_fix(wrong: int, strict: bool, code: int) -> None:
    service = shop()
    for number in range(20 if wrong else 0):
        shown = service.rank(MUGS, ranker="shop", session_id=f"z{number}")
        service.record([UserEvent(shown.query_id, "a", client_id="robot")])
    service.record(
        [UserEvent("made up", "a", event_id=str(number)) for number in range(9 if wrong > 1 else 0)]
    )
    with watched(service) as live:
        asked = ["doctor", "--url", live.url, "--key", live.keys["admin"], *(["--strict"] if strict else [])]
        told = CliRunner().invoke(app, asked)
        page = signed_in(live).get("/doctor").text
    assert told.exit_code == code, told.output
    assert ("nothing to worry about" in told.output) == (wrong == 0)
    assert ("data-rankloop-query" in told.output) == (wrong > 1)
    assert ("data-rankloop-query" in page) == (wrong > 1)
    assert ('class="badge dot open"' in page) == (wrong > 0)


def test_a_folder_has_the_same_findings_as_its_service_and_not_a_byte_of_it_changes(tmp_path: Path) -> None:
    asked = ["doctor", "--json", "--data-dir", str(tmp_path)]
    with SqliteStore(tmp_path / "log.db") as store:
        service = shop(store=store)
        shown = service.rank(MUGS, ranker="shop", session_id="s")
        service.record([UserEvent(shown.query_id, "a", action="purchase"), UserEvent("made up", "a")])
        expected = [each.sentence for each in diagnose(service, 60).causes]
        beside = CliRunner().invoke(app, asked)  # while it is open
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    told = CliRunner().invoke(app, asked)
    assert [each["sentence"] for each in json.loads(told.output)] == expected != []
    assert beside.output == told.output
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    nowhere = CliRunner().invoke(app, ["doctor", "--data-dir", str(tmp_path / "none")])
    assert nowhere.exit_code != 0
    assert not (tmp_path / "none").exists()


def test_a_log_that_is_only_read_refuses_to_be_written(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "log.db") as store:
        shop(2, store)
    with SqliteStore(tmp_path / "log.db", read_only=True) as store:
        assert store.list_rankers() == ["shop"]
        with pytest.raises(StoreError, match="readonly"):
            ServiceFacade(store).create("another")
