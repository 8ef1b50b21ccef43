"""A service in a process of its own, on a file that another process uses, too: commands come line by line."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from msgspec import structs

from rankloop.candidate import Candidate
from rankloop.service import UserEvent
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import SqliteStore, write
from tests.support.life import Clock, Ids


class Follower:
    """What can be asked of it; every answer is JSON."""

    def __init__(self, path: str) -> None:
        self.clock = Clock()
        self.store = SqliteStore(path)
        self.service = ServiceFacade(self.store, clock=self.clock, ids=Ids("theirs"))

    def view(self, names: list[str]) -> dict[str, Any]:
        """What it takes to be in force, after catching up."""
        self.service.tick()
        return decided_of(self.service, names)

    def rank(self, ranker: str, features: list[dict[str, float]]) -> dict[str, Any]:
        candidates = [Candidate(f"d{number}", each) for number, each in enumerate(features)]
        shown = self.service.rank(candidates, ranker=ranker)
        write(self.store, lambda log: None)
        return {"query_id": shown.query_id, "shown": shown.object_ids, "fallback": shown.provenance.fallback}

    def click(self, query_id: str, object_id: str) -> str:
        return self.service.record([UserEvent(query_id, object_id)])[0].verdict

    def flush(self, ranker: str) -> None:
        self.service.flush(ranker)

    def set_mode(self, ranker: str, mode: Any) -> None:
        self.service.set_mode(ranker, mode)

    def set_window(self, ranker: str, seconds: float) -> None:
        self.service.configure(ranker, structs.replace(self.service.settings(ranker), window=seconds))

    def create(self, ranker: str) -> None:
        self.service.create(ranker)


def decided_of(service: ServiceFacade, names: list[str]) -> dict[str, Any]:
    """Everything that two services on one log must agree on."""
    found: dict[str, Any] = {"rankers": list(service.rankers())}
    for name in names:
        model = service.model(name)
        found[name] = {
            "mode": service.mode(name),
            "schema": service.schema(name),
            "settings": service.settings(name).to_json(),
            "version": model.version,
            "state": {key: value.tolist() for key, value in sorted(model.policy.state().items())},
        }
    return found


def main() -> None:
    follower = Follower(sys.argv[1])
    for line in sys.stdin:
        name, now, options = json.loads(line)
        follower.clock.now = now
        act: Callable[..., Any] = getattr(follower, name)
        sys.stdout.write(json.dumps(act(**options)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
