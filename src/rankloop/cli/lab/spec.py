"""From a spec.json back to the sweep it describes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from rankloop.cli.own_policies import read_any_policy
from rankloop.errors import DataError, SettingError
from rankloop.lab.data import FeatureGroups
from rankloop.lab.simulation.measures import MEASURE_KINDS, read_measure
from rankloop.lab.simulation.probes import PROBES
from rankloop.lab.simulation.protocol import Protocol
from rankloop.lab.sweeps.sweep import SPECIFIED, Sweep
from rankloop.lab.users import LabelJudge, read_user
from rankloop.naming import read_name

OPTIONAL: dict[str, Any] = {
    "probes": {},
    "about": [],
    "against": {},
    "taught": {},
    "groups": None,
    "train_queries": None,
}


def from_spec(path: Path) -> Sweep:
    """The sweep that a spec.json describes."""
    try:
        spec = {**OPTIONAL, **json.loads(path.read_text(encoding="utf-8"))}
        return Sweep(
            data=spec["data"],
            users={name: read_user(text) for name, text in spec["users"].items()},
            policies={name: read_any_policy(text) for name, text in spec["policies"].items()},
            seeds=spec["seeds"],
            protocol=_protocol(spec),
            probes={name: read_name(text, PROBES, noun="probe") for name, text in spec["probes"].items()},
            about=spec["about"],
            against=spec["against"],
            taught={name: _judge(text) for name, text in spec["taught"].items()},
            train_queries=spec["train_queries"],
            groups=FeatureGroups(**spec["groups"]) if spec["groups"] else None,
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{path} is no spec that can be run again: {error}") from error


def _protocol(spec: Mapping[str, Any]) -> Protocol:
    """Read how long a sweep runs and what it measures."""
    protocol = Protocol(**{key: spec[key] for key in SPECIFIED})
    named = [name for name, about in spec["measures"].items() if about["kind"] in MEASURE_KINDS]
    measures = tuple(read_measure(name, discount=protocol.discount) for name in named)
    return protocol if measures == protocol.measured() else replace(protocol, measures=measures)


def _judge(text: str) -> LabelJudge:
    judge = read_user(text)
    if not isinstance(judge, LabelJudge):
        raise SettingError(f"a policy is taught by labels, found {text}")
    return judge
