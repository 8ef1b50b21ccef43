"""Factorization tree: predicates on profiles lead to vectors that minimise a loss of recommendation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from rankloop.bounds import Count, Natural, Positive, check_settings
from rankloop.errors import DataError
from rankloop.recommend.factor_objectives import OneSide, unpack
from rankloop.recommend.reviews import SparseArray
from rankloop.recommend.split_candidates import SplitCandidates
from rankloop.types import BoolArray, FloatArray, IntArray

AT_LEAST, BELOW, UNKNOWN = 0, 1, 2
STAYS = -1
BRANCHES = {1: AT_LEAST, -1: BELOW, 0: UNKNOWN}  # of answers: much, little, skipped
SCREENED = 32


@dataclass(frozen=True, slots=True, eq=False)
class FactorizationTree:
    """A tree of predicates *is the feature at least the threshold?* with three answers: yes, no, unknown.

    Every node has a vector. Where a branch had too few members to learn from, whoever takes it stays at the
    node; whoever has no profile at all stays at the root.
    """

    feature: IntArray  # [n_nodes] -1 at a leaf
    threshold: FloatArray  # [n_nodes]
    children: IntArray  # [n_nodes, 3] at least, below, unknown; -1: stays here
    parent: IntArray  # [n_nodes] -1 at the root
    vectors: FloatArray  # [n_nodes, d]

    def route(self, profiles: SparseArray, *, start: int = 0, questions: int | None = None) -> IntArray:
        """Return the last node of every row of profiles, [n]; after so many questions, if a number is given.

        Everybody begins at the node `start`, and whoever has no profile stays there.
        """
        node = np.full(profiles.shape[0], start, np.int64)
        going: BoolArray = np.diff(profiles.indptr) > 0
        columns = profiles.tocsc()
        asked = 0
        while questions is None or asked < questions:
            inner = np.flatnonzero(going & (self.feature[node] >= 0))
            if not len(inner):
                break
            for here in np.unique(node[inner]):
                members = inner[node[inner] == here]
                branch = self._branches(columns, int(here), members)
                following = self.children[here, branch]
                going[members[following == STAYS]] = False
                node[members] = np.where(following == STAYS, here, following)
            asked += 1
        return node

    def _branches(self, columns: SparseArray, node: int, members: IntArray) -> IntArray:
        start, end = columns.indptr[self.feature[node] : self.feature[node] + 2]
        value = np.full(columns.shape[0], np.nan)
        value[columns.indices[start:end]] = columns.data[start:end]
        own = value[members]
        return np.where(np.isnan(own), UNKNOWN, np.where(own >= self.threshold[node], AT_LEAST, BELOW))

    def walk(self, answers: Mapping[int, int]) -> int:
        """Return where someone stands who gave these answers, by question: 1 much, -1 little, 0 skipped."""
        node = 0
        while (answer := answers.get(int(self.feature[node]))) is not None:
            child = int(self.children[node, BRANCHES[answer]])
            if child == STAYS:
                break
            node = child
        return node

    def path(self, node: int) -> list[int]:
        """Return the nodes from the root to this one."""
        nodes = [node]
        while self.parent[nodes[-1]] >= 0:
            nodes.append(int(self.parent[nodes[-1]]))
        return nodes[::-1]

    def steps(self, node: int) -> FloatArray:
        """Return what each node of the path adds to the vector, [length, d]; they sum to its own."""
        vectors = self.vectors[self.path(node)]
        return np.asarray(np.diff(vectors, axis=0, prepend=np.zeros((1, vectors.shape[1]))))

    def branch(self, node: int) -> int:
        """Return the answer that leads to a node from its parent."""
        return int(np.flatnonzero(self.children[self.parent[node]] == node)[0])

    @property
    def depth(self) -> int:
        """The number of predicates on the longest path."""
        return max(len(self.path(node)) for node in range(len(self.feature))) - 1

    def check(self, n_questions: int) -> None:
        """Refuse what is no tree: each node but the root has one parent, before it, that leads to it."""
        n, node = len(self.feature), np.arange(len(self.feature))
        there = np.argwhere(self.children != STAYS)
        led = self.children[tuple(there.T)]
        if not (
            self.children.shape == (n, 3)
            and len(self.vectors) == n == len(self.parent) > 0
            and self.parent[0] == -1
            and ((self.parent[1:] >= 0) & (self.parent[1:] < node[1:])).all()
            and np.array_equal(np.sort(led), node[1:])
            and np.array_equal(self.parent[led], there[:, 0])
            and ((self.feature >= -1) & (self.feature < n_questions)).all()
        ):
            raise DataError(
                f"expected a tree of questions from 0 to {n_questions - 1}, found other predicates"
            )

    def arrays(self) -> tuple[FloatArray, FloatArray]:
        """Return the tree as two arrays: predicates, [n_nodes, 6], and vectors."""
        columns = (self.feature, self.threshold, *self.children.T, self.parent)
        return np.column_stack([np.asarray(each, float) for each in columns]), self.vectors

    @classmethod
    def from_arrays(cls, predicates: FloatArray, vectors: FloatArray) -> Self:
        """Return the tree that gave these arrays."""
        whole = predicates.astype(np.int64)
        return cls(whole[:, 0], predicates[:, 1], whole[:, 2:5], whole[:, 5], vectors)


@dataclass(kw_only=True)
class TreeGrower:
    r"""Grows a tree level by level.

    A node's vector takes Newton steps $c \leftarrow c + (\sum H + 2 \lambda I)^{-1} (\sum g - 2 \lambda (c -
    c_{parent}))$; the gain of a predicate is $\sum \frac12 g^\top (H + 2 \lambda I)^{-1} g$ over its
    branches. Predicates are screened by the same sum with the node's own curvature, and the best 32 are
    solved exactly.
    """

    depth: Natural = 6
    min_leaf: Count = 20
    regularisation: Positive = 1.0
    bins: Count = 5
    parent_factors: bool = True  # without: every node starts from 0

    def __post_init__(self) -> None:
        """Refuse trees that cannot be."""
        check_settings(self)

    def grow(self, objective: OneSide, profiles: SparseArray, d: int) -> FactorizationTree:
        """Grow the tree for these entities; `profiles` holds a cell for each value that is known."""
        return _Growing(self, objective, SplitCandidates.of(profiles, self.bins), d).tree()

    def penalty(self, tree: FactorizationTree) -> float:
        r"""Return $\lambda \sum_z \lVert c_z - c_{parent} \rVert^2$, where the root is drawn to 0."""
        drawn = (tree.parent[:, None] >= 0) & self.parent_factors
        towards = np.where(drawn, tree.vectors[tree.parent], 0.0)
        return float(self.regularisation * ((tree.vectors - towards) ** 2).sum())


class _Growing:
    """A tree while it grows: nodes are appended level by level."""

    def __init__(self, settings: TreeGrower, objective: OneSide, bins: SplitCandidates, d: int) -> None:
        self.settings, self.objective, self.bins, self.d = settings, objective, bins, d
        self.curvature = objective.curvature()
        self.node = np.zeros(bins.n, np.int64)  # where every entity is
        self.feature, self.threshold, self.children = [-1], [0.0], [[STAYS] * 3]
        self.parent, self.vectors = [-1], [np.zeros(d)]

    def tree(self) -> FactorizationTree:
        level = [0]
        self._refine(level)
        for _ in range(self.settings.depth):
            descent = self.objective.descent(np.array(self.vectors)[self.node])
            level = [child for node in level for child in self._split(node, descent)]
            if not level:
                break
            self._refine(level)
        return FactorizationTree(
            np.array(self.feature),
            np.array(self.threshold),
            np.array(self.children),
            np.array(self.parent),
            np.array(self.vectors),
        )

    def _refine(self, level: list[int]) -> None:
        """Take the Newton steps of all nodes of a level."""
        members = {node: self._members(node) for node in level}
        curvature = {node: self._matrix(self.curvature[rows].sum(0)) for node, rows in members.items()}
        for _ in range(self.objective.steps):
            descent = self.objective.descent(np.array(self.vectors)[self.node])
            for node, rows in members.items():
                towards = self.vectors[self.parent[node]] if node and self.settings.parent_factors else 0.0
                goal = descent[rows].sum(0) - 2 * self.settings.regularisation * (
                    self.vectors[node] - towards
                )
                self.vectors[node] = self.vectors[node] + np.linalg.solve(curvature[node], goal)

    def _split(self, node: int, descent: FloatArray) -> list[int]:
        """Return the children of a node, if a predicate is worth it."""
        rows = self._members(node)
        rows = rows[self.bins.known[rows]] if node == 0 else rows  # without a profile: stays at the root
        if len(rows) < 2 * self.settings.min_leaf:
            return []
        found = self.best(rows, descent[rows])
        if found is None:
            return []
        feature, threshold, branch = found
        self.feature[node], self.threshold[node] = feature, threshold
        for answer in range(3):
            members = rows[branch == answer]
            if len(members) >= self.settings.min_leaf:
                self.children[node][answer] = self._append(node)
                self.node[members] = self.children[node][answer]
        return [child for child in self.children[node] if child != STAYS]

    def _append(self, parent: int) -> int:
        self.feature.append(-1)
        self.threshold.append(0.0)
        self.children.append([STAYS] * 3)
        self.parent.append(parent)
        self.vectors.append(self.vectors[parent] if self.settings.parent_factors else np.zeros(self.d))
        return len(self.feature) - 1

    def best(self, rows: IntArray, descent: FloatArray) -> tuple[int, float, IntArray] | None:
        """Find the best predicate for these members and the branch of each; none, if none gains anything."""
        candidates, groups = self.bins.candidates(rows, self.settings.min_leaf)
        if not len(candidates):
            return None
        chosen = self._screen(rows, descent, groups)
        gains, branches = self.gains(rows, descent, candidates[chosen])
        top = int(np.argmax(gains))
        if gains[top] <= 0:
            return None
        feature, threshold = self.bins.predicate(int(candidates[chosen][top]))
        return feature, threshold, branches[top]

    def _screen(self, rows: IntArray, descent: FloatArray, groups: SparseArray) -> IntArray:
        """Choose the candidates that gain most if every branch had the node's curvature by its share."""
        total = np.linalg.cholesky(self._matrix(self.curvature[rows].sum(0)))
        light = np.linalg.solve(total, descent.T).T  # [n, d]
        high, known, n_high, n_known = self.bins.sums(groups, light)
        parts = (high, known - high, light.sum(0) - known), (n_high, n_known - n_high, len(rows) - n_known)
        score = np.zeros(len(n_high))
        for vector, count in zip(*parts, strict=True):
            enough = count >= self.settings.min_leaf
            score += np.where(enough, (vector**2).sum(1) * len(rows) / np.maximum(count, 1), 0.0)
        return np.argsort(-score, kind="stable")[:SCREENED]

    def gains(self, rows: IntArray, descent: FloatArray, candidates: IntArray) -> tuple[FloatArray, IntArray]:
        """Return the exact gains of candidates, [n], and the members' branches, [n, n_members]."""
        branches = self.bins.branches(rows, candidates)
        both = np.hstack([self.curvature[rows], descent])
        high, low = ((branches == answer).astype(float) @ both for answer in (AT_LEAST, BELOW))
        sums = np.stack([high, low, both.sum(0) - high - low])  # [3, n, packed + d]
        matrix = self._matrix(sums[..., : -self.d])
        vector = sums[..., -self.d :]
        gain = 0.5 * np.einsum("abd,abd->ab", vector, np.linalg.solve(matrix, vector[..., None])[..., 0])
        count = np.stack([(branches == answer).sum(1) for answer in range(3)])
        enough = count >= self.settings.min_leaf
        return np.where(enough.sum(0) >= 2, (gain * enough).sum(0), 0.0), branches

    def _matrix(self, packed: FloatArray) -> FloatArray:
        return unpack(packed, self.d) + 2 * self.settings.regularisation * np.eye(self.d)

    def _members(self, node: int) -> IntArray:
        return np.flatnonzero(self.node == node)
