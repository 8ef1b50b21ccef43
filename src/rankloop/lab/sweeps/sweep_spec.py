"""Spec of a sweep: all of it as plain values, for `spec.json`, and back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import Any

from rankloop.errors import SettingError
from rankloop.lab.baselines import ALL_POLICIES
from rankloop.lab.data import FeatureGroups
from rankloop.lab.simulation.measures import MEASURE_KINDS, read_measure
from rankloop.lab.simulation.probes import PROBES
from rankloop.lab.simulation.protocol import Protocol
from rankloop.lab.sweeps.sweep import Sweep, UserChoice, label
from rankloop.lab.users import LabelJudge, NamedUser, read_user, write_user
from rankloop.naming import read_name, write_name
from rankloop.policies import Policy, policy_names

SPECIFIED = ("rounds", "k", "discount", "checkpoints", "without_relevant")  # of a protocol


def read_lab_policy(text: str) -> Policy:
    """Read a policy of the lab or of the core by its name."""
    return policy_names.read_policy(text, ALL_POLICIES)


def write_spec(sweep: Sweep) -> dict[str, Any]:
    """Write a sweep as plain values."""
    protocol = sweep.protocol
    optional = {
        "judges": {name: write_user(judge) for name, judge in sweep.judges.items()},
        "groups": sweep.groups and asdict(sweep.groups),
        "train_queries": sweep.train_queries,
    }
    return {
        "data": [label(data) for data in sweep.data],
        "users": {name: _write_user(user) for name, user in sweep.users.items()},
        "policies": {name: _write_policy(policy) for name, policy in sweep.policies.items()},
        "seeds": list(sweep.seeds),
        **{name: getattr(protocol, name) for name in SPECIFIED},
        "measures": {name: measure.describe() for name, measure in sweep.measures.items()},
        "probes": {name: write_name(probe) for name, probe in sweep.probes.items()},
        "main_metrics": list(sweep.main_metrics),
        "compare_with": dict(sweep.compare_with),
        **{name: value for name, value in optional.items() if value},
    }


def read_sweep(spec: Mapping[str, Any], read_policy: Callable[[str], Policy] = read_lab_policy) -> Sweep:
    """Read a sweep from the plain values of its spec; who knows own policies by name reads these, too.

    >>> from rankloop.lab.users import PresetUser
    >>> from rankloop.policies import Random
    >>> sweep = Sweep(data=["linear"], users={"perfect": PresetUser("perfect")}, policies={"it": Random()})
    >>> write_spec(read_sweep(write_spec(sweep))) == write_spec(sweep)
    True
    """
    return Sweep(
        data=spec["data"],
        users={name: read_user(text) for name, text in spec["users"].items()},
        policies={name: read_policy(text) for name, text in spec["policies"].items()},
        seeds=spec["seeds"],
        protocol=_read_protocol(spec),
        probes={name: read_name(text, PROBES, noun="probe") for name, text in spec.get("probes", {}).items()},
        main_metrics=spec.get("main_metrics", ()),
        compare_with=spec.get("compare_with", {}),
        judges={name: _read_judge(text) for name, text in spec.get("judges", {}).items()},
        train_queries=spec.get("train_queries"),
        groups=FeatureGroups(**spec["groups"]) if spec.get("groups") else None,
    )


def sweep_id(sweep: Sweep) -> str:
    """Give a short name that is the same for the same question."""
    return hashlib.sha256(json.dumps(write_spec(sweep), sort_keys=True).encode()).hexdigest()[:8]


def _read_protocol(spec: Mapping[str, Any]) -> Protocol:
    """Read how long a sweep runs and what it measures: names, or a table of names as `write_spec` has it."""
    protocol = Protocol(**{key: spec[key] for key in SPECIFIED if key in spec})
    told = spec.get("measures", ())
    named = [name for name in told if not isinstance(told, Mapping) or told[name]["kind"] in MEASURE_KINDS]
    measures = tuple(read_measure(name, discount=protocol.discount) for name in named)
    return protocol if measures in ((), protocol.measured()) else replace(protocol, measures=measures)


def _read_judge(text: str) -> LabelJudge:
    judge = read_user(text)
    if not isinstance(judge, LabelJudge):
        raise SettingError(f"a policy is taught by labels, found {text}")
    return judge


def _write_user(user: UserChoice) -> str:
    """Write a user as `rankloop lab run` reads it; one that has no name is shown as Python does."""
    return write_user(user) if isinstance(user, NamedUser) else repr(user)


def _write_policy(policy: Policy) -> str:
    """Write a policy as `rankloop lab run` reads it; what cannot be written so is shown as Python does."""
    try:
        return policy_names.write_policy(policy, ALL_POLICIES)
    except SettingError:
        return repr(policy)
