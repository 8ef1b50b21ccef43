"""Checkpoint of a rebuild: a snapshot of how far it is, so that a restart goes on from there.

It is kept under a name of its own, says which rebuild it is of, and is used for no other.
"""

from __future__ import annotations

from dataclasses import replace

from rankloop.service.core.fold import Fold
from rankloop.service.store import Snapshot, Transaction


def checkpoint_name(ranker: str) -> str:
    r"""The name under which a store keeps the checkpoints of a ranker; no ranker can be called so.

    >>> checkpoint_name("shop")
    'shop\x1frefold'
    """
    return f"{ranker}\x1frefold"


def checkpoint(fold: Fold) -> Snapshot:
    """The state of a fold on its way, with what it is a fold of."""
    return replace(fold.snapshot(), ranker=checkpoint_name(fold.ranker), digest=fold.spec.digest)


def drop_checkpoint(transaction: Transaction, ranker: str) -> None:
    """Delete what is kept of rebuilds."""
    transaction.delete_snapshots(checkpoint_name(ranker), before=2**62)
