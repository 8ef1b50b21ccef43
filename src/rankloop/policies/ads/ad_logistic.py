"""Logistic one-vs-all: for each ad a classifier of who clicks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankloop.learning.click_regression import fit_clicks
from rankloop.policies.ads.batch_ad_policy import LinearAdPolicy
from rankloop.types import FloatArray


@dataclass(kw_only=True, eq=False)
class AdLogistic(LinearAdPolicy):
    r"""Learns for each ad how probable a click is, and shows the ad with the highest odds.

    $$\min_{w_a, b_a} \frac{1}{n_a} \sum_i \log\left(1 + e^{-y_i (w_a \cdot x_i + b_a)}\right)
    + \frac{\lambda}{2} \lVert w_a \rVert^2, \qquad \pi(x) = \arg\max_a\, (w_a \cdot x + b_a)$$

    >>> from rankloop.types import Context, Feedback, Query, Ranking
    >>> policy = AdLogistic()
    >>> for x in (0.0, 1.0) * 20:
    ...     query = Query("visitor", np.empty((2, 0)), ("tea", "coffee"), context=Context("", np.array([x])))
    ...     policy.learn(Feedback(Ranking(query, np.array([0])), np.array([x > 0.5])))
    ...     policy.learn(Feedback(Ranking(query, np.array([1])), np.array([x < 0.5])))
    >>> int(policy.score(query).argmax())  # the last visitor likes tea
    0

    Richardson, Dominowska, Ragno: Predicting clicks: estimating the click-through rate for new ads. WWW 2007.
    """

    def _fit_ad(
        self, positive: FloatArray, negative: FloatArray, start: FloatArray
    ) -> tuple[FloatArray, float, float]:
        rows = np.concatenate((positive, negative))
        clicks = np.arange(len(rows)) < len(positive)
        odds = np.log(len(positive) / len(negative))
        line = fit_clicks(rows, clicks, self.regularisation, np.concatenate(([odds], start)))
        return line[1:], 1.0, -float(line[0])
