"""Click fraud: a hundred clicks from one address against two hundred honest ones."""

from __future__ import annotations

import json
import tempfile
import time
from collections import Counter
from typing import Any
from urllib.request import Request, urlopen

from benchmarks.attacks.watching import quiet
from benchmarks.serving import Server

SHELF = [("mug", 4.5, 9.0), ("cup", 4.0, 12.0), ("junk", 1.5, 30.0)]
CANDIDATES = [{"object_id": name, "features": {"stars": s, "price": p}} for name, s, p in SHELF]
HONEST, FAKE = 200, 100
WINDOW = 2.0  # seconds in which a list takes clicks
LIMITS: dict[str, dict[str, Any]] = {
    "without limits": {"window": WINDOW, "client_limit": {"lists": None, "repeats": None}},
    "with them": {"window": WINDOW},
}


def run() -> None:
    """The same attack on a ranker without limits, and on one as it comes."""
    print(f"click fraud: {HONEST} honest clicks on a mug, then {FAKE} on junk from one address")
    with tempfile.TemporaryDirectory() as folder, quiet(folder, "--proxies", "127.0.0.1") as server:
        for name, settings in LIMITS.items():
            ranker = name.partition(" ")[0]
            ask(server, "/v1/rankers", {"name": ranker, "settings": settings})
            for visitor in range(HONEST):
                visit(server, ranker, "mug", f"10.0.{visitor // 250}.{visitor % 250 + 1}")
            before = order(server, ranker)
            verdicts = Counter(visit(server, ranker, "junk", "192.0.2.7") for _ in range(FAKE))
            after = order(server, ranker)
            ask(server, "/v1/forget", {"ranker": ranker, "address": "192.0.2.7"})
            restored = order(server, ranker)
            print(f"{name:15} {before} -> {after}, {dict(verdicts)}; after forget by address {restored}")
        for finding in ask(server, "/v1/doctor")["findings"]:
            print(f"{'doctor':15} {finding}")


def visit(server: Server, ranker: str, choice: str, address: str) -> str:
    """A list, and a click on it from an address; the verdict."""
    body = {"ranker": ranker, "candidates": CANDIDATES, "session_id": address}
    shown = ask(server, "/v1/rank", body)["query_id"]
    clicked = {
        "action_name": "click",
        "query_id": shown,
        "event_attributes": {"object": {"object_id": choice}},
    }
    answer = ask(server, "/v1/events", {"events": [clicked]}, key="page", forwarded=address)
    return str(answer["receipts"][0]["verdict"])


def order(server: Server, ranker: str) -> str:
    """What is shown without a try, once everything is learned."""
    time.sleep(2 * WINDOW + 2)
    ask(server, "/v1/mode", {"ranker": ranker, "mode": "exploit"}, method="PUT")
    found = ask(server, "/v1/rank", {"ranker": ranker, "candidates": CANDIDATES})
    ask(server, "/v1/mode", {"ranker": ranker, "mode": "explore"}, method="PUT")
    return " ".join(each["object_id"] for each in found["ranking"])


def ask(
    server: Server, path: str, body: Any = None, *, key: str = "admin", forwarded: str = "", method: str = ""
) -> Any:
    """An answer as JSON."""
    headers = {"Authorization": f"Bearer {server.keys[key]}", "Content-Type": "application/json"}
    headers |= {"X-Forwarded-For": forwarded} if forwarded else {}
    data = None if body is None else json.dumps(body).encode()
    verb = method or ("GET" if data is None else "POST")
    request = Request(server.url + path, data=data, headers=headers, method=verb)
    with urlopen(request, timeout=60) as answer:
        return json.loads(answer.read())
