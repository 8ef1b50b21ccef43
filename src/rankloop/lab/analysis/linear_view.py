"""Linear view of a dataset: can a linear ranker tell the grades apart? Papers on networks start from it."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
from scipy import linalg

from rankloop.charts import chart_config
from rankloop.query_set import QuerySet
from rankloop.types import FloatArray, IntArray

MOST_POINTS = 3000
RIDGE = 1e-6  # of the mean variance: features that say the same must not make the matrix singular


def find_discriminants(features: FloatArray, grades: IntArray, *, n: int = 2) -> FloatArray:
    r"""Find Fisher's linear discriminants, [n_features, n]: where documents of different grades differ most.

    They maximise $w^\top S_b w / w^\top S_w w$, the scatter of the grades' means over the scatter within
    the grades, one after the other.

    >>> rng = np.random.default_rng(0)
    >>> grades = np.arange(300) % 3
    >>> features = np.column_stack((rng.normal(size=300) * 9, grades + rng.normal(size=300)))
    >>> along = find_discriminants(features, grades, n=1)[:, 0]
    >>> bool(abs(along[1]) > 10 * abs(along[0]))
    True

    Fisher: The use of multiple measurements in taxonomic problems. Annals of Eugenics 1936.
    """
    features = features.astype(np.float64)
    overall = features.mean(axis=0)
    between = within = np.zeros((features.shape[1], features.shape[1]))
    for grade in np.unique(grades):
        own = features[grades == grade]
        mean = own.mean(axis=0)
        between = between + len(own) * np.outer(mean - overall, mean - overall)
        within = within + (own - mean).T @ (own - mean)
    ridge = RIDGE * max(float(np.trace(within)) / len(within), np.finfo(np.float64).tiny)
    within = within + ridge * np.eye(len(within))
    return np.asarray(linalg.eigh(between, within)[1][:, ::-1][:, :n])


def draw_linear_view(queries: QuerySet, rng: np.random.Generator, *, dark: bool = False) -> alt.LayerChart:
    """Draw all documents in the plane that separates their grades best, and the middle of every grade.

    If grades lie on top of each other here, no linear ranker can tell them apart. At most a few thousand
    documents are drawn, chosen at random.
    """
    grades = np.unique(queries.relevance)
    plane = queries.features @ find_discriminants(queries.features, queries.relevance)
    best, worst = (plane[queries.relevance == end].mean(axis=0) for end in (grades[-1], grades[0]))
    plane = np.where(best < worst, -1, 1) * plane / plane.std(axis=0)  # the best grade is to the right
    if plane.shape[1] < 2:
        plane = np.column_stack((plane, np.zeros(len(plane))))
    chosen = rng.permutation(len(plane))[:MOST_POINTS]
    dots = _records(plane[chosen], queries.relevance[chosen])
    middles = _records(np.array([plane[queries.relevance == grade].mean(axis=0) for grade in grades]), grades)
    low, high = np.quantile(plane, [0.002, 0.998], axis=0)
    scales = [alt.Scale(domain=list(ends), clamp=True) for ends in zip(low, high, strict=True)]
    x = alt.X("first:Q", title="first discriminant", scale=scales[0])
    y = alt.Y("second:Q", title="second discriminant", scale=scales[1])
    colour = alt.Color("grade:O", title="grade", scale=alt.Scale(scheme="viridis", reverse=True))
    cloud = alt.Chart(alt.InlineData(values=dots)).mark_circle(size=14, opacity=0.45).encode(x, y, colour)
    centres = (
        alt.Chart(alt.InlineData(values=middles))
        .mark_point(size=220, filled=True, opacity=1, stroke="#1f2328", strokeWidth=1.5)
        .encode(x, y, colour)
    )
    chart: alt.LayerChart = (
        (cloud + centres).properties(width=560, height=420).configure(**chart_config(dark=dark))
    )
    return chart


def _records(points: FloatArray, grades: IntArray) -> list[dict[str, Any]]:
    return [
        {"first": round(float(first), 4), "second": round(float(second), 4), "grade": int(grade)}
        for (first, second), grade in zip(points, grades, strict=True)
    ]
