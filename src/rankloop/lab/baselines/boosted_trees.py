"""Gradient-boosted trees as arrays: grown by LightGBM, stored without pickle, and asked without it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rankloop.errors import SettingError
from rankloop.learning.forest import ALWAYS, Forest, join_trees
from rankloop.types import FloatArray, IntArray

AT_ONCE = 500_000  # of rows times trees


@dataclass(frozen=True, slots=True)
class Boosting:
    """How trees are grown: as many as `trees`, each of up to `leaves`, each by a step of `learning_rate`."""

    trees: int
    leaves: int
    least_in_leaf: int
    learning_rate: float


def lambdamart(documents: FloatArray, grades: FloatArray, ends: IntArray, how: Boosting) -> Forest:
    """Trees whose sum sorts judged lists by grade, boosted on the lambdas of nDCG.

    Lists stand one below the other and end at `ends`. Where nothing tells documents apart there are no trees.

    >>> features = np.linspace(0, 1, 40)[:, None]
    >>> grades, ends = np.where(features[:, 0] > 0.7, 1.0, 0.0), np.array([20, 40])
    >>> forest = lambdamart(features, grades, ends, Boosting(5, 4, 2, 0.1))
    >>> bool(sums(forest, np.array([[0.9]])) > sums(forest, np.array([[0.1]])))
    True
    """
    values, labels = np.unique(grades, return_inverse=True)
    varying = np.flatnonzero(np.ptp(documents, axis=0) > 0)
    sizes = np.diff(ends, prepend=0)
    if values.size < 2 or not varying.size:
        return Forest(np.zeros((0, 5)), np.zeros(0, dtype=np.int64))
    library = grower()
    settings = {
        "objective": "lambdarank",
        "label_gain": (2.0**values - 1).tolist(),
        "num_leaves": how.leaves,
        "min_data_in_leaf": how.least_in_leaf,
        "learning_rate": how.learning_rate,
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": 1,
        "use_missing": False,
        "feature_pre_filter": False,
        "seed": 0,
        "verbosity": -1,
    }
    rows = documents[:, varying].astype(np.float64)
    data = library.Dataset(rows, labels, group=sizes, params=settings, free_raw_data=True)
    grown = library.train(settings, data, num_boost_round=how.trees).dump_model()["tree_info"]
    tables = [_table(tree["tree_structure"], varying) for tree in grown]
    roots = np.cumsum([0, *map(len, tables)])[:-1]
    return Forest(join_trees(tables, roots), roots)


def sums(forest: Forest, rows: FloatArray) -> FloatArray:
    """Sum the leaves that each row comes to over all trees, [n_rows]."""
    found = np.zeros(len(rows))
    if not forest.roots.size:
        return found
    step = max(AT_ONCE // forest.roots.size, 1)
    for start in range(0, len(rows), step):
        found[start : start + step] = _leaves(forest, rows[start : start + step].astype(np.float64)).sum(
            axis=1
        )
    return found


def grower() -> Any:
    """Import the library that grows trees, or refuse with what to install, if it is not there."""
    try:
        import lightgbm  # noqa: PLC0415
    except ImportError as error:
        raise SettingError("these trees are grown by LightGBM: pip install 'rankloop[lightgbm]'") from error
    return lightgbm


def _leaves(forest: Forest, rows: FloatArray) -> FloatArray:
    """Find the value of the leaf of every tree to which each row comes, [n_rows, n_trees]."""
    feature, threshold, left, right, value = forest.nodes.T
    feature, left, right = (column.astype(np.int64) for column in (feature, left, right))
    here = np.broadcast_to(forest.roots, (len(rows), forest.roots.size))
    each = np.arange(len(rows))[:, None]
    while True:
        following = np.where(rows[each, feature[here]] <= threshold[here], left[here], right[here])
        if np.array_equal(following, here):
            return np.asarray(value[here])
        here = following


def _table(root: Any, varying: IntArray) -> FloatArray:
    """Write a tree as rows of feature, threshold, both children and value; leaves lead to themselves."""
    rows: list[list[float]] = []

    def add(node: Any) -> int:
        number = len(rows)
        rows.append([0.0, ALWAYS, number, number, node.get("leaf_value", 0.0)])
        if "split_feature" in node:
            rows[number][:2] = [float(varying[node["split_feature"]]), node["threshold"]]
            rows[number][2] = add(node["left_child"])
            rows[number][3] = add(node["right_child"])
        return number

    add(root)
    return np.array(rows)
