"""Thinning of snapshots: many of late, ever fewer the older, by one rule that every store follows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import islice, pairwise

from rankloop.service.store.log_records import Decision

NEWEST = 8  # snapshots that always stay


def superfluous(kept: Sequence[int], *, protected: Collection[int] = ()) -> list[int]:
    r"""The snapshots that can go, of those at the entries `kept`, in order.

    The newest eight stay. An older one goes if the two on either side of it are no further apart than the
    newest is from the younger of them: so to rebuild a version, never more entries have to be folded than
    came after it, and $n$ snapshots become about $8 + 2 \log_2 n$. What stays depends on the numbers alone,
    and thinning what was thinned changes nothing.

    >>> kept = []
    >>> for entry in range(1, 101):
    ...     kept.append(entry)
    ...     for gone in superfluous(kept):
    ...         kept.remove(gone)
    >>> kept
    [48, 72, 80, 88, 93, 94, 95, 96, 97, 98, 99, 100]
    """
    gone, older = list[int](), 0
    for seq, younger in islice(pairwise(kept), max(len(kept) - NEWEST, 0)):
        if seq not in protected and younger - older <= kept[-1] - younger:
            gone.append(seq)
        else:
            older = seq
    return gone


def protected_by(retained: Iterable[Decision], kept: Sequence[int]) -> set[int]:
    """The snapshots that must stay: where the log begins since `retain` decisions, and the next after it.

    Without the first, nothing before the next entry could be folded; the next is there if it is damaged.
    """
    bases = {int(each.body.get("base", 0)) for each in retained}
    after = [seq for seq in kept if bases and seq > max(bases)]
    return bases.union(after[:1])
