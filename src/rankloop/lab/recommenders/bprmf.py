"""BPRMF: a matrix factorization that ranks what was reviewed above what was not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from rankloop.bounds import Count, NonNegative, Positive
from rankloop.recommend.joint_factorization import NegativeSampler
from rankloop.recommend.recommender import FactorModel
from rankloop.recommend.reviews import Reviews
from rankloop.recommend.row_adagrad import RowAdaGrad
from rankloop.types import IntArray


@dataclass(kw_only=True, eq=False)
class BPRMF(FactorModel):
    r"""Pairs $(j, l)$ of a reviewed item and one that is not: $-\ln \sigma(u^\top (v_j - v_l) + b_j - b_l)$.

    Each batch compares reviewed items with the hardest of `hardest` drawn ones, that is with the one of the
    highest score: random negatives are soon too easy to teach anything. With `hardest=1` it is the paper's.

    >>> from rankloop.lab.data.review_data import AccessoryShop
    >>> reviews = AccessoryShop(users=40, items=24).reviews()
    >>> model = BPRMF(d=8, epochs=5).fit(reviews, np.random.default_rng(0))
    >>> model.score_users(np.array([0, 1])).shape
    (2, 24)

    Rendle, Freudenthaler, Gantner, Schmidt-Thieme: BPR: Bayesian personalized ranking from implicit feedback.
    UAI 2009.
    """

    d: Count = 64
    hardest: Count = 32
    regularisation: NonNegative = 0.1
    rate: Positive = 0.05
    batch: Count = 1024
    epochs: Count = 30

    def _learn(self, reviews: Reviews, rng: np.random.Generator) -> None:
        users = np.append(rng.normal(size=(reviews.n_users, self.d)), np.zeros((reviews.n_users, 1)), axis=1)
        items = np.append(rng.normal(size=(reviews.n_items, self.d)), np.zeros((reviews.n_items, 1)), axis=1)
        self.user_factors, self.item_factors = 0.1 * users / np.sqrt(self.d), 0.1 * items / np.sqrt(self.d)
        self.user_factors[:, -1] = 1.0  # so that the last entry of an item is its bias
        steps = RowAdaGrad(self.user_factors, self.rate), RowAdaGrad(self.item_factors, self.rate)
        negatives = NegativeSampler.of(reviews)
        for _ in range(self.epochs):
            order = rng.permutation(len(reviews))
            for start in range(0, len(order), self.batch):
                part = order[start : start + self.batch]
                self._step(steps, negatives, reviews.user[part], reviews.item[part], rng)

    def _step(
        self,
        steps: tuple[RowAdaGrad, RowAdaGrad],
        negatives: NegativeSampler,
        user: IntArray,
        better: IntArray,
        rng: np.random.Generator,
    ) -> None:
        """Take one step on a batch of reviewed items, each against its hardest negative."""
        drawn, fair = negatives.draw(user, self.hardest, rng)
        own = self.user_factors[user]
        scores = np.einsum("nd,nkd->nk", own, self.item_factors[drawn])
        worse = drawn[np.arange(len(user)), np.where(fair, scores, -np.inf).argmax(axis=1)]
        gap = self.item_factors[better] - self.item_factors[worse]
        slope = expit(-np.einsum("nd,nd->n", own, gap)) * fair.any(axis=1)
        push, rest = slope[:, None] * own, self.regularisation
        towards = rest * own - slope[:, None] * gap
        towards[:, -1] = 0.0  # the bias's coefficient stays 1
        steps[0].step(towards, user)
        items = np.concatenate([better, worse])
        steps[1].step(rest * self.item_factors[items] + np.concatenate([-push, push]), items)
