"""FMF: a tree of questions about items, each leaf with a vector, for newcomers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse

from rankloop.errors import SettingError
from rankloop.recommend.factor_objectives import Implicit
from rankloop.recommend.factorization_tree import AT_LEAST, BELOW, UNKNOWN, Grower, Tree
from rankloop.recommend.ials import IALS
from rankloop.recommend.reasons import Kind, Part, Reasons
from rankloop.recommend.recommender import (
    FactorModel,
    Taste,
    known_answers,
    known_items,
    learned,
    ones_like,
)
from rankloop.recommend.reviews import Reviews, SparseArray
from rankloop.recommend.ridge_rows import Ridge
from rankloop.types import FloatArray, IntArray

RATED = {AT_LEAST: "liked", BELOW: "disliked", UNKNOWN: "unrated"}


@dataclass(kw_only=True, eq=False)
class FMF(FactorModel):
    """Functional matrix factorization: ratings of a few well-known items lead to a vector.

    The engine, the objective and the vectors of items are those of FacT and implicit ALS; the predicate is
    the rating of one of the `asked` items that were rated most.

    >>> from rankloop.lab.data.review_data import Shop
    >>> model = FMF(d=6, min_leaf=5).fit(Shop(users=60, items=24).reviews(), np.random.default_rng(0))
    >>> int(model.taste().given["leaf"])
    0

    Zhou, Yang, Zha: Functional matrix factorizations for cold-start recommendation. SIGIR 2011.
    """

    name: ClassVar[str] = "fmf"
    exact: ClassVar[bool] = True

    d: int = 20
    depth: int = 6
    min_leaf: int = 20
    tree_regularisation: float = 1.0
    bins: int = 5
    asked: int = 300
    regularisation: float = 0.03
    unobserved: float = 0.01
    predicates: FloatArray = learned((0, 6))
    node_vectors: FloatArray = learned((0, 0))
    leaf: IntArray = learned((0,), np.int64)  # [n_users]
    well_known: IntArray = learned((0,), np.int64)  # the items that questions may be about

    def __post_init__(self) -> None:
        """Refuse sizes that mean nothing."""
        if min(self.d, self.asked) < 1:
            raise SettingError(f"d and asked must be at least 1, found {self.d} and {self.asked}")
        Ridge(self.regularisation, self.unobserved)  # has its own limits, as the next has
        self._grower()

    def _learn(self, reviews: Reviews, rng: np.random.Generator) -> None:
        first = IALS(d=self.d, regularisation=self.regularisation, unobserved=self.unobserved).fit(
            reviews, rng
        )
        self.item_factors = first.item_factors
        profiles = self.profiles(reviews)
        tree = self._grower().grow(
            Implicit(ones_like(reviews.matrix()), self.item_factors, self.unobserved), profiles, self.d
        )
        self.predicates, self.node_vectors = tree.arrays()
        self._meet(reviews)

    def _meet(self, reviews: Reviews) -> None:
        """Route users by their ratings."""
        self.leaf = self.tree.route(self.profiles(reviews))
        self.user_factors = self.node_vectors[self.leaf]

    def profiles(self, reviews: Reviews) -> SparseArray:
        """Ratings of the items that were rated most when it was learned."""
        if not len(self.well_known):
            counts = np.bincount(reviews.item, minlength=reviews.n_items)
            self.well_known = np.argsort(-counts, kind="stable")[: self.asked]
        keep = np.isin(reviews.item, self.well_known)
        cells = (reviews.rating[keep], (reviews.user[keep], reviews.item[keep]))
        return sparse.csr_array(cells, shape=(reviews.n_users, reviews.n_items))

    def _grower(self) -> Grower:
        return Grower(
            depth=self.depth, min_leaf=self.min_leaf, regularisation=self.tree_regularisation, bins=self.bins
        )

    @property
    def tree(self) -> Tree:
        """The tree of users."""
        return Tree.from_arrays(self.predicates, self.node_vectors)

    def taste_of(self, user: int) -> Taste:
        """The leaf that a user was routed to."""
        return Taste(vector=self.user_factors[user], items=self.past(user), given={"leaf": self.leaf[user]})

    def taste(self, items: Sequence[int] | IntArray = (), answers: Mapping[int, int] | None = None) -> Taste:
        """The leaf that ratings of items lead to; `answers` are by item, and past items count as liked."""
        n_items = len(self.item_factors)
        own, said = known_items(items, n_items), known_answers(answers, n_items)
        if len(own):
            ratings = {
                **dict.fromkeys(own.tolist(), 5.0),
                **{item: 5.0 if answer > 0 else 0.0 for item, answer in said.items()},  # below all thresholds
            }
            cells = (list(ratings.values()), ([0] * len(ratings), list(ratings)))
            leaf = int(self.tree.route(sparse.csr_array(cells, shape=(1, len(self.item_factors))))[0])
        else:
            leaf = self.tree.walk({item: AT_LEAST if answer > 0 else BELOW for item, answer in said.items()})
        return Taste(vector=self.node_vectors[leaf], items=own, answers=said, given={"leaf": np.array(leaf)})

    def amounts(self, taste: Taste, items: IntArray) -> Mapping[Kind, FloatArray]:
        """Rules, and nothing else."""
        return {"rule": self.item_factors[items] @ taste.vector}

    def reasons(self, taste: Taste, item: int) -> Reasons:
        """What each question on the path adds to the score."""
        tree, leaf = self.tree, int(taste.given["leaf"])
        amounts = tree.steps(leaf) @ self.item_factors[item]
        parts = tuple(
            Part(
                "rule",
                int(tree.feature[tree.parent[node]]) if node else -1,
                float(amount),
                RATED[tree.branch(node)] if node else "everybody",
            )
            for node, amount in zip(tree.path(leaf), amounts, strict=True)
        )
        return Reasons(
            item=item, score=float(self.item_factors[item] @ taste.vector), parts=parts, exact=True
        )
