"""Ridge regressions of many sparse rows on shared factors: the half-step of alternating least squares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import sparse

from rankloop.bounds import Positive, check_settings
from rankloop.recommend.reviews import SparseArray
from rankloop.types import FloatArray, IntArray

BATCH = 4_000_000  # numbers in a batch of small systems


@dataclass(frozen=True, slots=True, eq=False)
class EvidenceBlock:
    """Which entries of one kind every row has, the entries' vectors, and how much the kind counts."""

    rows: SparseArray  # [n_rows, n_entries] ones
    factors: FloatArray  # [n_entries, d]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class RowRidge:
    r"""The implicit objective of a row with several blocks.

    $\sum_b c_b \left( \sum_{e \in b} (1 - u^\top f_e)^2 + w_0 \sum_{\text{all of } b} (p_e - u^\top f_e)^2
    \right) + \lambda \sum_b c_b (n_b + w_0 N_b) \lVert u - p \rVert^2$: observed entries weigh 1, all entries
    $w_0$, and a row is drawn to its prior (0, if there is none) by as much as it could have observed.
    """

    regularisation: Positive  # λ
    unobserved: Positive  # w0

    def __post_init__(self) -> None:
        """Refuse weights with which a row without observations has no solution."""
        check_settings(self)

    def gram(self, blocks: Sequence[EvidenceBlock]) -> FloatArray:
        """Return the part of the normal equations that all rows share, [d, d]."""
        return np.asarray(
            self.unobserved * sum(block.weight * (block.factors.T @ block.factors) for block in blocks)
        )

    def penalty(self, blocks: Sequence[EvidenceBlock]) -> FloatArray:
        """Return how strongly each row is drawn to its prior, [n_rows]."""
        counts = (
            block.weight * (np.diff(block.rows.indptr) + self.unobserved * block.rows.shape[1])
            for block in blocks
        )
        return np.asarray(self.regularisation * sum(counts))

    def solve(
        self, blocks: Sequence[EvidenceBlock], *, prior: FloatArray | None = None, strength: float = 1.0
    ) -> FloatArray:
        """Return the best vector of every row, [n_rows, d]; `strength` is a factor of the penalty."""
        rows = sparse.hstack([block.rows * block.weight for block in blocks], format="csr")
        shared = SharedBasis.of(np.vstack([block.factors for block in blocks]), self.gram(blocks))
        return shared.solve(rows, rows.data * (1 + self.unobserved), strength * self.penalty(blocks), prior)


@dataclass(frozen=True, slots=True, eq=False)
class SharedBasis:
    r"""Factors that rows are regressed on, in the basis in which the part that all rows share is diagonal.

    $A_i = G + \sum_{e \in i} w_e f_e f_e^\top + \rho_i I$ with the same $G = Q \Lambda Q^\top$ for all
    rows. In the basis $Q$, a row with fewer observations than dimensions is solved by Woodbury's identity
    at the size of its observations.
    """

    factors: FloatArray  # [n_entries, d] F Q
    basis: FloatArray  # [d, d] Q
    spectrum: FloatArray  # [d] Λ

    @classmethod
    def of(cls, factors: FloatArray, gram: FloatArray) -> Self:
        """Rotate the factors into the eigenvectors of the shared part."""
        spectrum, basis = np.linalg.eigh(gram)
        return cls(factors @ basis, basis, np.maximum(spectrum, 0.0))

    def solve(
        self, rows: SparseArray, lift: FloatArray, penalty: FloatArray, prior: FloatArray | None = None
    ) -> FloatArray:
        r"""$A_i^{-1} (\sum_e l_e f_e + \rho_i p_i)$ of every row, [n_rows, d].

        `rows` has the weights $w_e$, `lift` the $l_e$ in the order of their cells, `prior` the $p_i$; a row
        without a prior is drawn to 0.
        """
        drawn = 0.0 if prior is None else penalty[:, None] * (prior @ self.basis)
        target = np.zeros((rows.shape[0], len(self.spectrum))) + drawn
        counts = np.diff(rows.indptr)
        for count in np.unique(counts):
            same = np.flatnonzero(counts == count)
            step = max(BATCH // (max(int(count), 1) * len(self.spectrum)), 1)
            for start in range(0, len(same), step):
                part = same[start : start + step]
                target[part] = self._solve(rows, lift, penalty[part], target[part], part, int(count))
        return np.asarray(target @ self.basis.T)

    def _solve(
        self,
        rows: SparseArray,
        lift: FloatArray,
        penalty: FloatArray,
        drawn: FloatArray,
        part: IntArray,
        count: int,
    ) -> FloatArray:
        """The solutions of rows with equally many observations."""
        cells = rows.indptr[part][:, None] + np.arange(count)
        seen, weight = self.factors[rows.indices[cells]], rows.data[cells]  # [n, count, d], [n, count]
        goal = drawn + np.einsum("ne,ned->nd", lift[cells], seen)
        diagonal = self.spectrum + penalty[:, None]
        if count >= len(self.spectrum):
            matrix = np.matmul(seen.transpose(0, 2, 1) * weight[:, None, :], seen)
            matrix[:, np.arange(len(self.spectrum)), np.arange(len(self.spectrum))] += diagonal
            return np.asarray(np.linalg.solve(matrix, goal[..., None])[..., 0])
        start = goal / diagonal
        if not count:
            return np.asarray(start)
        root = np.sqrt(weight)[..., None] * seen
        light = root / diagonal[:, None, :]
        kernel = np.matmul(light, root.transpose(0, 2, 1)) + np.eye(count)
        inner = np.linalg.solve(kernel, np.einsum("ned,nd->ne", root, start)[..., None])[..., 0]
        return np.asarray(start - np.einsum("ned,ne->nd", light, inner))
