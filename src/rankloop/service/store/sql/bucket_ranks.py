"""Lists by their rank in a stretch of the log, from how many lists each bucket has."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TypeAlias

from rankloop.service.store.sql.bucket_sums import LARGE, SMALL, WIDTH, Piece, Run, cover, find_summed

Count: TypeAlias = tuple[int, int]  # the number of a bucket, or of a list; how many lists it has


class ListRanks:
    """Ranks of a ranker's lists among the entries from `first` to before `past`."""

    def __init__(self, run: Run, ranker: str, first: int, past: int) -> None:
        self._run, self._ranker, self._past = run, ranker, past
        pieces = cover(first, past, find_summed(run))
        self._counts = [(piece[0], *count) for piece in pieces for count in self._count(piece)]
        self._before = list(accumulate((lists for *_, lists in self._counts), initial=0))
        self.size = self._before[-1]

    def find(self, rank: int) -> int:
        """Find the number of the list of a rank, counted from 0; of the rank after the last, the end.

        It costs what one bucket of each size costs, however long the stretch is.
        """
        if rank == self.size:
            return self._past
        index = bisect_right(self._before, rank) - 1
        shift, number, _ = self._counts[index]
        return self._find_within(shift, number, rank - self._before[index])

    def _find_within(self, shift: int, number: int, rank: int) -> int:
        if shift == LARGE:
            for small, lists in self._count((SMALL, number << WIDTH, (number + 1) << WIDTH)):
                if rank < lists:
                    return self._find_within(SMALL, small, rank)
                rank -= lists
        if shift == SMALL:
            return self._count((0, number << SMALL, (number + 1) << SMALL))[rank][0]
        return number

    def _count(self, piece: Piece) -> list[Count]:
        """Count the lists of each bucket of a piece, in order; a single list is one."""
        shift, low, high = piece
        kept = "number, lists FROM list_sums WHERE shift = :shift AND number >= :low AND number < :high"
        single = "seq, 1 FROM impressions WHERE seq >= :low AND seq < :high"
        values = {"ranker": self._ranker, "low": low, "high": high} | ({"shift": shift} if shift else {})
        return self._run(f"SELECT {kept if shift else single} AND ranker = :ranker ORDER BY 1", values)
