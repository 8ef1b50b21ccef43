"""LambdaRank trained on labels before its first round: a skyline."""

from __future__ import annotations

from dataclasses import dataclass

from rankloop.lab.baselines.offline_ranknet import OfflineRankNet
from rankloop.learning.delta_ndcg import lambdas
from rankloop.types import BoolArray, FloatArray


@dataclass(kw_only=True, eq=False)
class OfflineLambdaRank(OfflineRankNet):
    r"""LambdaRank trained on labels: pairs count by the nDCG@10 that swapping them would change.

    The rest is `OfflineRankNet`.

    >>> OfflineLambdaRank(steps=500, queries=8).warm_up  # judged lists, before the first round
    4000

    Burges: From RankNet to LambdaRank to LambdaMART: an overview. Microsoft Research, 2010.
    """

    def _weigh(self, scores: FloatArray, wins: BoolArray, gains: FloatArray) -> FloatArray:
        return lambdas(scores, wins, gains)
