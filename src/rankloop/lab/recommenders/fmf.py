"""FMF: a tree of questions about items, each leaf with a vector, for newcomers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse

from rankloop.bounds import Count, Natural, Positive
from rankloop.recommend.fact import name_rules
from rankloop.recommend.factor_objectives import ImplicitSide
from rankloop.recommend.factorization_tree import (
    AT_LEAST,
    BELOW,
    UNKNOWN,
    FactorizationTree,
    TreeGrower,
)
from rankloop.recommend.ials import IALS
from rankloop.recommend.recommender import (
    FactorModel,
    QuestionTree,
    ScoreParts,
    UserProfile,
    check_answers,
    check_items,
    learned,
)
from rankloop.recommend.reviews import Reviews, SparseArray, binarize
from rankloop.types import FloatArray, IntArray

LIKED = 1e9  # stars: above every threshold, on any scale
ANSWERS = {AT_LEAST: "liked", BELOW: "disliked", UNKNOWN: "unrated"}


@dataclass(kw_only=True, eq=False)
class FMF(FactorModel):
    """Functional matrix factorization: ratings of a few well-known items lead to a vector.

    The engine, the objective and the vectors of items are those of FacT and implicit ALS; the predicate is
    the rating of one of the `n_questions` items that were rated most.

    >>> from rankloop.lab.data.review_data import AccessoryShop
    >>> reviews = AccessoryShop(users=60, items=24).reviews()
    >>> model = FMF(d=6, min_leaf=5).fit(reviews, np.random.default_rng(0))
    >>> model.profile_newcomer().node
    0

    Zhou, Yang, Zha: Functional matrix factorizations for cold-start recommendation. SIGIR 2011.
    """

    exact: ClassVar[bool] = True
    places_newcomers: ClassVar[bool] = True

    d: Count = 20
    depth: Natural = 6
    min_leaf: Count = 20
    tree_regularisation: Positive = 1.0
    bins: Count = 5
    n_questions: Count = 300
    regularisation: Positive = 0.03
    unobserved: Positive = 0.01
    predicates: FloatArray = learned((0, 6))
    node_vectors: FloatArray = learned((0, 0))
    leaf: IntArray = learned((0,), np.int64)  # [n_users]
    well_known: IntArray = learned((0,), np.int64)  # the items that questions may be about

    def _learn(self, reviews: Reviews, rng: np.random.Generator) -> None:
        first = IALS(d=self.d, regularisation=self.regularisation, unobserved=self.unobserved)
        self.item_factors = first.fit(reviews, rng).item_factors
        counts = np.bincount(reviews.item, minlength=reviews.n_items)
        self.well_known = np.argsort(-counts, kind="stable")[: self.n_questions]
        objective = ImplicitSide(binarize(reviews.rating_matrix()), self.item_factors, self.unobserved)
        tree = self._grower().grow(objective, self.profiles(reviews), self.d)
        self.predicates, self.node_vectors = tree.arrays()
        self._place_users(reviews)

    def _place_users(self, reviews: Reviews) -> None:
        """Route users by their ratings."""
        self.leaf = self.tree.route(self.profiles(reviews))
        self.user_factors = self.node_vectors[self.leaf]

    def profiles(self, reviews: Reviews) -> SparseArray:
        """Return ratings of the items that were rated most when it was learned, [n_users, n_items]."""
        keep = np.isin(reviews.item, self.well_known)
        cells = (reviews.rating[keep], (reviews.user[keep], reviews.item[keep]))
        return sparse.csr_array(cells, shape=(reviews.n_users, reviews.n_items))

    def _grower(self) -> TreeGrower:
        return TreeGrower(
            depth=self.depth, min_leaf=self.min_leaf, regularisation=self.tree_regularisation, bins=self.bins
        )

    @property
    def tree(self) -> FactorizationTree:
        """The tree of users."""
        return FactorizationTree.from_arrays(self.predicates, self.node_vectors)

    def question_tree(self) -> QuestionTree:
        """Return the tree of users, whose questions are about items."""
        return QuestionTree(self.tree, self.leaf, about_items=True)

    def _profile_row(self, user: int) -> UserProfile:
        return UserProfile(
            vector=self.user_factors[user], items=self.past(user), node=int(self.leaf[user]), row=user
        )

    def profile_newcomer(
        self, items: Sequence[int] | IntArray = (), answers: Mapping[int, int] | None = None
    ) -> UserProfile:
        """Find the leaf that answers and past items lead to; a past item counts as liked."""
        n_items = len(self.item_factors)
        own, said = check_items(items, n_items), check_answers(answers, n_items)
        node = self.tree.walk(said)
        if len(own):
            ratings = dict.fromkeys(own.tolist(), LIKED)
            ratings |= {item: LIKED if answer > 0 else 0.0 for item, answer in said.items()}
            ratings = {item: rating for item, rating in ratings.items() if said.get(item) != 0}  # skipped
            asked = np.array(list(ratings), np.int64)
            cells = (np.array(list(ratings.values())), (np.zeros(len(asked), np.int64), asked))
            node = int(self.tree.route(sparse.csr_array(cells, shape=(1, n_items)), start=node)[0])
        return UserProfile(vector=self.node_vectors[node], items=own, answers=said, node=node)

    def split_scores(self, profile: UserProfile, items: IntArray) -> ScoreParts:
        """Split scores by the questions on the path."""
        amounts = self.tree.steps(profile.node) @ self.item_factors[items].T
        return ScoreParts(tuple(name_rules(self.tree, profile.node, ANSWERS)), amounts.T, exact=True)
