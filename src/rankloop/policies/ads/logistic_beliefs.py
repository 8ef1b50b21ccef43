"""What ad policies with a Bayesian logistic regression for each ad share."""

from __future__ import annotations

from dataclasses import dataclass

from rankloop.learning.logistic import online_newton
from rankloop.policies.ads.belief_ad_policy import BeliefSelection
from rankloop.types import FloatArray


@dataclass(kw_only=True, eq=False)
class LogisticBeliefs(BeliefSelection):
    """Takes in every row by one implicit step, which takes the past as a quadratic and the row as it is."""

    def _step(
        self, mean: FloatArray, covariance: FloatArray, x: FloatArray, clicked: bool
    ) -> tuple[FloatArray, FloatArray]:
        row = x if clicked else -x  # a logistic loss knows one label: that the row speaks for the weights
        return online_newton(mean, covariance, row[None])
