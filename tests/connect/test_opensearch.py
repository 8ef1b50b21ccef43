"""OpenSearch: recorded answers over real HTTP; hits are ranked, stored UBI events learned from."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from rankloop.candidate import Candidate
from rankloop.client import Client, ClientError
from rankloop.connect import OpenSearch, opensearch
from rankloop.connect.ranking import record_click
from rankloop.service import RankingService
from tests.connect.test_middleware import cheap_first
from tests.support.serving import alive

HITS = [
    {"_index": "mugs", "_id": "1", "_score": 3.2, "_source": {"offer": {"price": 24}, "title": "blue"}},
    {
        "_index": "mugs",
        "_id": "2",
        "_score": 2.9,
        "_source": {"offer": {"price": 9}},
        "fields": {
            "stars": [4.5],
            "_ltrlog": [{"log": [{"name": "title_query", "value": 7.5}, {"name": "age"}]}],
        },
    },
]
FOUND = {"took": 3, "timed_out": False, "hits": {"total": {"value": 2, "relation": "eq"}, "hits": HITS}}


class Cluster:
    """Answers as OpenSearch 2 gives them, from what was stored."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any], str]] = []
        self.events: list[dict[str, Any]] = []

    def answer(self, path: str, body: dict[str, Any], key: str) -> tuple[int, dict[str, Any]]:
        self.asked.append((path, body, key))
        if path == "/mugs/_search":
            return 200, FOUND
        if path == "/ubi_events/_search":
            after = body.get("search_after", [-1])[-1]
            page = [(n, each) for n, each in enumerate(self.events) if n > after][: body["size"]]
            hits: list[dict[str, Any]] = [
                {"_id": f"e{n}", "_source": each, "sort": [each["timestamp"], n]} for n, each in page
            ]
            return 200, {"hits": {"hits": hits}}
        return 404, {"error": {"type": "index_not_found_exception"}, "status": 404}


@contextmanager
def running(cluster: Cluster) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, said = cluster.answer(self.path, body, self.headers.get("Authorization", ""))
            text = json.dumps(said).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def test_hits_are_ranked_and_stored_events_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opensearch, "PAGE", 2)
    cluster, service = Cluster(), RankingService()
    service.rankers.create("default")
    with running(cluster) as url:
        search = OpenSearch(url, service=service, features=["offer.price", "stars"], user="u", password="p")
        found = search.search("mugs", {"query": {"match": {"title": "mug"}}}, user_query="mug", ubi=True)
        path, body, key = cluster.asked[0]
        assert (path, key) == ("/mugs/_search", "Basic dTpw")
        query_id = found["rankloop"]["query_id"]
        assert body["ext"]["ubi"]["query_id"] == query_id
        assert sorted(hit["_id"] for hit in found["hits"]["hits"]) == ["1", "2"]
        assert found["hits"]["total"] == FOUND["hits"]["total"]  # type: ignore[index]
        shown = service.reports.read("list", query_id=query_id).impression
        assert service.rankers.describe("default").features == (
            *("_score", "offer.price", "stars", "title_query", "age"),
        )
        assert shown.features[1, :4].tolist() == [2.9, 9.0, 4.5, 7.5]
        for number, (name, query) in enumerate([("1", query_id), ("2", query_id), ("2", "unknown")]):
            attributes = {"object": {"object_id": name}}
            event = {"action_name": "click", "query_id": query, "event_attributes": attributes}
            cluster.events.append({**event, "timestamp": f"2026-01-0{number + 1}T00:00:00Z"})
        assert search.collect(since="2026-01-01") == {"accepted": 2, "orphan": 1}
        assert search.collect()["duplicate"] >= 2
        with pytest.raises(opensearch.SearchError, match="answered 404"):
            search.search("nowhere", {})
    with pytest.raises(opensearch.SearchError, match="gave no answer"):
        search.search("mugs", {})


def test_a_service_elsewhere_ranks_and_without_one_hits_stay_as_they_are() -> None:
    cluster = Cluster()
    service = cheap_first()
    with running(cluster) as url, alive(service.facade) as found:
        with Client(found.url, found.keys["admin"], timeout=60.0) as client:
            shown = OpenSearch(url, service=client).search("mugs", {}, ubi=True)
            with pytest.raises(ClientError, match="ids must be unique"):
                client.rank([Candidate("a")], query_id=shown["rankloop"]["query_id"])
            for _ in range(2):
                record_click(client, shown["rankloop"]["query_id"], "2")
            done = service.reports.read("list", query_id=shown["rankloop"]["query_id"]).events
            assert [(each.verdict, each.ordinal) for each in done] == [
                ("accepted", None),
                ("duplicate", None),
            ]
        assert shown["rankloop"]["query_id"] == cluster.asked[0][1]["ext"]["ubi"]["query_id"]
        gone = OpenSearch(url, service=Client("http://127.0.0.1:9", "key", retries=0)).search("mugs", {})
        assert gone["hits"]["hits"] == HITS
        assert "does not answer" in gone["rankloop"]["fallback"]
