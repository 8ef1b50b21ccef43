"""What ad policies with a linear score for each ad share."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankloop.errors import SettingError
from rankloop.policies.ads.ad_policy import below_all
from rankloop.policies.ads.batch_ad_policy import BatchSelection
from rankloop.state_fields import state
from rankloop.types import FloatArray, Query


@dataclass(kw_only=True, eq=False)
class LinearSelection(BatchSelection):
    r"""Scores an ad by $a (w \cdot x) - b$, with weights, slope and offset of its own."""

    item_arrays: ClassVar[tuple[str, ...]] = ("ready", "weights", "slopes", "offsets")

    regularisation: float = 0.01
    weights: FloatArray = state((0, 0), feature_axes=(1,))
    slopes: FloatArray = state((0,), feature_axes=())
    offsets: FloatArray = state((0,), feature_axes=())

    def __post_init__(self) -> None:
        """Refuse a penalty that is none."""
        super().__post_init__()
        if not 0 < self.regularisation < np.inf:
            raise SettingError(f"regularisation must be positive, found {self.regularisation}")

    def score(self, query: Query) -> FloatArray:
        """How far above its threshold each ad is; those that cannot be the best yet are below all others."""
        weights, slopes, offsets, ready = self.values_of(query, "weights", "slopes", "offsets", "ready")
        scores = slopes * (weights @ self._context(query)) - offsets
        return below_all(scores, ready.astype(np.bool_))

    def scores_of(self, contexts: FloatArray) -> FloatArray:
        """The scores of all ads met, for many contexts at once: [n, n_ads]; not ready: minus infinity."""
        scores = self.slopes * (contexts @ self.weights.T) - self.offsets
        return np.where(self.ready, scores, -np.inf)

    def contributions(self, query: Query) -> FloatArray:
        """Slope times weight times feature."""
        weights, slopes, ready = self.values_of(query, "weights", "slopes", "ready")
        return np.asarray((slopes * ready)[:, None] * weights * self._context(query))

    def _fit_ads(self, fits: list[tuple[int, FloatArray, FloatArray]]) -> None:
        weights, slopes, offsets = self.weights.copy(), self.slopes.copy(), self.offsets.copy()
        for index, positive, negative in fits:
            weights[index], slopes[index], offsets[index] = self._fit_ad(positive, negative, weights[index])
        self.weights, self.slopes, self.offsets = weights, slopes, offsets

    @abstractmethod
    def _fit_ad(
        self, positive: FloatArray, negative: FloatArray, start: FloatArray
    ) -> tuple[FloatArray, float, float]:
        """Weights, slope and offset of one ad, from the weights it had."""

    def _widen_from_nothing(self, width: int) -> None:
        super()._widen_from_nothing(width)
        self.weights = np.zeros((len(self.weights), width))
