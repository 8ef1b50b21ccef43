"""Middleware: a site's search answers are reranked, clicks come back, and everything else is untouched."""

from __future__ import annotations

import gzip
import json
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs
from wsgiref.simple_server import WSGIRequestHandler, make_server

import httpx
import pytest
import uvicorn

from rankloop.candidate import Candidate
from rankloop.client import Client
from rankloop.connect import AsgiMiddleware, Reranker, WsgiMiddleware
from rankloop.connect.ranking import SearchService
from rankloop.service import RankerSettings, RankingService, UserEvent

MUGS = [
    {"sku": "blue", "price": 24, "url": "/mug/blue?size=1", "title": "Blåtass"},
    {"sku": "red", "price": 9, "url": "https://elsewhere.example/red"},
    {"sku": "none", "price": None, "url": "/mug/none"},
]
PLAIN = json.dumps({"data": {"items": MUGS}, "total": 3}, ensure_ascii=False).encode()
JSON = ("Content-Type", "application/json; charset=utf-8")
OPTIONS: dict[str, Any] = {"results": "data.items", "id": "sku", "features": ["price"], "link": "url"}
ANSWERS: dict[str, tuple[int, list[tuple[str, str]], list[bytes]]] = {
    "json": (200, [JSON, ("ETag", '"1"'), ("X-Own", "yes")], [PLAIN]),
    "pieces": (200, [JSON], [PLAIN[:10], b"", PLAIN[10:40], PLAIN[40:]]),
    "html": (200, [("Content-Type", "text/html")], [b"<p>", b"mugs"]),
    "gzip": (200, [JSON, ("Content-Encoding", "gzip")], [gzip.compress(PLAIN, mtime=0)]),
    "error": (500, [JSON], [PLAIN]),
    "broken": (200, [JSON], [b'{"data": {"items": [', b"oops"]),
    "empty": (200, [JSON], [b'{"data":  {"items": []}}']),
    "other": (200, [JSON], [b'{"data":  {"items": {"a": 1}}}']),
    "twice": (200, [JSON], [json.dumps({"data": {"items": [MUGS[0], MUGS[0]]}}).encode()]),
    "no-id": (200, [JSON], [b'{"data":  {"items": [{"price": 3}]}}']),
    "large": (200, [JSON], [b'{"data": {"items": [], "more": "', *[b"x" * 2**20] * 5, b'"}}']),
}


def chosen(query_string: str) -> tuple[int, list[tuple[str, str]], list[bytes]]:
    return ANSWERS[parse_qs(query_string)["kind"][0]]


async def asgi_site(scope: Any, receive: Any, send: Any) -> None:
    status, headers, parts = chosen(scope["query_string"].decode())
    raw = [(name.encode(), value.encode()) for name, value in headers]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    for part in parts if scope["method"] != "HEAD" else []:
        await send({"type": "http.response.body", "body": part, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


def wsgi_site(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    status, headers, parts = chosen(environ["QUERY_STRING"])
    start_response(f"{status} Said", list(headers))  # a WSGI server adds its own to what it is given
    yield from parts if environ["REQUEST_METHOD"] != "HEAD" else []


@contextmanager
def over_asgi(app: Any) -> Iterator[str]:
    config = uvicorn.Config(app, port=0, lifespan="off", log_config=None)
    server = uvicorn.Server(config)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()  # a visitor who comes before the server runs waits instead of being refused
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


class Quiet(WSGIRequestHandler):
    def log_message(self, *args: object) -> None:
        """Say nothing."""


@contextmanager
def over_wsgi(app: Any) -> Iterator[str]:
    with make_server("127.0.0.1", 0, app, handler_class=Quiet) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


KINDS = {"asgi": (asgi_site, AsgiMiddleware, over_asgi), "wsgi": (wsgi_site, WsgiMiddleware, over_wsgi)}


def cheap_first() -> RankingService:
    """A service that has learned that people choose what is cheap."""
    service = RankingService()
    service.rankers.create("default", RankerSettings())
    for _ in range(30):
        shown = service.lists.rank([Candidate("a", {"price": 3}), Candidate("b", {"price": 1})])
        service.events.record([UserEvent(shown.query_id, "b")])
    service.rankers.flush("default")
    service.rankers.set_mode("default", "exploit")
    return service


def same(one: httpx.Response, other: httpx.Response) -> bool:
    heads = [
        (each.status_code, [pair for pair in each.headers.multi_items() if pair[0] not in ("date", "server")])
        for each in (one, other)
    ]
    return heads[0] == heads[1] and one.content == other.content


@pytest.mark.parametrize("kind", KINDS)
def test_a_search_is_reranked_and_its_clicks_come_back(kind: str) -> None:
    site, middleware, over = KINDS[kind]
    service = cheap_first()
    app = middleware(site, service=service, session_cookie="visit", deadline=60.0, **OPTIONS)
    with over(app) as url, httpx.Client(base_url=url, cookies={"visit": "secret"}, timeout=60) as visitor:
        for answer in ("json", "pieces"):
            found = visitor.get("/search", params={"kind": answer, "q": "mug"})
            said = found.json()
            assert said["data"]["items"][0]["sku"] in ("red", "none")
            assert said["total"] == 3
            assert said["rankloop"]["query_id"] == found.headers["X-Rankloop-Query-Id"]
            assert found.headers["Cache-Control"] == "private, no-store"
            assert "ETag" not in found.headers
        mugs = {each["sku"]: each for each in said["data"]["items"]}
        assert mugs["blue"]["title"] == "Blåtass"
        click = visitor.get(mugs["blue"]["click_url"])
        assert (click.status_code, click.headers["Location"]) == (302, "/mug/blue?size=1")
        assert visitor.get(mugs["red"]["click_url"]).status_code == 204  # it leads to another site
        beacon = f"/rankloop/click?q={said['rankloop']['query_id']}&o=none"
        assert visitor.post(beacon).status_code == 204
        assert visitor.get("/rankloop/click?q=nobody&o=knows&to=//evil.example").status_code == 204
        app.reranker._click_pool.shutdown()
    shown = service.reports.read("list", query_id=said["rankloop"]["query_id"])
    assert shown.impression.user_query == "mug"
    assert shown.impression.session_id == app.reranker.session("visit=secret") != "secret"
    assert {each.object_id for each in shown.events} == {"blue", "red", "none"}
    assert {each.verdict for each in shown.events} == {"accepted"}


@pytest.mark.parametrize("kind", KINDS)
def test_everything_else_is_untouched(kind: str) -> None:
    site, middleware, over = KINDS[kind]
    app = middleware(site, service=cheap_first(), deadline=60.0, **OPTIONS)
    with over(site) as plain, over(app) as wrapped, httpx.Client(timeout=60) as visitor:
        for answer in ("html", "gzip", "error", "broken", "empty", "other", "twice", "no-id", "large"):
            paths = [f"{url}/search?kind={answer}" for url in (plain, wrapped)]
            assert same(*(visitor.get(each) for each in paths)), answer
        for method, path in (("HEAD", "/search"), ("GET", "/elsewhere"), ("PUT", "/search")):
            asked = [visitor.request(method, f"{url}{path}?kind=json") for url in (plain, wrapped)]
            assert same(*asked), (method, path)


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_service_the_site_goes_on(kind: str) -> None:
    site, middleware, over = KINDS[kind]
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()  # it takes connections, and never answers
        slow = Client(f"http://127.0.0.1:{silent.getsockname()[1]}", "key", timeout=2.0)
        refused = RankingService()  # nobody has created the ranker
        nobody = Client("http://127.0.0.1:9", "key", retries=0)
        services: tuple[SearchService, ...] = (nobody, slow, refused)
        with over(site) as plain, httpx.Client(timeout=60) as visitor:
            own = visitor.get(f"{plain}/search?kind=json")
            for service in services:
                app = middleware(site, service=service, deadline=0.2, **OPTIONS)
                with over(app) as wrapped:
                    assert same(own, visitor.get(f"{wrapped}/search?kind=json"))
                    assert visitor.get(f"{wrapped}/rankloop/click?q=a&o=b&to=/mug/b").status_code == 302


def test_addresses_lead_nowhere_else() -> None:
    reranker = Reranker(service=Client("http://127.0.0.1:9", "key"))
    for to in (
        "//evil.example",
        "https://evil.example",
        "/\\evil",
        "/a%0d%0aSet-Cookie:x",
        "",
        "javascript:1",
    ):
        assert reranker.click(f"to={to}") is None or "\n" not in str(reranker.click(f"to={to}"))
    assert reranker.click("to=%2F%2Fevil") is None
    assert reranker.click("to=/a%0d%0ab") is None
    assert reranker.click("to=/m%C3%BCg?a=1") == "/m%C3%BCg?a=1"
