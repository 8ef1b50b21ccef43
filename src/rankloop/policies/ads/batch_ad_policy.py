"""What ad policies that are trained in batches share: kept rows, a schedule of fits, ε-greedy choice."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankloop.errors import SettingError
from rankloop.exploration import epsilon_greedy_propensities
from rankloop.learning.item_keys import KeyArray
from rankloop.learning.rows import draw_negatives, kept
from rankloop.policies.ads.ad_policy import SelectionPolicy, check_rows, rows_of
from rankloop.state_fields import state
from rankloop.types import Array, BoolArray, FloatArray, IntArray, Query


@dataclass(kw_only=True, eq=False)
class BatchSelection(SelectionPolicy):
    r"""Keeps the rows of its log, and fits every ad to its own rows now and then.

    A fit comes after `batch` new rows, and after so many that the log has grown by the share `growth` since
    the last: its cost over all rows stays a constant. Of clicks and of other rows the last `memory` each are
    kept. With `undersample`, an ad is fitted to so many rows without a click for each with one, drawn
    at random. What is best is shown with probability $1 - \epsilon$, every other with $\epsilon / (K - 1)$.
    An ad that has no click, or nothing but clicks, is never the best.
    """

    item_arrays: ClassVar[tuple[str, ...]] = ("ready",)

    epsilon: float = 0.1
    undersample: float | None = None
    batch: int = 20
    growth: float = 0.25
    memory: int = 100_000
    seed: int = 0
    ready: BoolArray = state((0,), np.bool_, feature_axes=())
    clicked: FloatArray = state((0, 0), feature_axes=(1,), rewritten=True)  # contexts of clicks
    clicked_ads: KeyArray = state((0,), np.uint64, feature_axes=(), rewritten=True)
    passed: FloatArray = state((0, 0), feature_axes=(1,), rewritten=True)  # contexts without a click
    passed_ads: KeyArray = state((0,), np.uint64, feature_axes=(), rewritten=True)
    counts: IntArray = state((2,), np.int64, feature_axes=())  # rows ever without a click, and with one
    fitted: Array = state(dtype=np.int64)  # rows there were at the last fit

    def __post_init__(self) -> None:
        """Refuse what is no probability, share or size."""
        super().__post_init__()
        if not 0 <= self.epsilon <= 1:
            raise SettingError(f"epsilon must be between 0 and 1, found {self.epsilon}")
        if self.undersample is not None and not 0 < self.undersample < np.inf:
            raise SettingError(
                f"undersample must be rows without a click for each click, or None, found {self.undersample}"
            )
        if not 0 <= self.growth < np.inf:
            raise SettingError(f"growth must be a share of 0 or more, found {self.growth}")
        for name, least in (("batch", 1), ("memory", 1), ("seed", 0)):
            value = getattr(self, name)
            if type(value) is not int or value < least:
                raise SettingError(f"{name} must be a whole number of at least {least}, found {value}")

    def propensities(self, query: Query) -> FloatArray:
        """1 - ε for the best; what an ad cannot be best for yet, it is shown for by chance."""
        return epsilon_greedy_propensities(self.score(query), self.epsilon)

    @property
    def n_context(self) -> int:
        """How many features of a context are known."""
        return int(self.clicked.shape[1])

    def learn_rows(self, contexts: FloatArray, keys: KeyArray, clicks: BoolArray) -> None:
        """Keep the rows; fit all ads if it is time."""
        check_rows(contexts, keys, clicks, self.n_context)
        if not self.n_context:
            self._widen_from_nothing(contexts.shape[1])
        self.add_items(keys)
        passed, clicked = self.counts.tolist()
        self.clicked = kept(self.clicked, clicked, contexts[clicks], self.memory)
        self.clicked_ads = kept(self.clicked_ads, clicked, keys[clicks], self.memory)
        self.passed = kept(self.passed, passed, contexts[~clicks], self.memory)
        self.passed_ads = kept(self.passed_ads, passed, keys[~clicks], self.memory)
        self.counts = self.counts + np.array([(~clicks).sum(), clicks.sum()])
        if self.counts.sum() >= self.fitted + max(self.batch, self.growth * int(self.fitted)):
            self.fit()

    def fit(self) -> None:
        """Fit every ad to its rows now."""
        passed, clicked = np.minimum(self.counts, self.memory).tolist()
        fits = []
        for index, key in enumerate(self.keys.tolist()):
            positive = self.clicked[rows_of(self.clicked_ads[:clicked], key)]
            rows = self.passed[rows_of(self.passed_ads[:passed], key)]
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
            if each.name in ("clicked", "passed"):
                setattr(self, each.name, np.zeros((len(getattr(self, each.name)), width)))
