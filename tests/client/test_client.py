"""The client always has a list, loses no click, and passes on what it is told."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from rankloop.candidate import Candidate
from rankloop.client import Client, ClientError
from rankloop.errors import SettingError
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import open_temporary_store
from tests.support.serving import Live, alive

ITEMS = [Candidate("a", {"x": 1.0}), Candidate("b", {"x": 2.0}), Candidate("c", {"x": None}, group="shoes")]


@pytest.fixture
def live() -> Iterator[Live]:
    service = ServiceFacade(open_temporary_store())
    service.create("default")
    with alive(service) as found:
        yield found


@pytest.fixture
def client(live: Live) -> Iterator[Client]:
    with Client(live.url, live.keys["admin"], timeout=30) as found:
        yield found


def test_rank_click_explain(client: Client, live: Live) -> None:
    shown = client.rank(ITEMS, user_query="mugs", session_id="s", client_id="c")
    assert sorted(shown.object_ids) == ["a", "b", "c"]
    assert shown.fallback is None
    assert client.click(shown, "b", timestamp="2026-01-01T00:00:00Z") == "accepted"
    assert client.click(shown, "z") == "not_shown"
    assert "above" in client.explain(shown.query_id, "a", "b")["sentence"]
    assert client.audit(shown.query_id)["user_query"] == "mugs"
    assert client.replay(shown.query_id)["identical"] is True
    event = client.audit(shown.query_id)["events"][0]
    assert event["ordinal"] == list(shown.object_ids).index("b") + 1


def test_every_other_question(client: Client, live: Live) -> None:
    shown = client.rank(ITEMS)
    client.click(shown, "b")
    live.context.service.flush("default")
    versions = client.models()
    assert versions["lists"] == 1
    event = client.audit(shown.query_id)["events"][0]["event_id"]
    assert client.wait(client.forget([event]))["version"] > versions["version"]
    with pytest.raises(ClientError, match="found both"):
        client.forget([event], client_id="c1")
    with pytest.raises(ClientError, match="no event of 'default' that counts"):
        client.forget(session_id="nobody", until=1.0)
    assert client.wait(client.rollback(to=versions["version"]))["version"] > versions["version"]
    assert client.set_mode("frozen", reason="sale") == client.rankers()["default"]["mode"] == "frozen"
    assert client.change({"window": 5}, relearn=True) > 0
    assert client.settings()["window"] == 5
    client.create("shop", {"window": 7})
    assert set(client.rankers()) == {"default", "shop"}
    assert client.overview()["total"]["lists"] == 1
    assert client.doctor()["join_rate"] == 1.0
    assert client.health()["ok"] is True


def test_what_the_service_refuses_is_said_in_its_words(client: Client, live: Live) -> None:
    with pytest.raises(ClientError, match="no ranker is called 'nope'") as refused:
        client.rank(ITEMS, ranker="nope")
    assert refused.value.status == 400
    with (
        Client(live.url, live.keys["rank"], timeout=60) as other,
        pytest.raises(ClientError, match="admin key") as refused,
    ):
        other.models()
    assert refused.value.status == 403
    with pytest.raises(ClientError, match="leave missing features out"):
        client.rank([Candidate("a", {"x": float("nan")})])
    with pytest.raises(SettingError, match="expected an address"):
        Client("127.0.0.1:8000", "key")


def test_without_a_service_the_list_is_your_own_and_its_clicks_stay_here() -> None:
    client = Client("http://127.0.0.1:9", "key", retries=0)
    shown = client.rank([*ITEMS, Candidate("d", pinned_at=1)], k=3)
    assert shown.object_ids == ["d", "a", "b"]
    assert shown.query_id == ""
    assert "does not answer" in (shown.fallback or "")
    assert client.click(shown, "a") == "unsent"
    with pytest.raises(ClientError, match="does not answer"):
        client.events([])


def test_a_service_that_hangs_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        client = Client(f"http://127.0.0.1:{silent.getsockname()[1]}", "key", timeout=0.1, retries=0)
        assert client.rank(ITEMS).object_ids == ["a", "b", "c"]
        client.close()


class Moody(BaseHTTPRequestHandler):
    """Answers every second time."""

    seen: list[bytes] = []  # noqa: RUF012

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.seen.append(body)
        good = len(self.seen) % 2 == 0
        answer = b'{"receipts": [{"verdict": "accepted"}]}' if good else b'{"error": "not now"}'
        self.send_response(200 if good else 503)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        pass


def test_what_was_not_acknowledged_is_sent_again_with_the_same_id() -> None:
    with HTTPServer(("127.0.0.1", 0), Moody) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        client = Client(f"http://127.0.0.1:{server.server_port}", "key", timeout=30)
        assert client.events([{"event_id": "e1"}]) == [{"verdict": "accepted"}]
        assert Moody.seen == [b'{"events": [{"event_id": "e1"}]}'] * 2
        client.close()
        server.shutdown()
        thread.join()


def test_a_connection_that_the_server_has_ended_is_made_anew() -> None:
    service = ServiceFacade(open_temporary_store())
    service.create("default")
    with alive(service) as first:
        client = Client(first.url, first.keys["rank"], timeout=30)
        assert client.rank(ITEMS).fallback is None
        client._transport._local.connection.sock.shutdown(socket.SHUT_RDWR)
        time.sleep(0.05)
        assert client.rank(ITEMS).fallback is None
        client.close()
