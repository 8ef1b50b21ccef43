"""From a spec.json back to the sweep it describes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from rankloop.cli.lab import names
from rankloop.errors import DataError
from rankloop.lab.data import FeatureGroups
from rankloop.lab.simulation.measures import MEASURE_KINDS, read_measure
from rankloop.lab.simulation.protocol import Protocol
from rankloop.lab.sweeps.sweep import SPECIFIED, Sweep
from rankloop.lab.users import LabelJudge
from rankloop.policies import Policy

OPTIONAL: dict[str, Any] = {
    "probes": {},
    "about": [],
    "against": {},
    "worst_runs": False,
    "taught": {},
    "groups": None,
    "train_queries": None,
}


def from_spec(path: Path) -> Sweep:
    """The sweep that a spec.json describes."""
    try:
        spec = {**OPTIONAL, **json.loads(path.read_text(encoding="utf-8"))}
        sweep = Sweep(
            data=spec["data"],
            users={name: names.user(name) for name in spec["users"]},
            policies={name: _policy(name, text) for name, text in spec["policies"].items()},
            seeds=spec["seeds"],
            protocol=_protocol(spec),
            probes={name: names.probe(name) for name in spec["probes"]},
            about=spec["about"],
            against=spec["against"],
            worst_runs=bool(spec["worst_runs"]),
            taught={name: LabelJudge(**judge) for name, judge in spec["taught"].items()},
            train_queries=spec["train_queries"],
            groups=FeatureGroups(**spec["groups"]) if spec["groups"] else None,
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{path} is no spec the command line can run: {error}") from error
    _check(path, spec, sweep)
    return sweep


def _protocol(spec: Mapping[str, Any]) -> Protocol:
    """Read how long a sweep runs and what it measures."""
    protocol = Protocol(**{key: spec[key] for key in SPECIFIED})
    named = [name for name, about in spec["measures"].items() if about["kind"] in MEASURE_KINDS]
    measures = tuple(read_measure(name, discount=protocol.discount) for name in named)
    return protocol if measures == protocol.measured() else replace(protocol, measures=measures)


def _policy(name: str, text: str) -> Policy:
    """The policy of a text. Where Python's own form stands in its place, the name must be the text."""
    return names.policy(name if _is_python(text) else text)


def _check(path: Path, spec: Mapping[str, Any], sweep: Sweep) -> None:
    """Refuse users, probes and policies that are something else than what their names say."""
    again = sweep.describe()
    same = {
        kind: all(again[kind][name] == text for name, text in spec[kind].items())
        for kind in ("users", "probes")
    }
    python = {name: text for name, text in spec["policies"].items() if _is_python(text)}
    known = all(text == repr(sweep.policies[name]) for name, text in python.items())
    if not (all(same.values()) and known):
        raise DataError(
            f"{path} describes values the command line does not know by these names; run it from Python"
        )


def _is_python(text: str) -> bool:
    """Whether a policy is written as Python shows it, `PDGD(decay=1.0)`, and not as the command line does."""
    return text.partition("(")[0].isidentifier() and text.endswith(")")
