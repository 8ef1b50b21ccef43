"""What ad policies that are trained in batches share: kept rows, a schedule of fits, ε-greedy choice."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankloop.bounds import Count, Natural, NonNegative, Positive, Probability
from rankloop.exploration import epsilon_greedy_propensities
from rankloop.learning.item_keys import KeyArray
from rankloop.learning.rows import draw_negatives, keep_rows
from rankloop.policies.ads.ad_policy import AdPolicy, check_rows, rank_unready_last, rows_of
from rankloop.state_fields import state
from rankloop.types import Array, BoolArray, FloatArray, IntArray, Query


@dataclass(kw_only=True, eq=False)
class BatchAdPolicy(AdPolicy):
    r"""Keeps the rows of its log, and fits every ad to its own rows now and then.

    A fit comes after `batch` new rows, and after so many that the log has grown by the share `growth` since
    the last: its cost over all rows stays a constant. Of clicks and of other rows the last `memory` each are
    kept. With `undersample`, an ad is fitted to so many rows without a click for each with one, drawn
    at random. What is best is shown with probability $1 - \epsilon$, every other with $\epsilon / (K - 1)$.
    An ad that has no click, or nothing but clicks, is never the best.
    """

    item_arrays: ClassVar[tuple[str, ...]] = ("ready",)

    epsilon: Probability = 0.1
    undersample: Positive | None = None
    batch: Count = 20
    growth: NonNegative = 0.25
    memory: Count = 100_000
    seed: Natural = 0
    ready: BoolArray = state((0,), np.bool_, feature_axes=())
    rows_with_click: FloatArray = state((0, 0), feature_axes=(1,), rewritten=True)  # contexts
    ads_with_click: KeyArray = state((0,), np.uint64, feature_axes=(), rewritten=True)
    rows_without_click: FloatArray = state(
        (0, 0), feature_axes=(1,), rewritten=True
    )  # contexts without a click
    ads_without_click: KeyArray = state((0,), np.uint64, feature_axes=(), rewritten=True)
    counts: IntArray = state((2,), np.int64, feature_axes=())  # rows ever without a click, and with one
    fitted: Array = state(dtype=np.int64)  # rows there were at the last fit

    def propensities(self, query: Query) -> FloatArray:
        """1 - ε for the best; what an ad cannot be best for yet, it is shown for by chance."""
        return epsilon_greedy_propensities(self.score(query), self.epsilon)

    @property
    def n_context(self) -> int:
        """How many features of a context are known."""
        return int(self.rows_with_click.shape[1])

    def learn_rows(self, contexts: FloatArray, keys: KeyArray, clicks: BoolArray) -> None:
        """Keep the rows; fit all ads if it is time."""
        check_rows(contexts, keys, clicks, self.n_context)
        if not self.n_context:
            self._widen_from_nothing(contexts.shape[1])
        self.add_items(keys)
        without, clicked = self.counts.tolist()
        self.rows_with_click = keep_rows(self.rows_with_click, clicked, contexts[clicks], self.memory)
        self.ads_with_click = keep_rows(self.ads_with_click, clicked, keys[clicks], self.memory)
        self.rows_without_click = keep_rows(self.rows_without_click, without, contexts[~clicks], self.memory)
        self.ads_without_click = keep_rows(self.ads_without_click, without, keys[~clicks], self.memory)
        self.counts = self.counts + np.array([(~clicks).sum(), clicks.sum()])
        if self.counts.sum() >= self.fitted + max(self.batch, self.growth * int(self.fitted)):
            self.fit()

    def fit(self) -> None:
        """Fit every ad to its rows now."""
        without, clicked = np.minimum(self.counts, self.memory).tolist()
        fits = []
        for index, key in enumerate(self.keys.tolist()):
            positive = self.rows_with_click[rows_of(self.ads_with_click[:clicked], key)]
            rows = self.rows_without_click[rows_of(self.ads_without_click[:without], key)]
            negative = draw_negatives(rows, len(positive), share=self.undersample, seed=self.seed)
            fits.append((index, positive, negative))
        self.ready = np.array([len(positive) > 0 and len(negative) > 0 for _, positive, negative in fits])
        self._fit_ads([each for each in fits if self.ready[each[0]]])
        self.fitted = self.counts.sum()

    @abstractmethod
    def _fit_ads(self, fits: list[tuple[int, FloatArray, FloatArray]]) -> None:
        """Fit ads to their rows: the number of each, contexts with a click, contexts without."""

    def _widen_from_nothing(self, width: int) -> None:
        """Contexts so far had no features: it is as if they had been 0."""
        for each in self._state_fields():
            if each.name in ("rows_with_click", "rows_without_click"):
                setattr(self, each.name, np.zeros((len(getattr(self, each.name)), width)))


@dataclass(kw_only=True, eq=False)
class LinearAdPolicy(BatchAdPolicy):
    r"""Scores an ad by $a (w \cdot x) - b$, with weights, slope and offset of its own."""

    item_arrays: ClassVar[tuple[str, ...]] = ("ready", "weights", "slopes", "offsets")

    regularisation: Positive = 0.01
    weights: FloatArray = state((0, 0), feature_axes=(1,))
    slopes: FloatArray = state((0,), feature_axes=())
    offsets: FloatArray = state((0,), feature_axes=())

    def score(self, query: Query) -> FloatArray:
        """How far above its threshold each ad is; those that cannot be the best yet are below all others."""
        weights, slopes, offsets, ready = self.values_of(query, "weights", "slopes", "offsets", "ready")
        scores = slopes * (weights @ self._context(query)) - offsets
        return rank_unready_last(scores, ready.astype(np.bool_))

    def scores_of(self, contexts: FloatArray) -> FloatArray:
        """Score all ads met, for many contexts at once: [n, n_ads]; not ready: minus infinity."""
        scores = self.slopes * (contexts @ self.weights.T) - self.offsets
        return np.where(self.ready, scores, -np.inf)

    def explain_scores(self, query: Query) -> FloatArray:
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
