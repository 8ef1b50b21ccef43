"""UBI dumps (User Behavior Insights): queries with what they found, joined with the events on them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rankloop.connect.click_log_lists import LoggedList, seconds, wrong_ids
from rankloop.errors import DataError

FOUND = ("query_response_object_ids", "query_response_hit_ids")  # by version of UBI
Features = Mapping[str, Mapping[str, float | None]]  # of objects, by id


def ubi_documents(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Documents of an NDJSON dump with their line numbers; hits and bulk files are understood, too."""
    if not path.exists():
        raise DataError(f"{path} does not exist: name a dump with one JSON document in each line")
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                found = json.loads(line)
            except ValueError as error:
                raise DataError(f"{path}, line {number}: expected a JSON document: {error}") from error
            if not isinstance(found, dict):
                raise DataError(f"{path}, line {number}: expected a JSON object, found {line[:50]!r}")
            if set(found) <= {"index", "create"}:  # of a bulk file: the document is in the next line
                continue
            yield number, document(found)


def document(hit: Mapping[str, Any]) -> dict[str, Any]:
    """What a hit holds, with its id as `event_id` if it has none; a plain document as it is.

    >>> document({"_id": "7", "_source": {"action_name": "click"}})
    {'event_id': '7', 'action_name': 'click'}
    """
    if "_source" not in hit:
        return dict(hit)
    return {**({"event_id": str(hit["_id"])} if hit.get("_id") else {}), **hit["_source"]}


def ubi_lists(
    queries: Path, events: Path, *, action: str = "click", features: Features | None = None
) -> Iterator[LoggedList]:
    """The lists of queries with what was done on them; features are by object, for UBI has none."""
    clicks: dict[str, dict[str, None]] = {}
    for _, event in ubi_documents(events):
        named = event.get("event_attributes") or {}
        name = str((named.get("object") or {}).get("object_id") or "")
        if event.get("action_name") == action and event.get("query_id") and name:
            clicks.setdefault(str(event["query_id"]), {})[name] = None
    for number, query in ubi_documents(queries):
        yield _list(number, query, clicks.get(str(query.get("query_id") or ""), {}), features or {})


def _list(row: int, query: Mapping[str, Any], clicks: Iterable[str], features: Features) -> LoggedList:
    name = str(query.get("query_id") or "")
    shown: list[Any] = next((query[each] for each in FOUND if query.get(each)), [])
    objects = [str(each) for each in shown]
    trouble = wrong_ids(objects) or ("" if name and objects else "a query has no id, or found nothing")
    if not trouble and not set(clicks) <= set(objects):
        trouble = "something was clicked that is not among what the query found"
    return LoggedList(
        row=row,
        key=name or f"row {row}",
        objects=objects,
        features=[features.get(each, {}) for each in objects],
        clicked=list(clicks),
        query=str(query.get("user_query") or ""),
        time=_seconds(query.get("timestamp")),
        client=str(query.get("client_id") or ""),
        trouble=trouble,
    )


def _seconds(value: object) -> float | None:
    try:
        return seconds(value)
    except ValueError:
        return None
