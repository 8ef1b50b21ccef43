"""Histogram bins of sparse profiles: which values are known, and where a feature may be cut."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import sparse

from rankloop.recommend.reviews import SparseArray
from rankloop.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class SplitCandidates:
    """Every known value of a profile as its bin's number; lower edges of bins are candidate thresholds."""

    codes: SparseArray  # [n, n_features] 1 + the candidate with the highest threshold that the value reaches
    feature: IntArray  # [n_candidates]
    threshold: FloatArray  # [n_candidates], rising within a feature
    known: BoolArray  # [n] who has a profile

    @classmethod
    def of(cls, profiles: SparseArray, bins: int) -> Self:
        """Cut at the quantiles of the known values of each feature.

        >>> profiles = sparse.csr_array(np.array([[1.0], [2.0], [3.0], [4.0]]))
        >>> SplitCandidates.of(profiles, 2).threshold.tolist()
        [1.0, 3.0]
        """
        columns = sparse.csc_array(profiles)
        codes = np.zeros(columns.nnz, np.int64)
        feature: list[int] = []
        threshold: list[float] = []
        for column in range(columns.shape[1]):
            cells = slice(*columns.indptr[column : column + 2])
            values = columns.data[cells]
            if not len(values):
                continue
            quantiles = np.arange(bins) / bins
            edges = np.unique(np.quantile(values, quantiles, method="higher"))
            codes[cells] = len(feature) + np.searchsorted(edges, values, side="right")
            feature += [column] * len(edges)
            threshold += edges.tolist()
        coded = sparse.csc_array((codes, columns.indices, columns.indptr), shape=columns.shape).tocsr()
        return cls(coded, np.array(feature, np.int64), np.array(threshold), np.diff(coded.indptr) > 0)

    @property
    def n(self) -> int:
        """How many entities have a row."""
        return int(self.codes.shape[0])

    def predicate(self, candidate: int) -> tuple[int, float]:
        """Return the feature and the threshold of a candidate."""
        return int(self.feature[candidate]), float(self.threshold[candidate])

    def candidates(self, rows: IntArray, least: int) -> tuple[IntArray, SparseArray]:
        """Return candidates whose feature is known of enough members, and the members of their bins."""
        own = self.codes[rows]
        count = np.bincount(own.indices, minlength=own.shape[1])
        possible = np.flatnonzero(count[self.feature] >= least)
        column = np.full(len(self.feature) + 1, -1)
        column[possible + 1] = np.arange(len(possible))
        cell = column[own.data]
        inside = cell >= 0
        member = np.repeat(np.arange(len(rows)), np.diff(own.indptr))[inside]
        shape = (len(possible), len(rows))
        groups = sparse.csr_array((np.ones(int(inside.sum())), (cell[inside], member)), shape=shape)
        first = np.append(True, np.diff(self.feature[possible]) != 0) if len(possible) else np.zeros(0, bool)
        starts = np.flatnonzero(first)
        return possible, (groups, starts)

    def sums(
        self, groups: tuple[SparseArray, IntArray], values: FloatArray
    ) -> tuple[FloatArray, FloatArray, IntArray, IntArray]:
        """Sum over members that reach each threshold and over all known ones, and count both."""
        members, starts = groups
        histogram = np.column_stack([members @ values, np.diff(members.indptr)])
        below = np.cumsum(histogram, axis=0) - histogram
        total = np.add.reduceat(histogram, starts, axis=0)
        which = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(histogram))))
        known = total[which]
        high = known - (below - below[starts][which])
        return (
            high[:, :-1],
            known[:, :-1],
            np.rint(high[:, -1]).astype(int),
            np.rint(known[:, -1]).astype(int),
        )

    def branches(self, rows: IntArray, candidates: IntArray) -> IntArray:
        """Return every member's answer to every candidate: 0 at least, 1 below, 2 unknown, [n, n_members]."""
        own = self.codes[rows].tocsc()
        found = np.full((len(candidates), len(rows)), 2)
        for number, candidate in enumerate(candidates):
            start, end = own.indptr[self.feature[candidate] : self.feature[candidate] + 2]
            found[number, own.indices[start:end]] = np.where(own.data[start:end] > candidate, 0, 1)
        return found
