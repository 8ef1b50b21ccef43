"""What tests of a whole service need from its inside, in one place: the rest of them uses public names."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from dataclasses import fields
from pathlib import Path
from typing import Any

from rankloop.policies import P2NeurRank, Policy, ReplayMemory
from rankloop.policies.policy_names import POLICIES
from rankloop.scorers import MLP
from rankloop.service import Health
from rankloop.service.service_facade import ServiceFacade
from rankloop.types import State
from tests.support.plain import plain_fold

# the fold


def catch_up(service: ServiceFacade, ranker: str = "shop") -> None:
    """Fold what is in the log; time does not pass."""
    service.ranker(ranker).catch_up()


def folded_anew(service: ServiceFacade, ranker: str = "shop") -> tuple[int, int, State]:
    """Version, lists and state by the fold of all that is kept of the log, from where it begins."""
    fold = plain_fold(service, ranker).learned
    scale = {f"scale.{name}": value for name, value in fold.scale.state().items()}
    return fold.version, fold.lists, {**fold.policy.state(), **scale}


# health


def findings(health: Health) -> str:
    """All that health says in words."""
    return "\n".join(health.findings).lower()


def ignored(service: ServiceFacade, ranker: str = "shop") -> tuple[str, ...]:
    """The features that a ranker passes over, as health says."""
    return tuple(getattr(service.health().rankers[ranker], "ignored", ()))


# policies


def small(kind: type[Policy]) -> Policy:
    """A policy of this kind that is quick enough to be lived with a thousand times."""
    if "training" not in {each.name for each in fields(kind)}:
        return kind()
    options: dict[str, Any] = {
        "scorer": MLP(4),
        "training": ReplayMemory(lists=2, memory=6),
        "learning_rate": 0.01,
    }
    if issubclass(kind, P2NeurRank):
        options["networks"] = 3
    return kind(**options)


def every_policy() -> list[Policy]:
    """One of every kind that can be served."""
    served = (
        kind
        for _, kind in sorted(POLICIES.items())
        if "clicks" in kind.signals and not kind.refused_in_service
    )
    return [small(kind) for kind in served]


# files


def copied(path: Path, to: Path) -> Path:
    """A store's file as it is at this moment: what a crash would leave."""
    for ending in ("", "-wal"):
        source = path.with_name(path.name + ending)
        if source.exists():
            shutil.copyfile(source, to.with_name(to.name + ending))
    return to


def damage_newest_snapshot(path: Path, column: str, value: bytes | str) -> None:
    """Have the newest snapshot of each ranker hold something else; no service may have the file open."""
    with closing(sqlite3.connect(path)) as connection, connection:
        newest = "(ranker, seq) IN (SELECT ranker, max(seq) FROM snapshots GROUP BY ranker)"
        changed = connection.execute(f"UPDATE snapshots SET {column} = ? WHERE {newest}", (value,)).rowcount
        assert changed, "there is no snapshot to damage"


DAMAGES: dict[str, tuple[str, bytes | str]] = {
    "arrays of garbage": ("arrays", bytes(range(256)) * 8),
    "no arrays at all": ("arrays", b""),
    "a body that ends in the middle": ("body", '{"version": 3, "sett'),
    "a body that is no object": ("body", "[]"),
    "an empty body": ("body", json.dumps({})),
}
