"""Checkpoint of a refold: how far the log was learned again, so that a restart goes on from there.

A short cut like every snapshot, and kept like one, under a name of its own. It says what it is a fold of
(without which events, under which settings, from which base, how wide it began), and is used for nothing
else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from rankloop.naming import write_name
from rankloop.policies.policy_names import PolicyKinds, read_policy
from rankloop.service.core.configuration import Configuration
from rankloop.service.core.fold import BringsParts, Fold
from rankloop.service.core.learned_part import Past
from rankloop.service.core.model import Model
from rankloop.service.core.rebuild import RebuildSpec
from rankloop.service.core.scaling import Running, scale_of
from rankloop.service.store import Snapshot, Transaction
from rankloop.types import Array


def checkpoint_name(ranker: str) -> str:
    r"""The name under which a store keeps the checkpoint of a ranker; no ranker can be called so.

    >>> checkpoint_name("shop")
    'shop\x1frefold'
    """
    return f"{ranker}\x1frefold"


def checkpoint(fold: Fold, spec: RebuildSpec, returned_to: Iterable[int]) -> Snapshot:
    """The state of a refold, with the models to which entries after it return."""
    kept, marks = fold.snapshot(), {seq: fold.models[seq] for seq in returned_to if seq in fold.models}
    body: dict[str, Any] = {
        **{name: value for name, value in kept.body.items() if name != "without"},
        "refold": spec.digest,
        "marks": {str(seq): _told(model) for seq, model in marks.items()},
    }
    arrays = dict(kept.arrays)
    for seq, model in marks.items():
        arrays |= {f"{seq}.policy.{name}": value for name, value in model.policy.state().items()}
        arrays |= {f"{seq}.scale.{name}": value for name, value in model.scale.state().items()}
    return replace(kept, ranker=checkpoint_name(fold.ranker), body=body, arrays=arrays)


def restored(
    kept: Snapshot,
    configuration: Configuration,
    spec: RebuildSpec,
    past: Past,
    registry: BringsParts,
    policy_kinds: PolicyKinds,
    *,
    ranker: str,
    targets: Iterable[int],
) -> Fold:
    """The refold of a checkpoint; `configuration` was in force there, `targets` are returned to later."""
    body = {**kept.body, "without": sorted(spec.without)}
    snapshot = replace(kept, ranker=ranker, body=body)
    later = [seq for seq in targets if seq >= kept.seq]
    fold = Fold.restore(snapshot, configuration, past, spec, registry, policy_kinds, targets=later)
    for seq, told in body["marks"].items():
        fold.models[int(seq)] = _model(int(seq), told, kept.arrays, policy_kinds)
    return fold


def drop_checkpoint(transaction: Transaction, ranker: str) -> None:
    """Delete what is kept of a refold."""
    transaction.delete_snapshots(checkpoint_name(ranker), before=2**62)


def _told(model: Model) -> dict[str, Any]:
    scaling = "running" if isinstance(model.scale, Running) else "query"
    numbers = {"version": model.version, "lists": model.lists, "width": model.width}
    return {
        "policy": write_name(model.policy, defaults=True),
        "scaling": scaling,
        "retired": [*model.retired],
        **numbers,
    }


def _model(
    seq: int, told: Mapping[str, Any], arrays: Mapping[str, Array], policy_kinds: PolicyKinds
) -> Model:
    def part(name: str) -> dict[str, Array]:
        prefix = f"{seq}.{name}."
        return {key.removeprefix(prefix): each for key, each in arrays.items() if key.startswith(prefix)}

    policy = read_policy(told["policy"], policy_kinds).from_state(part("policy"))
    scale = scale_of(told["scaling"], part("scale"))
    return Model(
        version=told["version"],
        policy=policy,
        scale=scale,
        lists=told["lists"],
        width=told["width"],
        retired=tuple(told["retired"]),
    )
