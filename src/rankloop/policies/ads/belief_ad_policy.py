"""What ad policies that learn row by row share: for each ad a normal belief about a linear score."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankloop.bounds import Positive
from rankloop.learning.item_keys import KeyArray, keys_of
from rankloop.learning.logistic import online_newton
from rankloop.policies.ads.ad_policy import AdPolicy, check_rows
from rankloop.state_fields import padded, state
from rankloop.types import Array, BoolArray, FloatArray, Query


@dataclass(kw_only=True, eq=False)
class BeliefAdPolicy(AdPolicy):
    r"""Believes of each ad's weights, an intercept first, that they are $N(\mu_a, \Sigma_a)$.

    At first all are $N(0, \text{prior} \cdot I)$, so that an ad that was never shown is as unsure as can be.
    """

    item_arrays: ClassVar[tuple[str, ...]] = ("means", "covariances")

    prior: Positive = 1.0
    means: FloatArray = state((0, 1), feature_axes=(1,), leading=1)  # [n_ads, 1 + n_context]
    covariances: FloatArray = state(
        (0, 1, 1), feature_axes=(1, 2), leading=1, new_value=lambda policy: policy.prior
    )
    rows: Array = state(dtype=np.int64)  # learned

    @property
    def n_context(self) -> int:
        """How many features of a context are known."""
        return int(self.means.shape[1]) - 1

    def learn_rows(self, contexts: FloatArray, keys: KeyArray, clicks: BoolArray) -> None:
        """One step for each row."""
        check_rows(contexts, keys, clicks, self.n_context)
        if not self.n_context and contexts.shape[1]:
            self._widen_from_nothing(contexts.shape[1])
        index = self.add_items(keys)
        self.means, self.covariances = self.means.copy(), self.covariances.copy()
        for ad, context, clicked in zip(index.tolist(), contexts, clicks.tolist(), strict=True):
            x = np.concatenate(([1.0], context))
            self.means[ad], self.covariances[ad] = self._step(
                self.means[ad], self.covariances[ad], x, clicked
            )
        self.rows = self.rows + len(clicks)

    @abstractmethod
    def _step(
        self, mean: FloatArray, covariance: FloatArray, x: FloatArray, clicked: bool
    ) -> tuple[FloatArray, FloatArray]:
        """Update the belief by one more row."""

    def score(self, query: Query) -> FloatArray:
        """Give the mean of each ad's score."""
        return self._belief(query)[0]

    def explain_scores(self, query: Query) -> FloatArray:
        """Mean weight times feature; the intercept is the ad's own."""
        (means,) = self.values_of(query, "means")
        return np.asarray(means[:, 1:] * self._context(query))

    def _belief(self, query: Query) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of each candidate's score, [n_docs] and [n_docs]."""
        x = np.concatenate(([1.0], self._context(query)))
        means, covariances = self.values_of(query, "means", "covariances")
        variances = np.einsum("aij,i,j->a", covariances, x, x)
        never = self.find_items(keys_of(query).keys) < 0
        return means @ x, np.where(never, self._fresh_variance(query), variances)

    def _fresh_variance(self, query: Query) -> float:
        features = query.context.features
        return self.prior * (1.0 + float(features @ features))

    def first_value(self, name: str) -> Array:
        """Nothing is believed of a new ad but the prior."""
        width = self.means.shape[1]
        return np.zeros(width) if name == "means" else self.prior * np.eye(width)

    def _widen_from_nothing(self, width: int) -> None:
        self.means = padded(self.means, (1,), width)
        self.covariances = padded(self.covariances, (1, 2), width)
        diagonal = np.arange(1, 1 + width)
        self.covariances[:, diagonal, diagonal] = self.prior


@dataclass(kw_only=True, eq=False)
class LogisticAdPolicy(BeliefAdPolicy):
    """Takes in every row by one implicit step, which takes the past as a quadratic and the row as it is."""

    def _step(
        self, mean: FloatArray, covariance: FloatArray, x: FloatArray, clicked: bool
    ) -> tuple[FloatArray, FloatArray]:
        row = x if clicked else -x  # a logistic loss knows one label: that the row speaks for the weights
        return online_newton(mean, covariance, row[None])


def add_precision(covariance: FloatArray, x: FloatArray, precision: float) -> FloatArray:
    r"""$(\Sigma^{-1} + h x x^\top)^{-1}$, by the formula of Sherman and Morrison.

    >>> add_precision(np.eye(2), np.array([1.0, 0.0]), 3.0).tolist()
    [[0.25, 0.0], [0.0, 1.0]]
    """
    along = covariance @ x
    share = precision / (1.0 + precision * float(x @ along))
    shrunk: FloatArray = covariance - share * np.outer(along, along)
    return shrunk
