"""FacT: latent factors as a function of rules, with a dial between the rules and each person's own past."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import numpy as np
from scipy import sparse

from rankloop.errors import SettingError
from rankloop.recommend.evidence_als import EvidenceALS
from rankloop.recommend.factor_objectives import Implicit, Objective
from rankloop.recommend.factorization_tree import AT_LEAST, BELOW, UNKNOWN, Grower, Tree
from rankloop.recommend.ials import IALS
from rankloop.recommend.opinion_profiles import common_tokens, item_opinions, mention_shares, token_shares
from rankloop.recommend.pair_objectives import item_pairs, user_pairs
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
from rankloop.recommend.ridge_rows import Block, Ridge
from rankloop.types import FloatArray, IntArray

Loss: TypeAlias = Literal["implicit", "rating+bpr"]
ANSWERS = {AT_LEAST: "much", BELOW: "little", UNKNOWN: "unknown"}


@dataclass(kw_only=True, eq=False)
class FacT(FactorModel):
    r"""Rules lead a user to a vector, which past items correct as far as a dial allows.

    Rules are about aspects (the share of someone's mentions) and attributes (the share of someone's items
    with a title word). With $P$ the vector of the leaf, $u = A^{-1} (\sum (1 + w_0) v + \rho\, reg\, P)$ and
    $A = w_0 V^\top V + \sum v v^\top + \rho\, reg\, I$, so a score is a sum over the nodes of the path and
    over past items, exactly: $\sum_z \rho\, reg\, \Delta_z^\top A^{-1} v_j + \sum_e (1 + w_0) v_e^\top
    A^{-1} v_j$. With $\rho = \infty$ there are rules alone.

    Items keep the vectors of the factorization that it starts from; with `item_depth` they get a tree, too,
    and the thesis' own model is `FacT(loss="rating+bpr", item_depth=6, rho=inf, attributes=False)`.

    >>> from rankloop.lab.data.review_data import Shop
    >>> model = FacT(d=8, depth=3).fit(Shop(users=60, items=24).reviews(), np.random.default_rng(0))
    >>> reasons = model.reasons(model.taste_of(0), 5)
    >>> bool(abs(sum(part.amount for part in reasons.parts) - reasons.score) < 1e-12)
    True

    Tao, Jia, Wang, Wang: The FacT: taming latent factor models for explainability with factorization trees.
    SIGIR 2019.
    """

    name: ClassVar[str] = "fact"
    exact: ClassVar[bool] = True

    d: int = 48
    depth: int = 8
    item_depth: int = 0  # 0: items have no tree
    min_leaf: int = 10
    tree_regularisation: float = 1.0
    bins: int = 5
    loss: Loss = "implicit"
    pair_weight: float = 1.0  # λ_b, of the loss rating+bpr
    aspects: bool = True
    attributes: bool = True
    least_titles: int = 30  # tokens of fewer titles make no rule
    rho: float = 0.1
    regularisation: float = 0.025
    unobserved: float = 0.01
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

    def __post_init__(self) -> None:
        """Refuse settings without a meaning."""
        if not (self.aspects or self.attributes):
            raise SettingError(
                "rules are about aspects or about attributes, found neither; allow one of them"
            )
        if self.d < 1:
            raise SettingError(f"d must be at least 1, found {self.d}")
        for depth in (self.depth, self.item_depth):
            self._grower(depth)  # has its own limits, as the next has
        Ridge(self.regularisation, self.unobserved)
        if not self.rho > 0:
            raise SettingError(f"rho must be positive, and may be infinite (rules alone), found {self.rho}")
        if self.loss not in ("implicit", "rating+bpr"):
            raise SettingError(f"the loss is implicit or rating+bpr, found {self.loss!r}")

    def _learn(self, reviews: Reviews, rng: np.random.Generator) -> None:
        items = self._start(reviews, rng)
        self._note_tokens(reviews)
        by_user, profiles = ones_like(reviews.matrix()), self.profiles(reviews)
        tree = self._grower(self.depth).grow(self._objective(reviews, items, rng), profiles, self.d)
        if self.item_depth:
            users = tree.vectors[tree.route(profiles)]
            items = self._item_tree(reviews, users, items, rng)
            tree = self._grower(self.depth).grow(self._objective(reviews, items, rng), profiles, self.d)
        self.item_factors = items
        self.predicates, self.node_vectors = tree.arrays()
        self.gram = self.ridge.gram([Block(by_user, items)])
        self._meet(reviews)

    def _meet(self, reviews: Reviews) -> None:
        """Route users by their profiles, and correct their vectors by their items."""
        self.leaf = self.tree.route(self.profiles(reviews))
        prior = self.node_vectors[self.leaf]
        blocks = [Block(ones_like(reviews.matrix()), self.item_factors)]
        self.user_factors = (
            prior if np.isinf(self.rho) else self.ridge.solve(blocks, prior=prior, strength=self.rho)
        )
        alone = np.diff(self.past_starts) == 0
        self.user_factors[alone] = prior[alone]

    def _start(self, reviews: Reviews, rng: np.random.Generator) -> FloatArray:
        """Vectors of items to begin with: a factorization of the same evidence that rules may use."""
        if self.attributes and reviews.attributes is not None:
            first: IALS = EvidenceALS(
                d=self.d, regularisation=self.regularisation, unobserved=self.unobserved
            )
        else:
            first = IALS(d=self.d, regularisation=self.regularisation, unobserved=self.unobserved)
        return first.fit(reviews, rng).item_factors

    def _objective(self, reviews: Reviews, items: FloatArray, rng: np.random.Generator) -> Objective:
        if self.loss == "implicit":
            return Implicit(ones_like(reviews.matrix()), items, self.unobserved)
        return user_pairs(reviews.matrix(), items, self.pair_weight, rng)

    def _item_tree(
        self, reviews: Reviews, users: FloatArray, items: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        """Vectors of items from a tree of their own, corrected as far as the dial allows."""
        by_item = sparse.csr_array(ones_like(reviews.matrix()).T)
        objective: Objective = (
            Implicit(by_item, users, self.unobserved)
            if self.loss == "implicit"
            else item_pairs(reviews.matrix(), users, items, self.pair_weight, rng)
        )
        profiles = item_opinions(reviews)
        if self.attributes and reviews.attributes is not None:
            profiles = sparse.hstack(
                [profiles, common_tokens(reviews.attributes, self._least(reviews))], format="csr"
            )
        tree = self._grower(self.item_depth).grow(objective, profiles, self.d)
        self.item_predicates, self.item_node_vectors = tree.arrays()
        prior = tree.vectors[tree.route(profiles)]
        if np.isinf(self.rho):
            return prior
        return self.ridge.solve([Block(by_item, users)], prior=prior, strength=self.rho)

    def _note_tokens(self, reviews: Reviews) -> None:
        """Keep which items have which tokens, of those that rules may use."""
        tokens = sparse.csr_array((reviews.n_items, 0))
        if self.attributes and reviews.attributes is not None:
            tokens = common_tokens(reviews.attributes, self._least(reviews))
        self.tokens_indices, self.tokens_indptr = (
            tokens.indices.astype(np.int64),
            tokens.indptr.astype(np.int64),
        )
        self.widths = np.array([len(reviews.features), tokens.shape[1]])

    def profiles(self, reviews: Reviews) -> SparseArray:
        """Profiles of users, [n_users, n_features + n_tokens], whether rules use a column or not."""
        counts = reviews.counts("user")
        return self._profile_rows(counts if self.aspects else counts * 0, reviews.matrix())

    def _profile_rows(self, mentions: SparseArray, by_user: SparseArray) -> SparseArray:
        cells = (np.ones(len(self.tokens_indices)), self.tokens_indices, self.tokens_indptr)
        tokens = sparse.csr_array(cells, shape=(len(self.tokens_indptr) - 1, int(self.widths[1])))
        shares = mention_shares(mentions)
        shares.eliminate_zeros()
        return sparse.hstack([shares, token_shares(by_user, tokens)], format="csr")

    def _least(self, reviews: Reviews) -> int:
        """How many titles a token needs; in a small shop, one in twenty."""
        return min(self.least_titles, max(reviews.n_items // 20, 1))

    @property
    def tree(self) -> Tree:
        """The tree of users."""
        return Tree.from_arrays(self.predicates, self.node_vectors)

    @property
    def ridge(self) -> Ridge:
        """The objective of a user's own vector."""
        return Ridge(self.regularisation, self.unobserved)

    def _grower(self, depth: int) -> Grower:
        return Grower(
            depth=depth,
            min_leaf=self.min_leaf,
            regularisation=self.tree_regularisation,
            bins=self.bins,
            parent_factors=self.parent_factors,
        )

    def taste_of(self, user: int) -> Taste:
        """The learned vector of a user, with the leaf they were routed to."""
        return Taste(vector=self.user_factors[user], items=self.past(user), given={"leaf": self.leaf[user]})

    def taste(self, items: Sequence[int] | IntArray = (), answers: Mapping[int, int] | None = None) -> Taste:
        """A newcomer's vector: answers and the titles of past items lead to a leaf, past items correct it."""
        own, said = known_items(items, len(self.item_factors)), known_answers(answers, int(self.widths.sum()))
        leaf = self.leaf_of(own, said)
        prior = self.node_vectors[leaf]
        goal = (1 + self.unobserved) * self.item_factors[own].sum(0) + self._prior_weight(len(own)) * prior
        vector = prior if np.isinf(self.rho) or not len(own) else self._system(own, goal)
        return Taste(vector=vector, items=own, answers=said, given={"leaf": np.array(leaf)})

    def leaf_of(self, items: IntArray, answers: Mapping[int, int]) -> int:
        """The node that answers (by column of the profile: 1 much, -1 little) and past items lead to.

        Without past items it is an interview: it ends where a question is not answered.
        """
        if not len(items):
            return self.tree.walk(
                {column: AT_LEAST if answer > 0 else BELOW for column, answer in answers.items()}
            )
        by_user = sparse.csr_array(
            (np.ones(len(items)), (np.zeros(len(items), int), items)), shape=(1, len(self.item_factors))
        )
        row = sparse.lil_array(self._profile_rows(sparse.csr_array((1, int(self.widths[0]))), by_user))
        for column, answer in answers.items():
            row[0, column] = 1.0 if answer > 0 else 1e-9  # above, or below, every threshold that was learned
        return int(self.tree.route(sparse.csr_array(row))[0])

    def amounts(self, taste: Taste, items: IntArray) -> Mapping[Kind, FloatArray]:
        """What all rules add to the scores of these items, and what all past items do."""
        target, own = self.item_factors[items], taste.items
        rules = self.node_vectors[int(taste.given["leaf"])]
        if np.isinf(self.rho) or not len(own):
            return {"rule": target @ rules}
        past = (1 + self.unobserved) * self.item_factors[own].sum(0)
        both = self._system(own, np.column_stack([self._prior_weight(len(own)) * rules, past]))
        return {"rule": target @ both[:, 0], "past item": target @ both[:, 1]}

    def reasons(self, taste: Taste, item: int) -> Reasons:
        """What each rule on the path adds to the score, and each past item."""
        tree, leaf = self.tree, int(taste.given["leaf"])
        path, steps = tree.path(leaf), tree.steps(leaf)
        target, amounts = self.item_factors[item], np.zeros(0)
        if np.isinf(self.rho) or not len(taste.items):
            from_rules = steps @ target
        else:
            towards = self._system(taste.items, target)
            from_rules = self._prior_weight(len(taste.items)) * (steps @ towards)
            amounts = (1 + self.unobserved) * (self.item_factors[taste.items] @ towards)
        rules = [
            Part(
                "rule",
                int(tree.feature[tree.parent[node]]) if node else -1,
                float(amount),
                ANSWERS[tree.branch(node)] if node else "everybody",
            )
            for node, amount in zip(path, from_rules, strict=True)
        ]
        past = [
            Part("past item", int(each), float(amount))
            for each, amount in zip(taste.items, amounts, strict=False)
        ]
        aspects = tuple(
            part.index
            for part in sorted(rules, key=lambda part: -part.amount)
            if 0 <= part.index < self.widths[0] and part.condition == "much"
        )
        return Reasons(
            item=item, score=float(target @ taste.vector), parts=(*rules, *past), aspects=aspects, exact=True
        )

    def aspect_scores(self, users: IntArray, items: IntArray) -> FloatArray:
        """What the rules about each feature add to the scores of these items, [n, n_features]."""
        scores = np.zeros((len(users), int(self.widths[0])))
        for row, (user, item) in enumerate(zip(users, items, strict=True)):
            for part in self.reasons(self.taste_of(int(user)), int(item)).parts:
                if part.kind == "rule" and 0 <= part.index < self.widths[0] and part.condition == "much":
                    scores[row, part.index] += part.amount
        return scores

    def _prior_weight(self, n: int) -> float:
        """How strongly the leaf draws someone with so many items; rules alone need no number."""
        reg = self.regularisation * (n + self.unobserved * len(self.item_factors))
        return 0.0 if np.isinf(self.rho) else self.rho * reg

    def _system(self, items: IntArray, goal: FloatArray) -> FloatArray:
        own = self.item_factors[items]
        matrix = self.gram + own.T @ own + self._prior_weight(len(items)) * np.eye(self.d)
        return np.asarray(np.linalg.solve(matrix, goal))
