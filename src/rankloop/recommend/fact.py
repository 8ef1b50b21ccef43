"""FacT: latent factors as a function of rules, with a dial between the rules and each person's own past."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np
from scipy import sparse

from rankloop.bounds import Bound, Count, Natural, NonNegative, Positive
from rankloop.errors import SettingError
from rankloop.recommend.evidence_als import EvidenceALS
from rankloop.recommend.factor_objectives import FactorObjective, Implicit, RatingsAndPairs
from rankloop.recommend.factorization_tree import (
    AT_LEAST,
    BELOW,
    UNKNOWN,
    FactorizationTree,
    TreeGrower,
)
from rankloop.recommend.ials import IALS
from rankloop.recommend.opinion_profiles import (
    keep_common_tokens,
    share_mentions,
    share_tokens,
    sum_item_opinions,
)
from rankloop.recommend.recommender import (
    FactorModel,
    QuestionTree,
    ScoreParts,
    ScoreSource,
    UserProfile,
    check_answers,
    check_items,
    learned,
)
from rankloop.recommend.reviews import Reviews, SparseArray, binarize
from rankloop.recommend.ridge_rows import EvidenceBlock, RowRidge
from rankloop.types import FloatArray, IntArray, State

Weight: TypeAlias = Annotated[float, Bound(above=0, at_most=np.inf)]
ANSWERS = {AT_LEAST: "much", BELOW: "little", UNKNOWN: "unknown"}
SMALL_GAIN = 0.001  # of the loss: a round of trees that lowers it by less is the last one


class TreePair(NamedTuple):
    """Trees of users and of items, with the vectors to which they lead."""

    user_tree: FactorizationTree
    item_tree: FactorizationTree | None
    users: FloatArray
    items: FloatArray


@dataclass(kw_only=True, eq=False)
class FacT(FactorModel):
    r"""Rules lead a user to a vector, which past items correct as far as a dial allows.

    Rules are about features (the share of someone's mentions) and attributes (the share of someone's items
    with a title word). With $P$ the vector of the leaf and $\rho$ the leaf weight, $u = A^{-1} (\sum (1 +
    w_0) v + \rho\, reg\, P)$ and $A = w_0 V^\top V + \sum v v^\top + \rho\, reg\, I$, so a score is a sum
    over the nodes of the path and over past items, exactly: $\sum_z \rho\, reg\, \Delta_z^\top A^{-1} v_j +
    \sum_e (1 + w_0) v_e^\top A^{-1} v_j$. With $\rho = \infty$ there are rules alone.

    Items keep the vectors of the factorization that it starts from; with `item_depth` they get a tree, too,
    and trees of both sides take turns until a round gains little. The thesis' own model is
    `FacT(pair_weight=1.0, item_depth=6, leaf_weight=inf, attributes=False)`.

    >>> from rankloop.lab.data.review_data import AccessoryShop
    >>> model = FacT(d=8, depth=3).fit(AccessoryShop(users=60, items=24).reviews(), np.random.default_rng(0))
    >>> profile = model.profile_user(0)
    >>> parts = model.split_scores(profile, np.array([5, 7]))
    >>> bool(np.allclose(parts.scores, model.score_profile(profile)[[5, 7]], atol=1e-12))
    True

    Tao, Jia, Wang, Wang: The FacT: taming latent factor models for explainability with factorization trees.
    SIGIR 2019.
    """

    exact: ClassVar[bool] = True
    places_newcomers: ClassVar[bool] = True

    d: Count = 48
    depth: Natural = 8
    item_depth: Natural | None = None  # None: items have no tree
    rounds: Count = 4  # in which trees of users and items take turns, at most
    min_leaf: Count = 10
    tree_regularisation: Positive = 1.0
    bins: Count = 5
    pair_weight: NonNegative | None = None  # λ_b of the thesis' ratings and pairs; None: implicit feedback
    attributes: bool = True
    least_titles: Natural = 30  # tokens of fewer titles make no rule
    leaf_weight: Weight = 0.1  # ρ, how much rules count against past items; inf: rules alone
    regularisation: Positive = 0.025
    unobserved: Positive = 0.01
    parent_factors: bool = True
    predicates: FloatArray = learned((0, 6))
    node_vectors: FloatArray = learned((0, 0))
    item_predicates: FloatArray = learned((0, 6))
    item_node_vectors: FloatArray = learned((0, 0))
    leaf: IntArray = learned((0,), np.int64)  # [n_users]
    gram: FloatArray = learned((0, 0))
    tokens_indices: IntArray = learned((0,), np.int64)  # attributes of items, for newcomers
    tokens_indptr: IntArray = learned((1,), np.int64)
    widths: IntArray = learned((2,), np.int64)  # numbers of features and of tokens

    # learning

    def _learn(self, reviews: Reviews, rng: np.random.Generator) -> None:
        self._keep_tokens(reviews)
        by_user = binarize(reviews.rating_matrix())
        found = self._alternate(self.make_objective(reviews, rng), reviews, rng)
        self.item_factors = found.items
        if found.item_tree is not None:
            self.item_predicates, self.item_node_vectors = found.item_tree.arrays()
            if not np.isinf(self.leaf_weight):
                blocks = [EvidenceBlock(sparse.csr_array(by_user.T), found.users)]
                self.item_factors = self.ridge.solve(blocks, prior=found.items, strength=self.leaf_weight)
        self.predicates, self.node_vectors = found.user_tree.arrays()
        self.gram = self.ridge.gram([EvidenceBlock(by_user, self.item_factors)])
        self._place_users(reviews)

    def make_objective(self, reviews: Reviews, rng: np.random.Generator) -> FactorObjective:
        """Make the loss that the start and all trees lower; a class of one's own may make another one."""
        if self.pair_weight is not None:
            return RatingsAndPairs.of(reviews, self.pair_weight, rng, regularisation=self.tree_regularisation)
        kind = EvidenceALS if self.attributes and reviews.attributes is not None else IALS

        def factorize(d: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
            """Factorize the same evidence that rules may use."""
            first = kind(d=d, regularisation=self.regularisation, unobserved=self.unobserved)
            fitted = first.fit(reviews, rng)
            return fitted.user_factors, fitted.item_factors

        return Implicit(binarize(reviews.rating_matrix()), self.unobserved, factorize)

    def _alternate(self, objective: FactorObjective, reviews: Reviews, rng: np.random.Generator) -> TreePair:
        """Grow trees of users and items in turns; trees are greedy, so the best pair is kept."""
        profiles = self.profiles(reviews)
        _, items = objective.start(self.d, rng)
        best: TreePair | None = None
        lowest, rounds = np.inf, self.rounds if self.item_depth is not None else 1
        for _ in range(rounds):
            grower = self._grower(self.depth)
            user_tree = grower.grow(objective.for_users(items), profiles, self.d)
            users = user_tree.vectors[user_tree.route(profiles)]
            if self.item_depth is None:
                return TreePair(user_tree, None, users, items)
            item_grower, item_profiles = self._grower(self.item_depth), self._item_profiles(reviews)
            item_tree = item_grower.grow(objective.for_items(users), item_profiles, self.d)
            items = item_tree.vectors[item_tree.route(item_profiles)]
            value = objective.loss(users, items) + grower.penalty(user_tree) + item_grower.penalty(item_tree)
            gained_little = value > lowest * (1 - SMALL_GAIN)
            if best is None or value < lowest:
                best, lowest = TreePair(user_tree, item_tree, users, items), value
            if gained_little:
                break
        assert best is not None
        return best

    def _place_users(self, reviews: Reviews) -> None:
        """Route users by their profiles, and correct their vectors by their items."""
        self.leaf = self.tree.route(self.profiles(reviews))
        prior = self.node_vectors[self.leaf]
        blocks = [EvidenceBlock(binarize(reviews.rating_matrix()), self.item_factors)]
        self.user_factors = (
            prior
            if np.isinf(self.leaf_weight)
            else self.ridge.solve(blocks, prior=prior, strength=self.leaf_weight)
        )
        alone = np.diff(self.past_starts) == 0
        self.user_factors[alone] = prior[alone]

    def _keep_tokens(self, reviews: Reviews) -> None:
        """Keep which items have which tokens, of those that rules may use."""
        tokens = sparse.csr_array((reviews.n_items, 0))
        if self.attributes and reviews.attributes is not None:
            tokens = keep_common_tokens(reviews.attributes, self._least(reviews))
        self.tokens_indices, self.tokens_indptr = (
            tokens.indices.astype(np.int64),
            tokens.indptr.astype(np.int64),
        )
        self.widths = np.array([len(reviews.features), tokens.shape[1]])

    def profiles(self, reviews: Reviews) -> SparseArray:
        """Return profiles of users, [n_users, n_features + n_tokens]; a missing cell is unknown."""
        return self._profile_rows(reviews.count_mentions("user"), reviews.rating_matrix())

    def _profile_rows(self, mentions: SparseArray, by_user: SparseArray) -> SparseArray:
        shares = share_mentions(mentions)
        shares.eliminate_zeros()
        return sparse.hstack([shares, share_tokens(by_user, self._tokens())], format="csr")

    def _tokens(self) -> SparseArray:
        """Return which items have which tokens, [n_items, n_tokens]."""
        cells = (np.ones(len(self.tokens_indices)), self.tokens_indices, self.tokens_indptr)
        return sparse.csr_array(cells, shape=(len(self.tokens_indptr) - 1, int(self.widths[1])))

    def from_state(self, state: State) -> Self:
        """Return a recommender that has learned that; tokens of items that do not exist are refused."""
        twin = super().from_state(state)
        tokens = twin._tokens()
        tokens.check_format(full_check=True)  # SciPy would read past the end of arrays
        if tokens.shape[0] != len(twin.item_factors):
            raise SettingError(f"found tokens of {tokens.shape[0]} items for {len(twin.item_factors)} items")
        return twin

    def _item_profiles(self, reviews: Reviews) -> SparseArray:
        profiles = sum_item_opinions(reviews)
        if self.attributes and reviews.attributes is not None:
            tokens = keep_common_tokens(reviews.attributes, self._least(reviews))
            profiles = sparse.hstack([profiles, tokens], format="csr")
        return profiles

    def _least(self, reviews: Reviews) -> int:
        """Return how many titles a token needs; in a small shop, one in twenty."""
        return min(self.least_titles, max(reviews.n_items // 20, 1))

    @property
    def tree(self) -> FactorizationTree:
        """The tree of users."""
        return FactorizationTree.from_arrays(self.predicates, self.node_vectors)

    @property
    def ridge(self) -> RowRidge:
        """The objective of a user's own vector."""
        return RowRidge(self.regularisation, self.unobserved)

    def _grower(self, depth: int) -> TreeGrower:
        return TreeGrower(
            depth=depth,
            min_leaf=self.min_leaf,
            regularisation=self.tree_regularisation,
            bins=self.bins,
            parent_factors=self.parent_factors,
        )

    # profiles and scores

    def question_tree(self) -> QuestionTree:
        """Return the tree of users, whose questions are about features and title words."""
        return QuestionTree(self.tree, self.leaf)

    def _profile_row(self, user: int) -> UserProfile:
        return UserProfile(
            vector=self.user_factors[user], items=self.past(user), node=int(self.leaf[user]), row=user
        )

    def profile_newcomer(
        self, items: Sequence[int] | IntArray = (), answers: Mapping[int, int] | None = None
    ) -> UserProfile:
        """Follow the tree by answers and by the titles of past items, then fold in the past items."""
        own = check_items(items, len(self.item_factors))
        said = check_answers(answers, int(self.widths.sum()))
        node = self.tree.walk(said)
        if len(own):
            node = self._follow_items(own, said, node)
        prior = self.node_vectors[node]
        if not len(own) or np.isinf(self.leaf_weight):
            return UserProfile(vector=prior, items=own, answers=said, node=node)
        goal = (1 + self.unobserved) * self.item_factors[own].sum(0) + self._prior_weight(len(own)) * prior
        return UserProfile(vector=self._solve_for(own, goal), items=own, answers=said, node=node)

    def _follow_items(self, items: IntArray, answers: Mapping[int, int], node: int) -> int:
        """Lead on from where the answers lead, by the titles of these items."""
        cells = (np.ones(len(items)), (np.zeros(len(items), np.int64), items))
        by_user = sparse.csr_array(cells, shape=(1, len(self.item_factors)))
        row = sparse.lil_array(self._profile_rows(sparse.csr_array((1, int(self.widths[0]))), by_user))
        for column, answer in answers.items():
            row[0, column] = {1: 1.0, -1: 1e-9, 0: 0.0}[answer]  # above or below every threshold; unknown
        return int(self.tree.route(sparse.csr_array(row), start=node)[0])

    def split_scores(self, profile: UserProfile, items: IntArray) -> ScoreParts:
        """Split scores by the rules on the path and by past items: one linear solve serves all items."""
        tree, past, targets = self.tree, profile.items, self.item_factors[items].T
        rules = tuple(name_rules(tree, profile.node, ANSWERS))
        if np.isinf(self.leaf_weight) or not len(past):
            return ScoreParts(rules, (tree.steps(profile.node) @ targets).T, exact=True)
        solved = self._solve_for(past, targets)  # [d, n_items]
        from_rules = self._prior_weight(len(past)) * (tree.steps(profile.node) @ solved)
        from_past = (1 + self.unobserved) * (self.item_factors[past] @ solved)
        sources = (*rules, *(ScoreSource("past item", int(item)) for item in past))
        return ScoreParts(sources, np.concatenate([from_rules, from_past]).T, exact=True)

    def score_features(self, profile: UserProfile, items: IntArray) -> FloatArray:
        """Sum what the rules about each feature add to the scores of these items, [n_items, n_features]."""
        parts = self.split_scores(profile, items)
        scores = np.zeros((len(items), int(self.widths[0])))
        for source, amounts in zip(parts.sources, parts.amounts.T, strict=True):
            if source.kind == "rule" and source.answer == "much" and source.index < self.widths[0]:
                scores[:, source.index] += amounts
        return scores

    def _prior_weight(self, n: int) -> float:
        """Return how strongly the leaf draws someone with so many items; rules alone need no number."""
        reg = self.regularisation * (n + self.unobserved * len(self.item_factors))
        return 0.0 if np.isinf(self.leaf_weight) else self.leaf_weight * reg

    def _solve_for(self, items: IntArray, goal: FloatArray) -> FloatArray:
        own = self.item_factors[items]
        matrix = self.gram + own.T @ own + self._prior_weight(len(items)) * np.eye(self.d)
        return np.asarray(np.linalg.solve(matrix, goal))


def name_rules(tree: FactorizationTree, node: int, answers: Mapping[int, str]) -> list[ScoreSource]:
    """Name the rules on the path to a node, the root first: its question is none."""
    path = tree.path(node)
    asked = [
        ScoreSource("rule", int(tree.feature[tree.parent[each]]), answers[tree.branch(each)])
        for each in path[1:]
    ]
    return [ScoreSource("rule", -1, "everybody"), *asked]
