"""From a spec.json back to the sweep it describes."""

from __future__ import annotations

import json
from pathlib import Path

from rankloop.cli.own_policies import read_any_policy
from rankloop.errors import DataError
from rankloop.lab.sweeps.sweep import Sweep
from rankloop.lab.sweeps.sweep_spec import read_sweep


def from_spec(path: Path) -> Sweep:
    """Read the sweep that a spec.json describes."""
    try:
        return read_sweep(json.loads(path.read_text(encoding="utf-8")), read_any_policy)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{path} is no spec that can be run again: {error}") from error
