"""Reranking of JSON answers: the list in them put in order, with an id to report clicks under."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from threading import Semaphore
from typing import Any
from urllib.parse import parse_qs, quote, urlencode

from rankloop.candidate import Candidate
from rankloop.connect.ranking import SearchService, list_service, record_click
from rankloop.errors import RankloopError

LOGGER = logging.getLogger("rankloop.connect")
LARGEST = 4 * 2**20  # bytes of an answer that is looked into
WAITING = 1000  # clicks that wait to be sent; more are dropped
STALE = ("content-length", "etag", "content-md5", "digest", "cache-control", "last-modified")


@dataclass(frozen=True, slots=True)
class Reranked:
    """An answer in another order, and the id of its list."""

    body: bytes
    query_id: str


@dataclass(frozen=True, eq=False, kw_only=True)
class Reranker:
    """What is to be reranked, and how: which answers, which list in them, which fields are features.

    `results` is where the list is, as in `data.items`; empty, if the answer itself is the list. `query` is
    the parameter with the search words. With `link`, the field that holds a result's address, each result
    gets a `click_url` that counts the click and leads there. A visit is known by `session_cookie`, of which
    a hash is kept. After `deadline` seconds the answer goes out as it is.
    """

    service: SearchService
    path: str = "/search"
    results: str = "results"
    id: str = "id"
    features: Sequence[str] = ()
    query: str = "q"
    ranker: str = "default"
    link: str = ""
    session_cookie: str = ""
    click_path: str = "/rankloop/click"
    deadline: float = 0.5
    _rank_pool: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(8, "rankloop-rank"), repr=False
    )
    _click_pool: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(2, "rankloop-click"), repr=False
    )
    _room: Semaphore = field(default_factory=lambda: Semaphore(WAITING), repr=False)  # for clicks to wait

    def wants(self, method: str, path: str) -> bool:
        """Whether the answer to a request is to be reranked, if it can be."""
        return method in ("GET", "POST") and path == self.path

    def takes(self, status: int, headers: Mapping[str, str]) -> bool:
        """Whether an answer can be reranked, by its head: JSON that is neither compressed nor an error."""
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        plain = headers.get("content-encoding", "identity").lower() in ("", "identity")
        length = headers.get("content-length", "0")
        small = not length.isdigit() or int(length) <= LARGEST
        return status == 200 and plain and small and (kind == "application/json" or kind.endswith("+json"))

    def submit(self, body: bytes, query_string: str, cookies: str) -> Future[Reranked | None]:
        """Begin to rerank an answer; `None` comes if there is nothing to be reranked, or no service."""
        return self._rank_pool.submit(self.reranked, body, query_string, cookies)

    def reranked(self, body: bytes, query_string: str = "", cookies: str = "") -> Reranked | None:
        """An answer in the order that the service gives; `None`: it is to go out as it is."""
        answer = json.loads(body)
        found = _at(answer, self.results)
        if not isinstance(found, list) or not found or not all(isinstance(each, dict) for each in found):
            return None
        names = [str(each[self.id]) for each in found]
        if len(set(names)) != len(names):
            return None
        candidates = [Candidate(name, self._features(each)) for name, each in zip(names, found, strict=True)]
        words = (parse_qs(query_string).get(self.query) or [""])[0][:2000]
        shown = list_service(self.service).rank(
            candidates,
            ranker=self.ranker,
            k=len(candidates),
            user_query=words,
            session_id=self.session(cookies),
        )
        if not shown.query_id:
            LOGGER.warning("an answer goes out in its own order: %s", shown.fallback)
            return None
        by_name = dict(zip(names, found, strict=True))
        found[:] = [self._marked(by_name[name], name, shown.query_id) for name in shown.object_ids]
        if isinstance(answer, dict):
            answer["rankloop"] = {"query_id": shown.query_id, "click": self.click_path}
        return Reranked(json.dumps(answer, ensure_ascii=False).encode(), shown.query_id)

    def session(self, cookies: str) -> str:
        """A hash of the cookie that tells visits apart; empty, if there is none."""
        if not self.session_cookie or not cookies:
            return ""
        try:
            found = SimpleCookie(cookies).get(self.session_cookie)
        except CookieError:
            return ""
        return hashlib.blake2b(found.value.encode(), digest_size=12).hexdigest() if found else ""

    def click(self, query_string: str, cookies: str = "") -> str | None:
        """Take note of a click, without waiting; where it leads to, or `None` if nowhere on this site."""
        given = {name: values[0] for name, values in parse_qs(query_string).items()}
        if given.get("q") and given.get("o") and self._room.acquire(blocking=False):
            self._click_pool.submit(self._report, given["q"], given["o"], self.session(cookies))
        to = given.get("to", "")
        inside = to.startswith("/") and not to.startswith(("//", "/\\")) and to.isprintable()
        return quote(to, safe="/:?#[]@!$&'()*+,;=%~") if inside else None

    def _report(self, query_id: str, object_id: str, session_id: str) -> None:
        try:
            record_click(self.service, query_id[:200], object_id[:200], session_id=session_id)
        except RankloopError as error:
            LOGGER.warning("a click was lost: %s", error)
        finally:
            self._room.release()

    def _features(self, result: Mapping[str, Any]) -> dict[str, float | None]:
        values = {name: _at(result, name) for name in self.features}
        return {name: value if _is_number(value) else None for name, value in values.items()}

    def _marked(self, result: dict[str, Any], name: str, query_id: str) -> dict[str, Any]:
        if not self.link or not isinstance(result.get(self.link), str):
            return result
        given = urlencode({"q": query_id, "o": name, "to": result[self.link]})
        return {**result, "click_url": f"{self.click_path}?{given}"}


def fresh_headers(query_id: str, length: int) -> list[tuple[str, str]]:
    """What the head of a reranked answer has in place of `STALE`: a list is for one visitor."""
    return [
        ("Content-Length", str(length)),
        ("Cache-Control", "private, no-store"),
        ("X-Rankloop-Query-Id", query_id),
    ]


def _at(value: Any, path: str) -> Any:
    """What is at a path such as `data.items`; `None` if there is nothing.

    >>> _at({"data": {"items": [1]}}, "data.items"), _at([1], ""), _at({}, "a.b")
    ([1], [1], None)
    """
    for part in filter(None, path.split(".")):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and abs(value) <= 1e100
