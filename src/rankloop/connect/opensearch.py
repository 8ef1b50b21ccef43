"""OpenSearch and Elasticsearch: search, rank the hits, show them; and take in UBI events."""

from __future__ import annotations

import base64
import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote
from urllib.request import Request, urlopen

from rankloop.candidate import Candidate, ShownList
from rankloop.connect.ranking import SearchService, list_service, record_events
from rankloop.connect.ubi import document
from rankloop.errors import RankloopError

PAGE = 1000  # events in one request


class SearchError(RankloopError):
    """A search engine that cannot be reached, or that refused a request."""


class OpenSearch:
    """A cluster whose hits are put in order by a service.

    Features of a hit are its `_score`, the `features` named here, from `_source` or `fields`, and whatever
    the LTR plugin has logged for it (`_ltrlog`). `user` and `password`, or an `api_key`, open the cluster.
    """

    def __init__(
        self,
        url: str,
        *,
        service: SearchService,
        features: Sequence[str] = (),
        ranker: str = "default",
        user: str = "",
        password: str = "",
        api_key: str = "",
        timeout: float = 5.0,
    ) -> None:
        self.url, self.service, self.ranker = url.rstrip("/"), service, ranker
        self.features, self.timeout = tuple(features), timeout
        self._headers = {"Content-Type": "application/json"}
        if api_key:
            self._headers["Authorization"] = f"ApiKey {api_key}"
        elif user:
            both = base64.b64encode(f"{user}:{password}".encode()).decode()
            self._headers["Authorization"] = f"Basic {both}"

    def search(
        self,
        index: str,
        body: Mapping[str, Any],
        *,
        user_query: str = "",
        client_id: str = "",
        session_id: str = "",
        ubi: bool = False,
    ) -> dict[str, Any]:
        """The answer to a search with its hits in the order of the service; the id is in `rankloop.query_id`.

        With `ubi`, the UBI plugin is told the same id: events that it collects can be learned from.
        """
        query_id = uuid.uuid4().hex if ubi else None
        if query_id is not None:
            told = {"query_id": query_id, "user_query": user_query, "client_id": client_id}
            body = {**body, "ext": {**body.get("ext", {}), "ubi": told}}
        response = self._ask("POST", f"/{quote(index, safe=',*')}/_search", body)
        candidates = candidates_of(response, self.features)
        if not candidates:
            return response
        shown = list_service(self.service).rank(
            candidates,
            ranker=self.ranker,
            k=len(candidates),
            user_query=user_query,
            client_id=client_id,
            session_id=session_id,
            query_id=query_id,
        )
        return reordered(response, shown)

    def ubi_events(self, *, since: str = "", index: str = "ubi_events") -> Iterator[dict[str, Any]]:
        """Events that the UBI plugin has stored, in order of time, from a time on (ISO 8601)."""
        query = {"range": {"timestamp": {"gte": since}}} if since else {"match_all": {}}
        body: dict[str, Any] = {"size": PAGE, "query": query, "sort": [{"timestamp": "asc"}, {"_doc": "asc"}]}
        while True:
            hits = self._ask("POST", f"/{quote(index)}/_search", body)["hits"]["hits"]
            for hit in hits:
                yield document(hit)
            if len(hits) < PAGE:
                return
            body["search_after"] = hits[-1]["sort"]

    def collect(self, *, since: str = "", index: str = "ubi_events") -> dict[str, int]:
        """Have the service learn from stored events; how many got each verdict. Again changes nothing."""
        counts: dict[str, int] = {}
        batch: list[dict[str, Any]] = []
        for event in self.ubi_events(since=since, index=index):
            batch.append(event)
            if len(batch) == PAGE:
                self._record(batch, counts)
        if batch:
            self._record(batch, counts)
        return counts

    def _record(self, batch: list[dict[str, Any]], counts: dict[str, int]) -> None:
        for verdict in record_events(self.service, batch):
            counts[verdict] = counts.get(verdict, 0) + 1
        batch.clear()

    def _ask(self, method: str, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        request = Request(self.url + path, json.dumps(body).encode(), self._headers, method=method)
        try:
            with urlopen(request, timeout=self.timeout) as answer:
                found: dict[str, Any] = json.load(answer)
                return found
        except HTTPError as error:
            said = error.read()[:200].decode("utf-8", "replace")
            raise SearchError(f"{self.url} answered {error.code} to {path}: {said}") from error
        except (URLError, TimeoutError, ValueError) as error:
            raise SearchError(f"{self.url} gave no answer to {path}: {error}") from error


def candidates_of(response: Mapping[str, Any], features: Sequence[str] = ()) -> list[Candidate]:
    """The hits of a search as candidates, in its own order.

    >>> hit = {"_id": "7", "_score": 1.5, "_source": {"price": 9}, "fields": {"stars": [4]}}
    >>> candidates_of({"hits": {"hits": [hit]}}, ["price", "stars", "age"])[0].features
    {'_score': 1.5, 'price': 9.0, 'stars': 4.0, 'age': None}
    """
    return [Candidate(str(hit["_id"]), _features(hit, features)) for hit in response["hits"]["hits"]]


def reordered(response: Mapping[str, Any], shown: ShownList) -> dict[str, Any]:
    """A response with its hits in another order; hits that are not in the list come after it."""
    hits = {str(hit["_id"]): hit for hit in response["hits"]["hits"]}
    first = [hits.pop(name) for name in shown.object_ids]
    order = {"query_id": shown.query_id, "fallback": shown.fallback}
    return {**response, "hits": {**response["hits"], "hits": [*first, *hits.values()]}, "rankloop": order}


def _features(hit: Mapping[str, Any], names: Sequence[str]) -> dict[str, float | None]:
    fields, source = hit.get("fields") or {}, hit.get("_source") or {}
    found = {"_score": _number(hit.get("_score"))}
    found |= {name: _number(_value(source, name, fields.get(name))) for name in names}
    for logs in fields.get("_ltrlog") or ():
        for entries in logs.values():
            found |= {each["name"]: _number(each.get("value")) for each in entries}
    return found


def _value(source: Mapping[str, Any], name: str, otherwise: Any) -> Any:
    """A field of a document, also one such as `offer.price`."""
    value: Any = source
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return source.get(name, otherwise) if value is None else value


def _number(value: Any) -> float | None:
    if isinstance(value, list):
        value = value[0] if value else None
    return float(value) if isinstance(value, int | float) and abs(value) <= 1e100 else None
