"""Implicit ALS: a matrix factorization in which every unobserved cell counts a little."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse

from rankloop.bounds import Count, Positive
from rankloop.recommend.recommender import (
    FactorModel,
    ScoreParts,
    ScoreSource,
    UserProfile,
    check_answers,
    check_items,
    learned,
)
from rankloop.recommend.reviews import Reviews, binarize
from rankloop.recommend.ridge_rows import EvidenceBlock, RowRidge
from rankloop.types import FloatArray, IntArray


@dataclass(kw_only=True, eq=False)
class IALS(FactorModel):
    r"""Alternating least squares on who reviewed what; ratings are not looked at.

    $\min \sum_{obs} (1 - u^\top v)^2 + w_0 \sum_{all} (p - u^\top v)^2 + \lambda (n_u + w_0 N) \lVert u
    \rVert^2 + \ldots$ The last half-step is the users', so a score is a sum over past items: $u^\top v_j =
    \sum_e (1 + w_0) v_e^\top A^{-1} v_j$, and newcomers are folded in the same way.

    >>> from rankloop.lab.data.review_data import AccessoryShop
    >>> model = IALS(d=8).fit(AccessoryShop(users=40, items=24).reviews(), np.random.default_rng(0))
    >>> profile = model.profile_newcomer(items=[0, 4])
    >>> parts = model.split_scores(profile, np.array([6, 9]))
    >>> bool(np.allclose(parts.scores, model.score_profile(profile)[[6, 9]], atol=1e-12))
    True

    Hu, Koren, Volinsky: Collaborative filtering for implicit feedback datasets. ICDM 2008. Rendle,
    Krichene, Zhang, Koren: Revisiting the performance of iALS on item recommendation benchmarks. RecSys 2022.
    """

    exact: ClassVar[bool] = True
    places_newcomers: ClassVar[bool] = True

    d: Count = 128
    regularisation: Positive = 0.03  # λ
    unobserved: Positive = 0.01  # w0
    sweeps: Count = 8
    gram: FloatArray = learned((0, 0))  # [d, d] what all users share
    average: FloatArray = learned((0,))  # [d] of users who have items

    def _learn(self, reviews: Reviews, rng: np.random.Generator) -> None:
        by_user = binarize(reviews.rating_matrix())
        by_item = sparse.csr_array(by_user.T)
        self.item_factors = draw_factors(rng, reviews.n_items, self.d)
        for _ in range(self.sweeps):
            users = self.ridge.solve([EvidenceBlock(by_user, self.item_factors)])
            self.item_factors = self.ridge.solve([EvidenceBlock(by_item, users)])
        self._finish(reviews)

    def _finish(self, reviews: Reviews) -> None:
        """Take the users' half-step, and compute what folding in needs."""
        blocks = [EvidenceBlock(binarize(reviews.rating_matrix()), self.item_factors)]
        self.gram = self.ridge.gram(blocks)
        self.average = self.ridge.solve(blocks)[np.diff(self.past_starts) > 0].mean(axis=0)
        self._place_users(reviews)

    def _place_users(self, reviews: Reviews) -> None:
        """Take half a sweep: vectors of users, given those of items; without items it is the average."""
        self.user_factors = self.ridge.solve(
            [EvidenceBlock(binarize(reviews.rating_matrix()), self.item_factors)]
        )
        self.user_factors[np.diff(self.past_starts) == 0] = self.average

    @property
    def ridge(self) -> RowRidge:
        """The objective of a row."""
        return RowRidge(self.regularisation, self.unobserved)

    def profile_newcomer(
        self, items: Sequence[int] | IntArray = (), answers: Mapping[int, int] | None = None
    ) -> UserProfile:
        """Fold in past items: the vector is what it would be had they been learned from."""
        own = check_items(items, len(self.item_factors))
        goal = self.item_factors[own].sum(0) * (1 + self.unobserved)
        vector = self._solve_for(own, goal) if len(own) else self.average
        return UserProfile(vector=vector, items=own, answers=check_answers(answers))

    def split_scores(self, profile: UserProfile, items: IntArray) -> ScoreParts:
        """Split scores by past item; without any, they are those of the average user."""
        targets = self.item_factors[items]
        if not len(profile.items):
            return ScoreParts((ScoreSource("popularity"),), (targets @ profile.vector)[:, None], exact=True)
        solved = self._solve_for(profile.items, targets.T)  # [d, n_items]
        amounts = (1 + self.unobserved) * (self.item_factors[profile.items] @ solved)
        sources = tuple(ScoreSource("past item", int(item)) for item in profile.items)
        return ScoreParts(sources, amounts.T, exact=True)

    def _solve_for(self, items: IntArray, goal: FloatArray) -> FloatArray:
        """Return $A^{-1}$ times the goal, with $A$ of someone who has these items."""
        own = self.item_factors[items]
        penalty = self.regularisation * (len(items) + self.unobserved * len(self.item_factors))
        matrix = self.gram + own.T @ own + penalty * np.eye(self.d)
        return np.asarray(np.linalg.solve(matrix, goal))


def draw_factors(rng: np.random.Generator, n: int, d: int) -> FloatArray:
    """Draw small random vectors."""
    return np.asarray(rng.normal(size=(n, d)) * 0.1 / np.sqrt(d))
