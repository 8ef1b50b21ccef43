"""IPS-RankNet: a pairwise ranker on logged clicks, each weighed by how seldom its position is examined."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankloop.exposure import VIEW, Examination, check_examination, views_at
from rankloop.lab.baselines.click_weights import inverse_weights, pair_votes
from rankloop.lab.baselines.counterfactual import CounterfactualPolicy
from rankloop.types import BoolArray, Feedback, FloatArray


@dataclass(kw_only=True, eq=False)
class IPSRankNet(CounterfactualPolicy):
    r"""Learns from logged clicks, with the examination of positions taken as known.

    If position $p$ is examined with probability $P(p)$, the loss

    $$-\sum_{i:\, c_i = 1} \frac{P(1)}{P(p_i)} \sum_{j \neq i} \log \sigma(s_i - s_j)$$

    over the results shown is, on average, that of a user who looks at everything. `examination` has the
    $P(p)$: in a sweep also `"measured"` on lists in random order.

    >>> from rankloop.types import Query
    >>> policy, query = IPSRankNet(), Query("q", np.eye(3), caller_scores=np.array([3.0, 2.0, 1.0]))
    >>> for seed in range(50):  # document 0 is always on top; clicked is document 1
    ...     shown = policy.rank(query, k=3, rng=np.random.default_rng(seed))
    ...     policy.learn(Feedback(shown, shown.order == 1))
    >>> int(policy.score(query).argmax())
    1

    Joachims, Swaminathan, Schnabel: Unbiased learning-to-rank with biased feedback. WSDM 2017.
    """

    examination: Examination = "log2"

    def __post_init__(self) -> None:
        """Refuse what no examination could be."""
        super().__post_init__()
        check_examination(self.examination)

    def learn(self, feedback: Feedback) -> None:
        """Refuse a list longer than the examination that is known, before anything is remembered."""
        views_at(self.examination, len(feedback.ranking))
        super().learn(feedback)

    def _votes(self, scores: FloatArray, clicks: BoolArray, shown: BoolArray) -> FloatArray:
        examined = views_at(self.examination, clicks.shape[1]) / VIEW
        with np.errstate(divide="ignore"):  # a click where nobody looks counts as much as any may
            weights = inverse_weights(np.log(examined), self.clip)
        return pair_votes(scores, clicks * weights, shown)
