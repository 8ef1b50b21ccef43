"""From a spec.json back to the sweep it describes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rankloop.cli import names
from rankloop.experiments import Protocol, Sweep
from rankloop.types import DataError

OPTIONAL: dict[str, Any] = {"probes": {}, "about": [], "against": {}, "skylines": {}}


def from_spec(path: Path) -> Sweep:
    """The sweep that a spec.json describes."""
    try:
        spec = {**OPTIONAL, **json.loads(path.read_text(encoding="utf-8"))}
        sweep = Sweep(
            data=spec["data"],
            users={name: names.user(name) for name in spec["users"]},
            policies={name: names.policy(name) for name in spec["policies"]},
            seeds=spec["seeds"],
            protocol=Protocol(
                **{key: spec[key] for key in ("rounds", "k", "discount", "checkpoints", "without_relevant")}
            ),
            probes={name: names.probe(name) for name in spec["probes"]},
            about=spec["about"],
            against=spec["against"],
            skylines={name: names.skyline(name) for name in spec["skylines"]},
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{path} is no spec the command line can run: {error}") from error
    if sweep.describe() != spec:
        raise DataError(
            f"{path} describes values the command line does not know by these names; run it from Python"
        )
    return sweep
