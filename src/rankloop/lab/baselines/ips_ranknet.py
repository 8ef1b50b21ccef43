"""IPS-RankNet: a pairwise ranker on logged clicks, each weighed by how seldom its position is examined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankloop.exposure import LOOK
from rankloop.exposure.examination import Looks, check_looks, position_looks
from rankloop.lab.baselines.click_weights import inverse_weights, pair_votes
from rankloop.lab.baselines.counterfactual import CounterfactualPolicy
from rankloop.types import BoolArray, Feedback, FloatArray


@dataclass(kw_only=True, eq=False)
class IPSRankNet(CounterfactualPolicy):
    r"""Learns from logged clicks, with the examination of positions taken as known.

    If position $p$ is examined with probability $P(p)$, the loss

    $$-\sum_{i:\, c_i = 1} \frac{P(1)}{P(p_i)} \sum_{j \neq i} \log \sigma(s_i - s_j)$$

    over the results shown is, on average, that of a user who looks at everything. `looks` are the $P(p)$:
    in a sweep also `"measured"` on lists in random order.

    >>> from rankloop.types import Query
    >>> policy, query = IPSRankNet(), Query("q", np.eye(3), base=np.array([3.0, 2.0, 1.0]))
    >>> for seed in range(50):  # document 0 is always on top; clicked is document 1
    ...     shown = policy.rank(query, k=3, rng=np.random.default_rng(seed))
    ...     policy.learn(Feedback(shown, shown.order == 1))
    >>> int(policy.score(query).argmax())
    1

    Joachims, Swaminathan, Schnabel: Unbiased learning-to-rank with biased feedback. WSDM 2017.
    """

    name: ClassVar[str] = "ips-ranknet"

    looks: Looks = "log2"

    def __post_init__(self) -> None:
        """Refuse looks that no examination could have."""
        super().__post_init__()
        check_looks(self.looks)

    def learn(self, feedback: Feedback) -> None:
        """Refuse a list longer than the looks that are known, before anything is remembered."""
        position_looks(self.looks, len(feedback.ranking))
        super().learn(feedback)

    def _votes(self, scores: FloatArray, clicks: BoolArray, shown: BoolArray) -> FloatArray:
        looks = position_looks(self.looks, clicks.shape[1]) / LOOK
        with np.errstate(divide="ignore"):  # a click where nobody looks counts as much as any may
            weights = inverse_weights(np.log(looks), self.clip)
        return pair_votes(scores, clicks * weights, shown)
