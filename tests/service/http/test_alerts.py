"""Alerts: each finding once to the operator's address, again when it is over, whatever the address does."""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from rankloop.candidate import Candidate
from rankloop.errors import SettingError
from rankloop.service import UserEvent
from rankloop.service.core.finding import Finding
from rankloop.service.http.alerts import CALM, Alerts, AlertThread, Webhook
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import open_temporary_store

ROBOT = Finding(
    code="one-client", level="warning", sentence="a robot?", cause="why", fix="what", ranker="shop"
)
HINT = Finding(code="zero-based", level="hint", sentence="from 0")


class Receiver:
    """An address on this machine that notes what it is told."""

    def __init__(self) -> None:
        self.taken: list[dict[str, Any]] = []
        self.signatures: list[tuple[str, bytes]] = []
        self.refuse = 0  # so many requests, then it takes them
        self.came = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                data = self.rfile.read(int(self.headers["Content-Length"]))
                if outer.refuse:
                    outer.refuse -= 1
                    self.send_response(503)
                else:
                    outer.signatures.append((self.headers.get("X-Rankloop-Signature", ""), data))
                    outer.taken.append(json.loads(data))
                    self.send_response(204)
                self.end_headers()
                outer.came.set()

            def log_message(self, *args: object) -> None:
                """Nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/hook?token=s3cret"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def said(self) -> list[tuple[str, str]]:
        return [(each["state"], each["code"]) for each in self.taken]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.server.shutdown()
    made.server.server_close()


def test_a_finding_is_sent_once_and_again_when_it_has_been_over_for_a_while(receiver: Receiver) -> None:
    found: list[Finding] = [ROBOT, HINT]
    alerts = Alerts(Webhook(receiver.url, "key"), lambda: found, pause=lambda seconds: None)
    alerts.look()
    alerts.look()
    assert receiver.said == [("found", "one-client")]  # hints are for the page
    assert {name: receiver.taken[0][name] for name in ("finding", "cause", "fix", "ranker", "level")} == {
        "finding": "a robot?",
        "cause": "why",
        "fix": "what",
        "ranker": "shop",
        "level": "warning",
    }
    signature, body = receiver.signatures[0]
    assert signature == "sha256=" + hmac.new(b"key", body, hashlib.sha256).hexdigest()
    found.clear()
    for _ in range(CALM - 1):
        alerts.look()
    found.append(ROBOT)  # it only came and went
    alerts.look()
    assert len(receiver.taken) == 1
    found.clear()
    for _ in range(CALM + 2):
        alerts.look()
    assert receiver.said == [("found", "one-client"), ("over", "one-client")]


def test_tries_are_bounded_and_what_was_not_taken_is_told_later_without_a_token_in_the_log(
    receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    waits: list[float] = []
    alerts = Alerts(Webhook(receiver.url, "hidden"), lambda: [ROBOT], pause=waits.append)
    receiver.refuse = 4
    with caplog.at_level(logging.WARNING):
        alerts.look()  # three tries
        assert (receiver.taken, waits) == ([], [1.0, 5.0])
        alerts.look()  # the fourth is refused, the fifth is taken
    assert receiver.said == [("found", "one-client")]
    (line,) = caplog.records
    assert "127.0.0.1" in line.getMessage()
    assert "s3cret" not in caplog.text
    assert "hidden" not in caplog.text


def test_a_service_tells_of_what_its_doctor_finds_and_goes_on_if_nobody_listens(receiver: Receiver) -> None:
    service = ServiceFacade(open_temporary_store())
    service.create("shop")
    shown = service.rank([Candidate("a"), Candidate("b")], ranker="shop", session_id="s")
    service.record([UserEvent(shown.query_id, "a", action="purchase")])
    with AlertThread(service, Webhook(receiver.url), every=0.01):
        assert receiver.came.wait(30)
    assert receiver.taken[0]["code"] == "ignored-actions"
    assert "rankloop settings change" in receiver.taken[0]["fix"]
    deaf = AlertThread(service, Webhook("http://127.0.0.1:9/"), every=0.01)
    with deaf:
        assert service.rank([Candidate("a")], ranker="shop").object_ids == ["a"]


@pytest.mark.parametrize("url", ["alerts.example", "ftp://alerts.example", "file:///etc/passwd", "https://"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(SettingError, match="must begin with https"):
        Webhook(url)
