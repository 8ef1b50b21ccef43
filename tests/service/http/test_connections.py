"""Nothing before the key: slow, huge and keyless requests take neither memory nor the place of others."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest

from rankloop.service.http import HttpSettings
from rankloop.service.http.access_log import log_to_stderr
from rankloop.service.http.worker_pool import Once
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import open_temporary_store
from tests.support.serving import Live, alive, request

BODY = json.dumps(request()).encode()


@contextmanager
def bounded(**settings: Any) -> Iterator[Live]:
    service = ServiceFacade(open_temporary_store())
    service.create("default")
    with alive(service, HttpSettings(deadline=30.0, patience=60.0, **settings)) as live:
        yield live


class Caller:
    """A bare connection, from one of this machine's addresses."""

    def __init__(self, live: Live, source: str = "127.0.0.1") -> None:
        to = "127.0.0.1", int(urlsplit(live.url).port or 0)
        self.socket = socket.create_connection(to, timeout=30, source_address=(source, 0))

    def send(self, data: bytes) -> Caller:
        self.socket.sendall(data)
        return self

    def status(self) -> int:
        """Of the answer; its body is passed over. 0: the connection was closed without one."""
        found, length = b"", 0
        while b"\r\n\r\n" not in found or len(found.partition(b"\r\n\r\n")[2]) < length:
            try:
                more = self.socket.recv(65536)
            except ConnectionResetError:
                more = b""
            if not more:
                return 0
            found += more
            length = int(re.findall(rb"content-length: (\d+)", found.lower() + b"content-length: 0")[0])
        return int(found.split(b" ", 2)[1])

    def __enter__(self) -> Caller:
        return self

    def __exit__(self, *error: object) -> None:
        self.socket.close()


def head(path: str, *more: str, method: str = "POST", key: str = "") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: here", *more]
    lines += [f"Authorization: Bearer {key}"] if key else []
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def test_a_body_is_not_waited_for_before_the_key_and_its_length_were_looked_at() -> None:
    with bounded(max_body=100_000, page_body=2000) as live:
        cases = [
            ("/v1/rank", "", "Content-Length: 90000", 401),
            ("/v1/rank", "rl_rank_guessed", "Content-Length: 90000", 401),
            ("/v1/rank", live.keys["rank"], "Content-Length: 100001", 413),
            ("/v1/events", live.keys["page"], "Content-Length: 2001", 413),
            ("/v1/events", live.keys["page"], "Transfer-Encoding: chunked", 411),
            ("/login", "", "Content-Length: 90000", 413),
        ]
        for path, key, length, expected in cases:
            with Caller(live) as caller:  # which sends nothing of its body
                assert caller.send(head(path, length, key=key)).status() == expected, (path, length)
        with Caller(live) as caller:  # with the right key, and all of it
            wanted = head("/v1/rank", f"Content-Length: {len(BODY)}", key=live.keys["rank"])
            assert caller.send(wanted + BODY).status() == 200


@pytest.mark.parametrize("line", [b"X-Long: aaaa\r\n", b"a"])
def test_a_head_without_an_end_is_refused(line: bytes) -> None:
    with bounded(max_head=2000) as live, Caller(live) as caller:
        start = b"GET /v1/health HTTP/1.1\r\n" + (b"X: " if line == b"a" else b"")
        assert caller.send(start + line * (5000 // len(line))).status() == 431
        assert live.context.connections.closed["head"] == 1
        with Caller(live) as other:  # one that is complete, and as long
            whole = head("/v1/health", "X-Long: " + "a" * 3000, method="GET")
            assert other.send(whole).status() == 431


def test_what_does_not_come_is_not_waited_for_forever() -> None:
    with bounded(head_seconds=0.5, body_seconds=0.5) as live:
        half = head("/v1/rank", f"Content-Length: {len(BODY)}", key=live.keys["rank"]) + BODY[:20]
        for sent in (b"", b"\r\n", b"GET /v1/hea", half):
            with Caller(live) as caller:
                assert caller.send(sent).status() == 0, sent
        with Caller(live) as caller:  # and neither is what should come after an answer
            assert caller.send(head("/v1/health", method="GET")).status() == 200
            assert caller.send(b"\r\n").status() == 0
        assert live.context.connections.closed["slow"] == 5


def test_when_there_are_too_many_the_oldest_without_a_key_is_closed() -> None:
    with bounded(max_connections=6) as live, Caller(live) as known:
        asked = head("/metrics", method="GET", key=live.keys["rank"])
        assert known.send(asked).status() == 200
        idle = [Caller(live) for _ in range(10)]
        assert [each.status() for each in idle[:7]] == [0] * 7  # three without a key may stay
        assert live.context.connections.closed["evicted"] == 7
        assert known.send(asked).status() == 200
        for each in idle:
            each.__exit__()


def test_one_address_has_so_many_connections_and_no_more() -> None:
    with bounded(address_connections=2) as live:
        crowd = [Caller(live, "127.0.0.2") for _ in range(3)]
        assert crowd[2].status() == 0
        with Caller(live, "127.0.0.3") as other:
            assert other.send(head("/v1/health", method="GET")).status() == 200
        for each in crowd:
            each.__exit__()


def test_connections_of_your_own_servers_do_not_count_for_their_address() -> None:
    with bounded(address_connections=2) as live:
        asked = head("/metrics", method="GET", key=live.keys["rank"])
        pool = [Caller(live, "127.0.0.2")]
        for _ in range(5):
            assert pool[-1].send(asked).status() == 200
            pool.append(Caller(live, "127.0.0.2"))
        page = head("/v1/events", "Content-Length: 13", key=live.keys["page"]) + b'{"events":[]}'
        assert pool[0].send(page).status() == 200  # and one that a page has used counts again
        with Caller(live, "127.0.0.2") as crowd:
            assert crowd.status() == 0
        for each in pool:
            each.__exit__()


def test_a_flood_of_what_is_no_http_does_not_flood_the_log(capsys: pytest.CaptureFixture[str]) -> None:
    loggers = [logging.getLogger(name) for name in ("rankloop", "uvicorn")]
    before = [(each.handlers, each.propagate, each.level) for each in loggers]
    try:
        log_to_stderr(quiet=True)
        with bounded() as live:
            for _ in range(300):
                with Caller(live) as caller:
                    assert caller.send(b"no HTTP at all\r\n\r\n").status() == 400
    finally:
        for each, (handlers, propagate, level) in zip(loggers, before, strict=True):
            each.handlers, each.propagate = handlers, propagate
            each.setLevel(level)
    written = capsys.readouterr().err.count("Invalid HTTP request")
    assert 0 < written < 200  # fifty at once, and five a second


def test_what_takes_long_is_made_once_whoever_asks() -> None:
    made, go = list[int](), threading.Event()

    def make() -> int:
        go.wait(30)
        made.append(1)
        return len(made)

    async def ask(once: Once[int]) -> list[int]:
        asking = [asyncio.ensure_future(once.get()) for _ in range(6)]
        await asyncio.sleep(0)
        go.set()
        return await asyncio.gather(*asking)

    assert asyncio.run(ask(Once(make))) == [1] * 6
