"""AUC ranker: for each ad a ranker of visitors, made comparable by a threshold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankloop.learning.auc import fit_auc
from rankloop.learning.thresholds import THRESHOLDS, ThresholdName
from rankloop.policies.ads.batch_ad_policy import LinearAdPolicy
from rankloop.types import FloatArray


@dataclass(kw_only=True, eq=False)
class AUCRanker(LinearAdPolicy):
    r"""Learns for each ad to rank those who click above those who do not, however few they are.

    $$\min_{w_a} \frac{1}{|S_a^+| |S_a^-|} \sum_{x^+ \in S_a^+} \sum_{x^- \in S_a^-}
    \log\left(1 + e^{-w_a \cdot (x^+ - x^-)}\right) + \frac{\lambda}{2} \lVert w_a \rVert^2,
    \qquad \pi(x) = \arg\max_a\, (w_a \cdot x - s_a)$$

    The threshold $s_a$ is chosen on the same rows, by the best F1 or as Platt does: without one, an ad whose
    scores are all high would win everywhere. A loss over pairs does not care how rare clicks are.

    >>> from rankloop.lab.data import load
    >>> from rankloop.lab.users import AdUser
    >>> train, policy, rng = load("ads").train, AUCRanker(), np.random.default_rng(0)
    >>> clicks = 0
    >>> for judged in train:
    ...     feedback = AdUser().respond(policy.rank(judged.query, k=1, rng=rng), judged.relevance, rng)
    ...     clicks += int(feedback.clicks[0])
    ...     policy.learn(feedback)
    >>> clicks > 3 * len(train) / 8  # three times as many as by chance
    True

    Chaudhuri: Learning to rank: online learning, statistical theory and applications. PhD thesis, University
    of Michigan 2016, chapter 5.
    """

    threshold: ThresholdName = "best-f1"

    def _fit_ad(
        self, positive: FloatArray, negative: FloatArray, start: FloatArray
    ) -> tuple[FloatArray, float, float]:
        weights = fit_auc(positive, negative, self.regularisation, start)
        scores = np.concatenate((positive @ weights, negative @ weights))
        clicks = np.arange(scores.size) < len(positive)
        return weights, *THRESHOLDS[self.threshold](scores, clicks)
