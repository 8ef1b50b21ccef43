"""Blocks of evidence: what a row of alternating least squares is explained by, each kind with its weight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from rankloop.errors import SettingError
from rankloop.recommend.least_squares import Shared
from rankloop.recommend.reviews import SparseArray
from rankloop.types import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Which entries of one kind every row has, the entries' vectors, and how much the kind counts."""

    rows: SparseArray  # [n_rows, n_entries] ones
    factors: FloatArray  # [n_entries, d]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Ridge:
    r"""The implicit objective of a row with several blocks.

    $\sum_b c_b \left( \sum_{e \in b} (1 - u^\top f_e)^2 + w_0 \sum_{\text{all of } b} (p_e - u^\top f_e)^2
    \right) + \lambda \sum_b c_b (n_b + w_0 N_b) \lVert u - p \rVert^2$: observed entries weigh 1, all entries
    $w_0$, and a row is drawn to its prior (0, if there is none) by as much as it could have observed.
    """

    regularisation: float  # λ
    unobserved: float  # w0

    def __post_init__(self) -> None:
        """Refuse weights with which a row without observations has no solution."""
        if not (0 < self.regularisation < np.inf and 0 < self.unobserved < np.inf):
            raise SettingError(
                "regularisation and unobserved must be positive numbers, "
                f"found {self.regularisation} and {self.unobserved}"
            )

    def gram(self, blocks: Sequence[Block]) -> FloatArray:
        """The part of the normal equations that all rows share, [d, d]."""
        return np.asarray(
            self.unobserved * sum(block.weight * (block.factors.T @ block.factors) for block in blocks)
        )

    def penalty(self, blocks: Sequence[Block]) -> FloatArray:
        """How strongly each row is drawn to its prior, [n_rows]."""
        counts = (
            block.weight * (np.diff(block.rows.indptr) + self.unobserved * block.rows.shape[1])
            for block in blocks
        )
        return np.asarray(self.regularisation * sum(counts))

    def solve(
        self, blocks: Sequence[Block], *, prior: FloatArray | None = None, strength: float = 1.0
    ) -> FloatArray:
        """The best vector of every row, [n_rows, d]; `strength` is ρ, a factor of the penalty."""
        rows = sparse.hstack([block.rows * block.weight for block in blocks], format="csr")
        shared = Shared.make(np.vstack([block.factors for block in blocks]), self.gram(blocks))
        return shared.solve(rows, rows.data * (1 + self.unobserved), strength * self.penalty(blocks), prior)
