"""A decision is undone by another one that restores what was in force before, or it is said why not."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from html import unescape

import pytest

from rankloop.candidate import Candidate
from rankloop.errors import RequestError
from rankloop.policies import PDGD
from rankloop.service import RankerSettings, UserEvent
from rankloop.service.service_errors import ConflictError
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import Person, open_temporary_store
from tests.support.limits import keep_snapshots_every
from tests.support.looking import signed_in, token, watched

frequent_snapshots = keep_snapshots_every(1)

MUGS = [Candidate(name, {"price": float(n), "new": n % 2}) for n, name in enumerate("abcd")]


def visit(service: ServiceFacade, number: int) -> str:
    shown = service.rank(MUGS, ranker="shop", session_id=f"s{number}", client_id="anna")
    service.record([UserEvent(shown.query_id, "c", event_id=f"e{number}")])
    service.flush("shop")
    return shown.query_id


@pytest.fixture
def service() -> ServiceFacade:
    made = ServiceFacade(open_temporary_store())
    made.create("shop", RankerSettings(), by="anna")
    for number in range(6):
        visit(made, number)
    return made


def last(service: ServiceFacade) -> int:
    return service.decided(last=1)[0].seq


def take_back(service: ServiceFacade) -> None:
    seen = service.undo_preview(last(service))
    assert seen.possible, seen.sentences
    service.undo(seen.seq, confirm=seen.confirm, reason="it was a mistake", by="otto")


def test_modes_and_settings_are_as_they_were_and_the_undo_is_a_decision_that_can_be_undone(
    service: ServiceFacade,
) -> None:
    before = service.settings("shop").to_json()
    service.set_mode("shop", "frozen", by="anna")
    take_back(service)
    assert service.mode("shop") == "explore"
    newest = service.decided(last=1)[0]
    assert (newest.who, newest.what) == ("otto", "mode explore")
    assert "undoes decision" in newest.why
    assert "it was a mistake" in newest.why
    take_back(service)
    assert service.mode("shop") == "frozen"
    service.configure("shop", service.patched("shop", {"window": 60, "learn_late": True}))
    seen = service.undo_preview(last(service))
    assert {(each.name, each.before, each.after) for each in seen.changes} == {
        ("window", 60, 600.0),
        ("learn_late", True, False),
    }
    take_back(service)
    assert service.settings("shop").to_json() == before


def test_a_rollback_is_undone_to_the_bit(service: ServiceFacade) -> None:
    knew = service.model("shop").policy.state()
    service.rollback("shop", to=service.versions("shop")[1][0])
    assert service.model("shop").lists < 6
    take_back(service)
    again = service.model("shop").policy.state()
    assert {name: value.tobytes() for name, value in again.items()} == {
        name: value.tobytes() for name, value in knew.items()
    }


def test_an_undo_says_what_would_be_lost_and_is_refused_when_things_have_changed(
    service: ServiceFacade,
) -> None:
    service.configure("shop", RankerSettings(policy=PDGD()))
    visit(service, 7)
    changed = last(service)
    seen = service.undo_preview(changed)
    assert any("learned from 1 lists would be dropped" in each for each in seen.sentences)
    service.set_mode("shop", "exploit")
    with pytest.raises(ConflictError, match="send it again with confirm="):
        service.undo(changed, confirm=seen.confirm, reason="late")
    with pytest.raises(RequestError, match="needs a reason"):
        service.undo(changed, confirm=service.undo_preview(changed).confirm, reason=" ")
    assert service.settings("shop").policy.startswith("PDGD(")


def forget(service: ServiceFacade) -> None:
    service.forget("shop", ["e1"])


def delete(service: ServiceFacade) -> None:
    service.delete_people([Person(client_id="anna")])


def revoke(service: ServiceFacade) -> None:
    service.keys.create("emil", "rank")
    service.keys.revoke("emil")


def twice(service: ServiceFacade) -> None:
    service.set_mode("shop", "exploit")
    service.set_mode("shop", "frozen")


REFUSED: list[tuple[Callable[[ServiceFacade], object], str, str]] = [
    (forget, "forget", "as if they had never been"),
    (delete, "delete", "gone from the log"),
    (revoke, "key", "make another"),
    (twice, "mode", "changed again since"),
    (lambda service: None, "settings", "began with them"),
]


@pytest.mark.parametrize(("decide", "kind", "why"), REFUSED, ids=[kind for _, kind, _ in REFUSED])
def test_what_cannot_be_undone_says_why(
    service: ServiceFacade, decide: Callable[[ServiceFacade], object], kind: str, why: str
) -> None:
    decide(service)
    told = service.decided(kind=kind)
    decision = told[1 if decide is twice else 0].seq
    seen = service.undo_preview(decision)
    assert not seen.possible
    assert why in " ".join(seen.sentences)
    with pytest.raises(ConflictError, match="cannot be undone"):
        service.undo(decision, confirm=seen.confirm, reason="please")


def test_the_page_shows_the_difference_and_undoes_it_with_a_reason(service: ServiceFacade) -> None:
    service.configure("shop", service.patched("shop", {"window": 60}), by="anna", reason="shorter")
    with watched(service) as live:
        api = live["admin"].get(f"/v1/decisions/{last(service)}/undo").json()
        client, path = signed_in(live), f"/decisions/{api['seq']}/undo"
        assert f'href="{path}"' in client.get("/decisions").text
        page = client.get(path).text
        assert "<del>60</del>" in page
        assert unescape(api["sentences"][0]) in unescape(page)
        send = partial(client.post, "/decisions/undo")
        form = {"token": token(page), "decision": api["seq"], "confirm": api["confirm"], "reason": ""}
        assert send(data=form).status_code == 400
        assert send(data=form | {"token": "", "reason": "so"}).status_code == 403
        done = send(data=form | {"reason": "people are slow <b>"})
        assert done.status_code == 303
        after = client.get(done.headers["location"]).text
        assert "is undone" in after
        assert "people are slow &lt;b&gt;" in after
        refused = live["admin"].post(f"/v1{path}", json={"reason": "again"})
        assert refused.status_code == 409
    assert service.settings("shop").window == 600.0
