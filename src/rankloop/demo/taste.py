"""Hidden tastes: relevance grades of the simulated visitors, which neither BM25 nor the ranker is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rankloop.demo.product_search import MATCHES, Hit
from rankloop.types import BoolArray, FloatArray, IntArray

STEPS = (0.2, 0.4, 0.6, 0.8)  # of a liking between 0 and 1
LIKED = 3  # the grade from which on a result is what someone came for
TITLE = 4.0  # the weight of a match in the title, as in the search engine
Liking = Callable[[Mapping[str, FloatArray]], FloatArray]


@dataclass(frozen=True)
class Taste:
    """A taste that can be seen: its liking, between 0 and 1, is the grade of whatever fits the search.

    >>> from rankloop.demo.product_scene import TASTES, shop
    >>> hits = shop().corpus.search("mug")
    >>> liked = TASTES["blue"].grades(hits) >= LIKED
    >>> {hit.entry.summary.split()[0] for hit, is_liked in zip(hits, liked, strict=True) if is_liked}
    {'blue'}
    """

    title: str  # "blue": visitors who like ...
    liking: Liking  # of features that were scaled to 0..1 within the search

    def grades(self, hits: Sequence[Hit]) -> IntArray:
        """0 to 4 for each candidate; what hardly fits the search is liked by nobody."""
        found: IntArray = np.digitize(self.liking(scaled_features(hits)), STEPS) * _fitting(hits)
        return found


def scaled_features(hits: Sequence[Hit]) -> dict[str, FloatArray]:
    """Each feature between the least and the greatest of the search; missing is 0."""
    return {name: _unit([hit.features[name] for hit in hits]) for name in hits[0].features}


def _fitting(hits: Sequence[Hit]) -> BoolArray:
    """Which candidates fit the search at least half as well as the best does."""
    weights = (TITLE, 1.0, 1.0)
    found = np.array([[hit.features[name] or 0.0 for name in MATCHES] for hit in hits]) @ weights
    fitting: BoolArray = found >= found.max() / 2
    return fitting


def _unit(values: Sequence[float | None]) -> FloatArray:
    found = np.array([np.nan if value is None else value for value in values])
    known = found[~np.isnan(found)]
    if not known.size or known.max() == known.min():
        return np.zeros(len(found))
    scaled: FloatArray = np.nan_to_num((found - known.min()) / (known.max() - known.min()), nan=0.0)
    return scaled
