"""Random forests as arrays: grown by scikit-learn, stored without pickle, and asked without it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rankloop.errors import SettingError
from rankloop.types import BoolArray, FloatArray, IntArray

ALWAYS = 1e300  # the threshold of a leaf: every row passes
LARGEST = float(np.finfo(np.float32).max)  # of the numbers that trees are grown with
FEATURE, THRESHOLD, LEFT, RIGHT, VALUE = range(5)


@dataclass(frozen=True, slots=True, eq=False)
class Forest:
    """Trees in one table, a row for each node: feature, threshold, both children, share of clicks.

    Leaves lead to themselves.
    """

    nodes: FloatArray  # [n_nodes, 5]
    roots: IntArray  # [n_trees]

    def chances(self, row: FloatArray) -> FloatArray:
        """Look up the share of clicks in the leaf of every tree to which a row comes, [n_trees]."""
        return descend(self.nodes, self.roots, row)


def descend(nodes: FloatArray, roots: IntArray, row: FloatArray) -> FloatArray:
    """Look up the values of the leaves that a row comes to from these roots, of the same shape.

    >>> nodes = np.array([[0, 0.5, 1, 2, 0], [0, np.inf, 1, 1, 0.1], [0, np.inf, 2, 2, 0.9]])
    >>> descend(nodes, np.array([0]), np.array([0.7])).tolist()
    [0.9]
    """
    single = _clipped(row).astype(np.float32).astype(np.float64)  # as the trees were grown
    single = single if single.size else np.zeros(1)
    here = roots
    while True:
        table = nodes[here]
        left = single[table[..., FEATURE].astype(np.int64)] <= table[..., THRESHOLD]
        following = np.where(left, table[..., LEFT], table[..., RIGHT]).astype(np.int64)
        if np.array_equal(following, here):
            return np.asarray(table[..., VALUE])
        here = following


def grow(rows: FloatArray, clicks: BoolArray, *, trees: int, seed: int) -> Forest:
    """Grow a forest that tells clicks from others; features that never vary are not offered to the trees.

    Values beyond what float32 can hold count as the largest that it can.

    >>> rows = np.array([[0.0], [0.1], [0.9], [1.0]] * 5)
    >>> forest = grow(rows, rows[:, 0] > 0.5, trees=10, seed=0)
    >>> bool(forest.chances(np.array([0.95])).mean() > 0.9)
    True
    """
    rows = _clipped(rows)
    varying = np.flatnonzero(np.ptp(rows, axis=0) > 0)
    if not varying.size:
        leaf = np.array([[0.0, ALWAYS, 0.0, 0.0, clicks.mean()]])
        return Forest(leaf, np.zeros(trees, dtype=np.int64))
    fitted = classifier(rows[:, varying], clicks, trees=trees, seed=seed)
    tables = [_table(each.tree_, varying) for each in fitted.estimators_]
    roots = np.cumsum([0, *(len(table) for table in tables)])[:-1]
    return Forest(join_trees(tables, roots), roots)


def classifier(rows: FloatArray, clicks: BoolArray, *, trees: int, seed: int) -> Any:
    """Fit the forest as scikit-learn's own object, for whoever scores many rows at once."""
    return find_grower()(n_estimators=trees, random_state=seed).fit(rows, clicks)


def find_grower() -> Any:
    """Find the class that grows forests; refused with what to install, if it is not there."""
    try:
        from sklearn.ensemble import RandomForestClassifier  # noqa: PLC0415
    except ImportError as error:
        raise SettingError("forests are grown by scikit-learn: pip install 'rankloop[ads]'") from error
    return RandomForestClassifier


def _clipped(rows: FloatArray) -> FloatArray:
    return np.clip(rows, -LARGEST, LARGEST)


def join_trees(tables: list[FloatArray], starts: IntArray) -> FloatArray:
    """Tables of trees as one, in which every child is found."""
    shifted = [table.copy() for table in tables]
    for table, start in zip(shifted, starts.tolist(), strict=True):
        table[:, LEFT : RIGHT + 1] += start
    return np.concatenate(shifted)


def _table(tree: Any, varying: IntArray) -> FloatArray:
    leaf, own = tree.children_left < 0, np.arange(tree.node_count)
    counts = tree.value[:, 0, :]
    table = np.empty((tree.node_count, 5))
    table[:, FEATURE] = np.where(leaf, 0, varying[np.where(leaf, 0, tree.feature)])
    table[:, THRESHOLD] = np.where(leaf, ALWAYS, tree.threshold)
    table[:, LEFT] = np.where(leaf, own, tree.children_left)
    table[:, RIGHT] = np.where(leaf, own, tree.children_right)
    table[:, VALUE] = counts[:, -1] / counts.sum(axis=1)
    return table
