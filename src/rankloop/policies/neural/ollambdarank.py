"""olLambdaRank: olRankNet whose pairs count by what swapping them would change at the top."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankloop.bounds import Natural
from rankloop.learning.delta_ndcg import delta_of_wins, rescale_to_total
from rankloop.learning.pair_loss import matching_shares, pair_residuals
from rankloop.policies.neural.olranknet import OlRankNet
from rankloop.types import BoolArray, FloatArray, IntArray


@dataclass(kw_only=True, eq=False)
class OlLambdaRank(OlRankNet):
    r"""Learns most from the pairs that matter most for the top of its list.

    The slope of every pair is multiplied by $|\Delta \text{nDCG@10}|$: by how much the nDCG@10 of the list
    would change if the two were swapped. The list is that of the documents learned from, and its gains are
    the clicks. If `balanced`, all pairs of a list together count as much as they do in `OlRankNet`; otherwise
    as LambdaRank has it, by which a list with its clicks on top hardly counts. The rest is `OlRankNet`.

    In which order is the list? By the present scores; but they are unsure, and a network that has yet to
    learn who belongs on top should not learn most about whom it happens to have there. So the change is the
    mean over `draws` lists drawn from the scores by Plackett and Luce's model, in which $i$ stands above $j$
    with the very probability $\sigma(s_i - s_j)$ that is being learned. While nothing is known all pairs
    count alike, and the surer the scores, the more the top counts. `draws=0` sorts by the scores, as
    LambdaRank does.

    >>> from rankloop.scorers import MLP
    >>> from rankloop.types import Feedback, Query
    >>> policy, query = OlLambdaRank(scorer=MLP(16)), Query("q", np.eye(3))
    >>> for seed in range(200):  # document 2 is always clicked
    ...     shown = policy.rank(query, k=3, rng=np.random.default_rng(seed))
    ...     policy.learn(Feedback(shown, shown.order == 2))
    >>> policy.certain_orders(query)[2].tolist()  # 2 belongs above 0 and above 1
    [True, True, False]

    Burges: From RankNet to LambdaRank to LambdaMART: an overview. Microsoft Research, 2010. Jia, Wang:
    Learning neural ranking models online from implicit user feedback. WWW 2022.
    """

    draws: Natural = 16
    balanced: bool = True

    def _weigh(self, scores: FloatArray, wins: BoolArray, seeds: IntArray) -> FloatArray:
        gains = np.where(wins.any(axis=-1), 1.0, 0.0)
        drawn = delta_of_wins(scores + self._gumbel_noise(wins, seeds), wins, gains).mean(axis=0)
        weights = rescale_to_total(drawn, matching_shares(wins) * wins) if self.balanced else drawn
        return pair_residuals(scores, wins) * weights

    def _gumbel_noise(self, wins: BoolArray, seeds: IntArray) -> FloatArray:
        """Draw what is added to the scores before each draw's list is sorted, [draws, n_lists, n].

        Noise by Gumbel's law makes it a list by Plackett and Luce's. A list meets the same noise whenever it
        is learned from.
        """
        noise = np.zeros((max(self.draws, 1), *wins.shape[:-1]))
        if self.draws:
            for number, (won, seed) in enumerate(zip(wins, seeds.tolist(), strict=True)):
                listed = won.any(axis=-1) | won.any(axis=-2)
                rng = np.random.default_rng((seed, 3))
                noise[:, number, listed] = rng.gumbel(size=(self.draws, np.count_nonzero(listed)))
        return noise
