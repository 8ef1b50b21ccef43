"""olLambdaRank: olRankNet whose pairs count by what swapping them would change at the top."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankloop.policies.olranknet import OlRankNet
from rankloop.policies.pairloss import fair_share, surprise
from rankloop.types import BoolArray, FloatArray, IntArray, SettingError


@dataclass(kw_only=True, eq=False)
class OlLambdaRank(OlRankNet):
    r"""Learns most from the pairs that matter most for the top of its list.

    The slope of every pair is multiplied by $|\Delta \text{nDCG@10}|$: by how much the nDCG@10 of the list
    would change if the two were swapped. The list is that of the documents learned from, and its gains are
    the clicks. All pairs of a list together count as much as they do in `OlRankNet`, and the rest is
    `OlRankNet`.

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

    name: ClassVar[str] = "ollambdarank"

    draws: int = 16

    def __post_init__(self) -> None:
        """Refuse fewer draws than none."""
        super().__post_init__()
        if type(self.draws) is not int or self.draws < 0:
            raise SettingError(f"draws must be a whole number of at least 0, found {self.draws}")

    def _weigh(self, scores: FloatArray, wins: BoolArray, seeds: IntArray) -> FloatArray:
        gains = np.where(wins.any(axis=-1), 1.0, 0.0)
        drawn = changes(scores + self._luck(wins, seeds), wins, gains).mean(axis=0)
        return surprise(scores, wins) * as_much_together(drawn, fair_share(wins) * wins)

    def _luck(self, wins: BoolArray, seeds: IntArray) -> FloatArray:
        """What is added to the scores before each draw's list is sorted, [draws, n_lists, n].

        Noise by Gumbel's law makes it a list by Plackett and Luce's. A list meets the same luck whenever it
        is learned from.
        """
        luck = np.zeros((max(self.draws, 1), *wins.shape[:-1]))
        if self.draws:
            for number, (won, seed) in enumerate(zip(wins, seeds.tolist(), strict=True)):
                listed = won.any(axis=-1) | won.any(axis=-2)
                rng = np.random.default_rng((seed, 3))
                luck[:, number, listed] = rng.gumbel(size=(self.draws, np.count_nonzero(listed)))
        return luck


def lambdas(scores: FloatArray, wins: BoolArray, gains: FloatArray) -> FloatArray:
    r"""The weighted slope of every win: $\sigma(s_j - s_i)\,|\Delta \text{nDCG@10}|$ if $i$ won against $j$.

    Documents that neither won nor lost are not in the list.

    >>> wins = np.array([[False, True], [False, False]])
    >>> lambdas(np.zeros(2), wins, np.array([1.0, 0.0]))[0].round(4).tolist()  # (1 - 1 / log2(3)) / 2
    [0.0, 0.1845]
    """
    return surprise(scores, wins) * changes(scores, wins, gains)


def changes(scores: FloatArray, wins: BoolArray, gains: FloatArray) -> FloatArray:
    r"""$|\Delta \text{nDCG@10}|$ of every win, 0 elsewhere; only documents that won or lost are listed."""
    listed = wins.any(axis=-1) | wins.any(axis=-2)
    return swap_changes(np.where(listed, scores, -np.inf), gains) * wins


def as_much_together(weights: FloatArray, others: FloatArray) -> FloatArray:
    """Weights of the pairs of each list, scaled so that their sum is that of the others.

    >>> as_much_together(np.array([[0.0, 0.2], [0.6, 0.0]]), np.array([[0.0, 1.0], [1.0, 0.0]])).tolist()
    [[0.0, 0.5], [1.5, 0.0]]
    """
    found, wanted = (each.sum(axis=(-2, -1), keepdims=True) for each in (weights, others))
    scaled: FloatArray = weights * (wanted / np.where(found > 0, found, 1))
    return scaled


def swap_changes(scores: FloatArray, gains: FloatArray, *, k: int = 10) -> FloatArray:
    r"""By how much nDCG@k would change if two documents of the list sorted by score were swapped.

    $|g_i - g_j| \cdot |d_i - d_j| \,/\, \text{ideal DCG}$ for all pairs, [..., n, n], with gains $g$ and the
    discounts $d = 1 / \log_2(1 + \text{rank})$, which are 0 beyond rank $k$. A list without gains has no
    nDCG, and nothing changes it.

    >>> swap_changes(np.array([2.0, 1.0]), np.array([0.0, 1.0])).round(4)[0].tolist()  # 1 - 1 / log2(3)
    [0.0, 0.3691]
    """
    rank = (-scores).argsort(axis=-1, kind="stable").argsort(axis=-1)
    n = scores.shape[-1]
    discounts = np.where(np.arange(n) < k, 1 / np.log2(2 + np.arange(n)), 0)
    ideal = (-np.sort(-gains, axis=-1) * discounts).sum(axis=-1)[..., None, None]
    shown = discounts[rank]
    differences: FloatArray = np.abs(gains[..., :, None] - gains[..., None, :]) * np.abs(
        shown[..., :, None] - shown[..., None, :]
    )
    return differences / np.where(ideal > 0, ideal, 1)
