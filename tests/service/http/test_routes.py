"""Every route does what it says, and refuses the rest with one sentence."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from rankloop.policies import PairRank
from rankloop.service import RankerSettings
from rankloop.service.http import HttpSettings
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import open_temporary_store
from tests.support.limits import keep_snapshots_every
from tests.support.serving import PATIENT, Live, alive, click, request

frequent_snapshots = keep_snapshots_every(2)


@pytest.fixture
def live() -> Iterator[Live]:
    service = ServiceFacade(open_temporary_store())
    service.create("default", RankerSettings())
    with alive(service) as found:
        yield found


def rank(live: Live, **more: Any) -> dict[str, Any]:
    answer = live["rank"].post("/v1/rank", json=request(**more))
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def send(live: Live, *events: dict[str, Any]) -> list[str]:
    answer = live["rank"].post("/v1/events", json={"events": list(events)})
    assert answer.status_code == 200, answer.text
    return [each["verdict"] for each in answer.json()["receipts"]]


def test_a_list_has_positions_scores_and_its_provenance(live: Live) -> None:
    answer = rank(live, k=3, user_query="mugs", session_id="s")
    assert [each["position"] for each in answer["ranking"]] == [1, 2, 3]
    assert set(answer["provenance"]) == {
        *("ranker", "model", "settings", "policy", "mode", "seed", "explored_pairs", "fallback")
    }
    assert answer["provenance"]["fallback"] is None


def test_a_session_that_asks_again_sees_the_same_order(live: Live) -> None:
    lists = [rank(live, n=30, session_id="s", user_query="mugs")["ranking"] for _ in range(3)]
    assert lists[0] == lists[1] == lists[2]


def test_pins_stand_where_they_must(live: Live) -> None:
    body = request(3)
    body["candidates"][2] |= {"pinned_at": 1, "group": None}
    answer = live["rank"].post("/v1/rank", json=body).json()["ranking"]
    assert (answer[0]["object_id"], answer[0]["pinned"]) == ("d2", True)


def test_events_get_a_verdict_each(live: Live) -> None:
    query = rank(live)["query_id"]
    first = click(query, "d1", event_id="e1", timestamp="2026-01-01T00:00:00Z", client_id="c", session_id="s")
    verdicts = send(live, first, first, click("unknown", "d1"), click(query, "d9"), {"nonsense": True})
    assert verdicts == ["accepted", "duplicate", "orphan", "not_shown", "invalid"]


def test_a_value_is_kept_told_and_refused_if_it_is_no_number(live: Live) -> None:
    settings = {"grades": {"weights": {"thumb": 1}, "unrated": "unknown"}}
    assert live["admin"].patch("/v1/rankers/default/settings", json=settings).status_code == 200
    query = rank(live)["query_id"]

    def thumb(object_id: str, value: Any) -> dict[str, Any]:
        return click(query, object_id, action_name="thumb", event_id=f"{object_id} {value}") | {
            "event_attributes": {"object": {"object_id": object_id}, "value": value}
        }

    wrong = [thumb("d1", value) for value in ("up", True, [1], {"stars": 1})]
    answer = live["page"].post("/v1/events", json={"events": [thumb("d0", 1), *wrong, thumb("d2", 0.5)]})
    receipts = answer.json()["receipts"]
    assert [each["verdict"] for each in receipts] == ["accepted", *["invalid"] * 4, "accepted"]
    assert receipts[1]["detail"] == "value must be a number, found 'up'"
    assert live["rank"].post("/v1/events", content=b'{"events": [{"value": NaN}]}').status_code == 400
    told = live["admin"].get(f"/v1/audit/{query}").json()["events"]
    assert [(each["object_id"], each["value"]) for each in told] == [("d0", 1.0), ("d2", 0.5)]
    (found,) = live["admin"].get("/v1/doctor").json()["ratings"]
    assert (found["rate"], found["histogram"]) == (1.0, [[0.0, 0], [1.0, 2]])
    for broken, sentence in (
        ({"grades": {"weights": {"thumb": "1"}}}, "grades.weights.thumb: Expected a number from -1e100 to"),
        ({"grades": {"weights": {"thumb": None}}}, "grades.weights: Expected an object of 1 or more entries"),
        ({"grades": {"highest": 0}}, "grades.highest: Expected a number from 1e-9 to 1e100, found 0"),
        ({"grades": {"unrated": "both"}}, "grades.unrated: Expected one of unknown, zero, found"),
    ):
        refused = live["admin"].patch("/v1/rankers/default/settings", json=broken)
        assert (refused.status_code, sentence in refused.json()["error"]) == (400, True), refused.text


def test_what_was_clicked_is_learned(live: Live) -> None:
    live.context.service.configure("default", RankerSettings(policy=PairRank()))
    for _ in range(30):
        send(live, click(rank(live)["query_id"], "d1"))
    live.context.service.flush("default")
    ranker = live["admin"].get("/v1/rankers").json()["default"]
    assert ranker["lists"] == 30
    scores = {each["object_id"]: each["score"] for each in rank(live)["ranking"]}
    assert max(scores.values()) > 0


def test_an_explanation_says_why_in_a_sentence_and_in_numbers(live: Live) -> None:
    live.context.service.configure("default", RankerSettings(policy=PairRank()))
    for _ in range(10):
        send(live, click(rank(live)["query_id"], "d1"))
    live.context.service.flush("default")
    query = rank(live)["query_id"]
    found = live["admin"].get(f"/v1/explain/{query}", params={"a": "d0", "b": "d1"}).json()
    assert "stands above" in found["sentence"] or "was tried above" in found["sentence"]
    numbers = found["explanation"]
    assert numbers["gap"] == pytest.approx(sum(numbers["contributions"].values()))
    assert set(numbers["contributions"]) == {"price", "age"}


def test_an_audit_has_inputs_by_name_and_the_digest_of_what_was_sent(live: Live) -> None:
    sent = live["rank"].post("/v1/rank", json=request(user_query="mugs"))
    query = sent.json()["query_id"]
    send(live, click(query, "d1", event_id="e1"))
    found = live["admin"].get(f"/v1/audit/{query}").json()
    assert found["digest"] == hashlib.blake2b(sent.content, digest_size=16).hexdigest()
    assert found["candidates"][1] == {
        "object_id": "d1",
        "features": {"price": 1.0, "age": 3.0},
        "pinned_at": None,
        "group": None,
    }
    assert found["shown"] == [each["object_id"] for each in sent.json()["ranking"]]
    assert [each["event_id"] for each in found["events"]] == ["e1"]
    assert found["user_query"] == "mugs"


def test_a_list_is_made_again_byte_for_byte(live: Live) -> None:
    sent = live["rank"].post("/v1/rank", json=request(20))
    again = live["admin"].post(f"/v1/audit/{sent.json()['query_id']}/replay")
    assert again.content == b'{"identical":true,"response":' + sent.content + b"}"


def test_a_rollback_and_a_forgotten_event_are_new_versions(live: Live) -> None:
    before = live["admin"].get("/v1/models").json()
    for number in range(6):
        send(live, click(rank(live)["query_id"], "d1", event_id=f"e{number}"))
        live.context.service.flush("default")
    learned = live["admin"].get("/v1/models").json()
    assert learned["lists"] == 6
    assert learned["features"] == ["price", "age"]
    assert len(learned["snapshots"]) >= 2
    forgotten = live["admin"].post("/v1/forget", json={"event_ids": ["e0", "e5"]}).json()
    assert forgotten["version"] > learned["version"]
    assert live["admin"].get("/v1/models").json()["lists"] == 4
    back = live["admin"].post("/v1/rollback", json={"to": before["version"]})
    assert back.status_code == 200, back.text
    assert live["admin"].get("/v1/models").json()["lists"] == 0


def test_the_mode_is_in_force_with_the_answer(live: Live) -> None:
    changed = live["admin"].put("/v1/mode", json={"mode": "passthrough", "reason": "sale"})
    assert changed.json() == {"ranker": "default", "mode": "passthrough"}
    assert [each["object_id"] for each in rank(live)["ranking"]] == ["d0", "d1", "d2", "d3"]


def test_settings_come_back_as_they_were_changed(live: Live) -> None:
    admin = live["admin"]
    path = "/v1/rankers/shop/settings"
    policy = "PDGD(learning_rate=0.01)"
    made = admin.post("/v1/rankers", json={"name": "shop", "settings": {"policy": policy}, "mode": "exploit"})
    assert made.status_code == 200, made.text
    settings = admin.get(path).json()["settings"]
    assert "learning_rate=0.01" in settings["policy"]
    changed = admin.patch(path, json={"window": 60}).json()
    assert changed["settings"] == settings | {"window": 60}
    assert changed["version"] > made.json()["version"]
    assert admin.get("/v1/rankers").json()["shop"]["mode"] == "exploit"


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"windw": 60}, "did you mean 'window'"),
        (
            {"window": -1},
            "window: Expected a number of 0 or more, found -1: choose a value within the bounds",
        ),
        ({"window": "long"}, 'window: Expected a number of 0 or more, found "long"'),
        ({"policy": 5}, "policy: Expected a text, found 5"),
        ({"policy": "padrank"}, "did you mean 'PairRank'"),
        ({"policy": "PDGD(learning_rate=much)"}, "learning_rate must be a finite number above 0"),
        ({"policy": "PDGD(scorer=5)"}, "scorer must be Linear or MLP"),
        ({"policy": "MGD(interleaving=5)"}, "interleaving must be Probabilistic or TeamDraft, found 5"),
        ({"policy": "PairRank(certainty=5)"}, "certainty must be Posterior, Width or Theory, found 5"),
        ({"policy": "PDGD(scorer=Nonsense())"}, "scorer must be Linear or MLP"),
        ({"actions": {"x" * 300: 1}}, "an action must be"),
    ],
)
def test_settings_that_cannot_work_change_nothing(live: Live, settings: dict[str, Any], word: str) -> None:
    before = live["admin"].get("/v1/rankers/default/settings").json()
    answer = live["admin"].patch("/v1/rankers/default/settings", json=settings)
    assert answer.status_code == 400
    assert word in answer.json()["error"]
    assert live["admin"].get("/v1/rankers/default/settings").json() == before


def test_the_instruments_show_what_happened(live: Live) -> None:
    send(live, click(rank(live)["query_id"], "d1"), click("unknown", "d1"))
    doctor = live["admin"].get("/v1/doctor").json()
    assert doctor["tally"]["verdicts"] == {"accepted": 1, "orphan": 1}
    assert doctor["join_rate"] == 0.5
    overview = live["admin"].get("/v1/overview", params={"minutes": 5, "steps": 5}).json()
    assert overview["total"]["lists"] == 1
    assert overview["total"]["ctr"] == 1.0
    assert live["none"].get("/v1/health").json()["ok"] is True
    assert live.metric("rankloop_events_total", verdict="accepted") == 1
    assert live.metric("rankloop_requests_total", route="POST /v1/rank", status="200") == 1
    assert live.metric("rankloop_ranker_open", ranker="default") == 1
    assert live.metric("rankloop_ranker_mode", ranker="default", mode="explore") == 1


def test_the_recent_past_is_kept_and_the_rest_deleted(live: Live) -> None:
    for _ in range(8):
        send(live, click(rank(live)["query_id"], "d1"))
        live.context.service.flush("default")
    model = live["admin"].get("/v1/models").json()
    gone = live["admin"].post("/v1/retain", json={"days": 0}).json()
    assert gone["entries"] > 0
    assert gone["base"] == model["snapshots"][-1]["version"]
    assert live["admin"].get("/v1/models").json()["lists"] == 8  # what was learned stays
    again = live["admin"].post("/v1/retain", json={"since": 0.0}).json()
    assert (again["entries"], again["base"]) == (0, gone["base"])
    for wrong in ({}, {"days": 1, "since": 0.0}):
        refused = live["admin"].post("/v1/retain", json=wrong)
        assert refused.status_code == 400
        assert "one of them only" in refused.json()["error"]


# refusals


@pytest.mark.parametrize(
    ("body", "word"),
    [
        (b"", "a body in JSON"),
        (b"{", "truncated"),
        (b'{"candidates": [{"object_id": "a", "features": {"x": NaN}}]}', "malformed"),
        (b'{"candidates": [{"object_id": "a", "features": {"x": 1e999}}]}', "out of range"),
        (b'{"candidates": [{"object_id": "a", "features": {"x": "1"}}]}', "Expected"),
        (b'{"candidates": [{"object_id": "a"}, {"object_id": "a"}]}', "'a' twice"),
        (b'{"candidates": [{"object_id": 5}]}', "candidates[0].object_id"),
        (b'{"candidates": []}', "of 1 or more entries"),
        (b'{"candidates": [{"object_id": "a"}], "k": 0}', "from 1 to 10,000"),
        (b'{"candidates": [{"object_id": "a"}], "k": 1e30}', "Expected a whole number"),
        (b'{"candidates": [{"object_id": "a", "pinned_at": 2}]}', "pinned_at must be"),
        (b'{"candidates": [{"object_id": "a"}], "ranker": "<b>"}', "no ranker is called '<b>'"),
        (b'{"candidates": [{"object_id": "a"}], "candiates": []}', "Expected a field"),
        (b'{"candidates": [{"object_id": "\xed\xa0\x80"}]}', "UTF-8"),
        (b'{"candidates": [{"object_id": "\\ud800"}]}', "truncated"),
        (b"[" * 100_000, "Expected `object`, got `array`"),
    ],
)
def test_a_wrong_request_gets_one_sentence_and_changes_nothing(live: Live, body: bytes, word: str) -> None:
    before = live.context.service.store.list_changed_rankers(after=0)
    answer = live["rank"].post("/v1/rank", content=body)
    assert answer.status_code == 400
    assert word in answer.json()["error"]
    assert answer.headers["content-type"] == "application/json"
    assert live.context.service.store.list_changed_rankers(after=0) == before


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"candidates": []}, "candidates: Expected a list of 1 or more entries, found an empty one"),
        ({"candidates": "mug"}, 'candidates: Expected a list of 1 or more entries, found "mug"'),
        (
            {"candidates": [{"object_id": "a"}], "k": 10**9},
            "k: Expected a whole number from 1 to 10,000, found 1000000000",
        ),
        (
            {"candidates": [{"object_id": "a"}], "k": 10**99},
            "k: Expected a whole number from 1 to 10,000, found a number of 100 digits",
        ),
        (
            {"candidates": [{"object_id": "a"}], "session_id": "s" * 201},
            "session_id: Expected a text of up to 200 characters, found a text of 201 characters",
        ),
        (
            {"candidates": [{"object_id": "a", "features": {"size": 1, "colour": "red"}}]},
            'candidates[0].features.colour: Expected a number or null, found "red"',
        ),
        (
            {"candidats": []},
            "Expected a field of the body, found 'candidats': did you mean 'candidates'? Fields: ",
        ),
        (
            {"candidates": [{"object_id": "a", "pined_at": 1}]},
            "Expected a field of candidates[0], found 'pined_at': did you mean 'pinned_at'? Fields: ",
        ),
    ],
)
def test_a_refusal_says_what_was_found_and_what_there_is_to_choose_from(
    live: Live, body: object, sentence: str
) -> None:
    assert live["rank"].post("/v1/rank", json=body).json()["error"].startswith(sentence)
    wrong = live["admin"].put("/v1/mode", json={"ranker": "default", "mode": "explor"}).json()["error"]
    assert wrong.startswith("mode: Expected one of exploit, explore, ")
    assert wrong.endswith(", found \"explor\": did you mean 'explore'?")
    body = {"kind": "holdot"}  # a field that says more of itself than its type
    wrong = live["admin"].post("/v1/rankers/default/trials", json=body).json()["error"]
    assert wrong == "kind: Expected one of holdout, interleave, found \"holdot\": did you mean 'holdout'?"


def test_deep_nesting_is_refused(live: Live) -> None:
    deep = b'{"events": [{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}]}"
    assert live["rank"].post("/v1/events", content=deep).json() == {"error": "the body is nested too deeply"}


def test_a_large_body_is_refused() -> None:
    service = ServiceFacade(open_temporary_store())
    with alive(service, HttpSettings(max_body=1000)) as live:
        answer = live["rank"].post("/v1/rank", content=b"x" * 10_000_000)
        assert answer.status_code == 413
        assert "1,000 bytes" in answer.json()["error"]
        chunks = live["rank"].post("/v1/rank", content=iter([b"x" * 600] * 2))
        assert chunks.status_code == 413


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nowhere", 404),
        ("GET", "/v1/nowhere", 404),
        ("DELETE", "/v1/rank", 405),
        ("GET", "/v1/rank", 405),
    ],
)
def test_other_addresses_and_methods_are_refused_in_the_same_way(
    live: Live, method: str, path: str, status: int
) -> None:
    answer = live["admin"].request(method, path)
    assert answer.status_code == status
    assert "/v1/openapi.json" in answer.json()["error"]


def test_unknown_lists_are_not_found(live: Live) -> None:
    for path in ("/v1/audit/nope", "/v1/explain/nope?a=x&b=y"):
        assert live["admin"].get(path).status_code == 404
    assert live["admin"].post("/v1/audit/nope/replay").status_code == 404


# for browsers


def test_no_other_web_site_may_read_unless_it_is_named() -> None:
    service = ServiceFacade(open_temporary_store())
    with alive(service) as live:
        plain = live["none"].get("/v1/health", headers={"Origin": "https://shop.example"})
        assert "access-control-allow-origin" not in plain.headers
    with alive(service, HttpSettings(origins=("https://shop.example",))) as live:
        named = live["none"].get("/v1/health", headers={"Origin": "https://shop.example"})
        assert named.headers["access-control-allow-origin"] == "https://shop.example"
        other = live["none"].get("/v1/health", headers={"Origin": "https://evil.example"})
        assert other.headers.get("access-control-allow-origin") != "https://evil.example"


def test_a_page_that_may_read_answers_may_read_refusals_and_how_long_to_wait() -> None:
    settings = HttpSettings(origins=("https://shop.example",), page_rate=0.1, page_body=500)
    with alive(ServiceFacade(open_temporary_store()), settings) as live:
        click = {"query_id": "q", "action_name": "click", "object_id": "a"}

        def sent(key: str, body: object, origin: str = "https://shop.example") -> httpx.Response:
            return live[key].post("/v1/events", json={"events": body}, headers={"Origin": origin})

        assert sent("page", [click]).status_code == 200
        found = {401: sent("none", [click]), 413: sent("page", [click] * 50), 429: sent("page", [click])}
        for status, answer in found.items():
            assert answer.status_code == status
            assert answer.headers["access-control-allow-origin"] == "https://shop.example"
        assert int(found[429].headers["retry-after"]) >= 1
        assert "Retry-After" in found[429].headers["access-control-expose-headers"]
        assert "access-control-allow-origin" not in sent("page", [click] * 50, "https://evil.example").headers


def test_whoever_asks_for_the_head_alone_hears_whether_it_is_well(live: Live) -> None:
    for path in ("/v1/health", "/v1/ready"):
        head = live["none"].head(path)
        assert (head.status_code, head.content) == (200, b"")


def test_the_script_is_served_and_so_is_the_description(live: Live) -> None:
    script = live["none"].get("/rankloop.js")
    assert script.headers["content-type"].startswith("text/javascript")
    assert "sendBeacon" in script.text
    paths = live["none"].get("/v1/openapi.json").json()["paths"]
    assert set(paths) >= {"/v1/rank", "/v1/events", "/v1/explain/{query_id}", "/v1/mode", "/metrics"}


def test_answers_are_not_sniffed_and_not_cached(live: Live) -> None:
    headers = live["none"].get("/v1/health", headers={"X-Request-Id": "abc"}).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert headers["x-request-id"] == "abc"


def test_limits_that_refuse_everything_are_refused() -> None:
    for wrong in ({"deadline": 0}, {"patience": float("nan")}, {"max_body": 0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            HttpSettings(**wrong)
    assert PATIENT.deadline == 30
