"""Implicit ALS: a matrix factorization in which every unobserved cell counts a little."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse

from rankloop.errors import SettingError
from rankloop.recommend.reasons import Kind, Part, Reasons
from rankloop.recommend.recommender import FactorModel, Taste, known_items, learned, ones_like
from rankloop.recommend.reviews import Reviews
from rankloop.recommend.ridge_rows import Block, Ridge
from rankloop.types import FloatArray, IntArray


@dataclass(kw_only=True, eq=False)
class IALS(FactorModel):
    r"""Alternating least squares on who reviewed what; ratings are not looked at.

    $\min \sum_{obs} (1 - u^\top v)^2 + w_0 \sum_{all} (p - u^\top v)^2 + \lambda (n_u + w_0 N) \lVert u
    \rVert^2 + \ldots$ The last half-step is the users', so a score is a sum over past items: $u^\top v_j =
    \sum_e (1 + w_0) v_e^\top A^{-1} v_j$, and newcomers are folded in the same way.

    >>> from rankloop.lab.data.review_data import Shop
    >>> model = IALS(d=8).fit(Shop(users=40, items=24).reviews(), np.random.default_rng(0))
    >>> taste = model.taste(items=[0, 4])
    >>> reasons = model.reasons(taste, 6)
    >>> bool(abs(sum(part.amount for part in reasons.parts) - reasons.score) < 1e-12)
    True

    Hu, Koren, Volinsky: Collaborative filtering for implicit feedback datasets. ICDM 2008. Rendle,
    Krichene, Zhang, Koren: Revisiting the performance of iALS on item recommendation benchmarks. RecSys 2022.
    """

    name: ClassVar[str] = "ials"
    exact: ClassVar[bool] = True

    d: int = 128
    regularisation: float = 0.03  # λ
    unobserved: float = 0.01  # w0
    sweeps: int = 8
    gram: FloatArray = learned((0, 0))  # [d, d] what all users share
    average: FloatArray = learned((0,))  # [d] of users who have items

    def __post_init__(self) -> None:
        """Refuse sizes that mean nothing."""
        if min(self.d, self.sweeps) < 1:
            raise SettingError(f"d and sweeps must be at least 1, found {self.d} and {self.sweeps}")
        Ridge(self.regularisation, self.unobserved)  # has its own limits

    def _learn(self, reviews: Reviews, rng: np.random.Generator) -> None:
        by_user = ones_like(reviews.matrix())
        by_item = sparse.csr_array(by_user.T)
        self.item_factors = start(rng, reviews.n_items, self.d)
        for _ in range(self.sweeps):
            users = self.ridge.solve([Block(by_user, self.item_factors)])
            self.item_factors = self.ridge.solve([Block(by_item, users)])
        self._finish(reviews)

    def _finish(self, reviews: Reviews) -> None:
        """The users' half-step, and what folding in needs."""
        blocks = [Block(ones_like(reviews.matrix()), self.item_factors)]
        self.gram = self.ridge.gram(blocks)
        self.average = self.ridge.solve(blocks)[np.diff(self.past_starts) > 0].mean(axis=0)
        self._meet(reviews)

    def _meet(self, reviews: Reviews) -> None:
        """Half a sweep: vectors of users, given those of items; whoever has no item is the average user."""
        self.user_factors = self.ridge.solve([Block(ones_like(reviews.matrix()), self.item_factors)])
        self.user_factors[np.diff(self.past_starts) == 0] = self.average

    @property
    def ridge(self) -> Ridge:
        """The objective of a row."""
        return Ridge(self.regularisation, self.unobserved)

    def taste(self, items: Sequence[int] | IntArray = (), answers: Mapping[int, int] | None = None) -> Taste:
        """The vector that past items make, as it would be had they been learned from."""
        own = known_items(items, len(self.item_factors))
        goal = self.item_factors[own].sum(0) * (1 + self.unobserved)
        vector = self._system(own, goal) if len(own) else self.average
        return Taste(vector=vector, items=own, answers=answers or {})

    def amounts(self, taste: Taste, items: IntArray) -> Mapping[Kind, FloatArray]:
        """All of it is from past items; without any, it is the average user's."""
        amounts = self.item_factors[items] @ taste.vector
        return {"past item" if len(taste.items) else "popularity": amounts}

    def reasons(self, taste: Taste, item: int) -> Reasons:
        """How much each past item adds to the score; without any, the score is that of the average user."""
        score = float(self.item_factors[item] @ taste.vector)
        if not len(taste.items):
            return Reasons(item=item, score=score, parts=(Part("popularity", item, score),), exact=True)
        towards = self._system(taste.items, self.item_factors[item])
        amounts = (1 + self.unobserved) * (self.item_factors[taste.items] @ towards)
        parts = tuple(
            Part("past item", int(each), float(amount))
            for each, amount in zip(taste.items, amounts, strict=True)
        )
        return Reasons(item=item, score=score, parts=parts, exact=True)

    def _system(self, items: IntArray, goal: FloatArray) -> FloatArray:
        """$A^{-1}$ times the goal, with $A$ of someone who has these items."""
        own = self.item_factors[items]
        penalty = self.regularisation * (len(items) + self.unobserved * len(self.item_factors))
        matrix = self.gram + own.T @ own + penalty * np.eye(self.d)
        return np.asarray(np.linalg.solve(matrix, goal))


def start(rng: np.random.Generator, n: int, d: int) -> FloatArray:
    """Small random vectors."""
    return np.asarray(rng.normal(size=(n, d)) * 0.1 / np.sqrt(d))
