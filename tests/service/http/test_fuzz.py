"""Nothing that a client can send gives a 5xx, changes anything when it is refused, or comes out unescaped."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rankloop.service import RankerSettings
from rankloop.service.http import AppContext, Keys, create_app
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import SqliteStore, Store, open_temporary_store, write
from tests.service.extensions.recommend.shop import saved
from tests.support.serving import PATIENT, Live, alive, click, request

FEW = settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    database=None,
)
MANY = settings(FEW, max_examples=150)
KEYS, SHOWN = Keys.fresh()


def some_service(store: Store | None = None) -> ServiceFacade:
    service = ServiceFacade(store or open_temporary_store())
    service.create("default", RankerSettings(max_candidates=50, max_features=20))
    service.feed("default", saved())
    return service


# by the description

CONTEXT = AppContext(service=some_service(), keys=KEYS, settings=PATIENT)
schema = schemathesis.openapi.from_asgi("/v1/openapi.json", create_app(CONTEXT))


@schema.parametrize()
@FEW
def test_what_the_description_allows_is_answered(case: schemathesis.Case[Any]) -> None:
    answer = case.call(headers={"Authorization": f"Bearer {SHOWN['admin']}"})
    assert answer.status_code < 500
    if answer.status_code >= 400:
        assert set(answer.json()) == {"error"}
    else:
        case.validate_response(answer, checks=[schemathesis.checks.response_schema_conformance])


# by malice


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with (
        SqliteStore(tmp_path_factory.mktemp("fuzz") / "log.db") as store,
        alive(some_service(store)) as found,
    ):
        yield found


NASTY = [
    "'; DROP TABLE events; --",
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "{{7*7}}",
    "../../etc/passwd",
    "%00%0a%0d",
    "\x00\x1b[31m",
    "\u202e\ufeff\U0001f4a9",
    "a" * 3000,
    "",
    "default",
]
texts = st.sampled_from(NASTY) | st.text(max_size=30)
numbers = (
    st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=True, allow_infinity=True)
    | st.sampled_from([0, -1, 1e308, -1e308, 5e-324, 2**63, 2**64, 10**400, True])
)
anything: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
candidates = st.fixed_dictionaries(
    {"object_id": texts | anything},
    optional={
        "features": st.dictionaries(texts, numbers | anything, max_size=5) | anything,
        "pinned_at": numbers,
    },
)
rank_bodies = st.fixed_dictionaries(
    {"candidates": st.lists(candidates | anything, max_size=6) | anything},
    optional={"k": numbers, "ranker": texts, "user_query": texts, "session_id": texts, "client_id": anything},
)
events = st.fixed_dictionaries(
    {},
    optional={
        "query_id": texts | anything,
        "action_name": st.just("click") | anything,
        "event_id": texts | anything,
        "timestamp": numbers | texts | anything,
        "client_id": texts | anything,
        "event_attributes": anything
        | st.fixed_dictionaries(
            {"object": st.fixed_dictionaries({"object_id": texts}) | anything},
            optional={"position": st.fixed_dictionaries({"ordinal": numbers}) | anything},
        ),
    },
)


def size(live: Live) -> int:
    """How much is in the log, once everything under way is written."""
    store = live.context.service.store
    assert isinstance(store, SqliteStore)
    write(store, lambda transaction: transaction.time(0))
    assert not live.context.service.health().rankers["default"].unlogged
    tables = ("events", "decisions", "impressions")  # counted where they are: every example asks twice
    return sum(store.source.run(f"SELECT count(*) FROM {table}")[0][0] for table in tables)


def check(live: Live, answer: httpx.Response, before: int) -> None:
    """No fault of ours; and what is refused has changed nothing."""
    assert answer.status_code < 500, answer.text
    assert answer.headers["content-type"].startswith("application/json")
    if answer.status_code != 200:
        assert set(answer.json()) == {"error"}
        assert size(live) == before


@MANY
@given(body=rank_bodies | anything)
def test_no_request_to_rank_breaks_anything(live: Live, body: Any) -> None:
    before = size(live)
    check(live, live["rank"].post("/v1/rank", content=json.dumps(body)), before)


@MANY
@given(sent=st.lists(events | anything, max_size=5) | anything)
def test_no_event_breaks_anything(live: Live, sent: Any) -> None:
    before = size(live)
    answer = live["rank"].post("/v1/events", content=json.dumps({"events": sent}))
    check(live, answer, before)
    if answer.status_code == 200:
        assert len(answer.json()["receipts"]) == len(sent)


@MANY
@given(
    method=st.sampled_from(["GET", "POST", "PUT"]),
    body=anything,
    words=st.tuples(texts, texts),
    data=st.data(),
)
def test_no_admin_breaks_anything(
    live: Live, method: str, body: Any, words: tuple[str, str], data: Any
) -> None:
    path = data.draw(
        st.sampled_from(
            [
                *(
                    "/v1/rollback",
                    "/v1/forget",
                    "/v1/features/retire",
                    "/v1/mode",
                    "/v1/rankers",
                    "/v1/rankers/default/settings",
                ),
                *(
                    "/v1/models",
                    "/v1/overview",
                    "/v1/doctor",
                    "/v1/explain/x",
                    "/v1/audit/x",
                    "/v1/audit/x/replay",
                ),
            ]
        )
    )
    query = {"ranker": words[0], "a": words[0], "b": words[1], "minutes": words[1], "steps": words[0]}
    before = size(live)
    check(live, live["admin"].request(method, path, params=query, content=json.dumps(body)), before)


@FEW
@given(body=st.binary(max_size=200))
def test_no_bytes_break_anything(live: Live, body: bytes) -> None:
    for path in ("/v1/rank", "/v1/events"):
        before = size(live)
        check(live, live["rank"].post(path, content=body), before)


@FEW
@given(word=texts.filter(lambda word: 0 < len(word) <= 200 and "\0" not in word))
def test_every_text_comes_back_as_it_went_in(live: Live, word: str) -> None:
    body = request(2, user_query=word, session_id=word, client_id=word)
    body["candidates"][0]["object_id"] = word
    body["candidates"][1]["group"] = word
    shown = live["rank"].post("/v1/rank", json=body)
    assert shown.status_code == 200, shown.text
    query = shown.json()["query_id"]
    receipts = live["rank"].post("/v1/events", json={"events": [click(query, word, client_id=word)]})
    assert receipts.json()["receipts"][0]["verdict"] == "accepted"
    found = live["admin"].get(f"/v1/audit/{query}")
    assert found.headers["content-type"] == "application/json"
    assert found.json()["user_query"] == word
    assert found.json()["candidates"][0]["object_id"] == word
    again = live["admin"].post(f"/v1/audit/{query}/replay").json()
    assert again["identical"]


def test_the_rankers_name_is_no_path() -> None:
    with alive(some_service()) as live:
        for name in ("../x", "a/b", "<b>", "", "x" * 65):
            assert live["admin"].post("/v1/rankers", json={"name": name}).status_code == 400
        assert live["admin"].get("/v1/rankers/..%2f..%2fetc/settings").status_code in (400, 404)


def test_ten_megabytes_are_refused(live: Live) -> None:
    before = size(live)
    for path in ("/v1/rank", "/v1/events"):
        answer = live["rank"].post(path, content=b'{"events": [' + b" " * 10_000_000 + b"]}")
        assert answer.status_code == 413
    assert size(live) == before
