"""Hidden tastes: relevance grades of the simulated visitors, which neither BM25 nor the ranker is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rankloop.demo.corpus import MATCHES, Hit
from rankloop.types import FloatArray, IntArray

SHARES = (0.1, 0.25, 0.45, 0.7)  # of the candidates: a tenth has the highest grade, a third none
Liking = Callable[[Mapping[str, FloatArray]], FloatArray]


@dataclass(frozen=True)
class Taste:
    """How much a user likes each result of a search; in part how well it fits, in part something else.

    >>> from rankloop.demo.corpus import Corpus
    >>> from rankloop.demo.stdlib import standard_library
    >>> hits = Corpus.of(standard_library(["json"])).search("decode json")
    >>> liked = TASTES["short"].grades(hits)
    >>> {hit.entry.kind for hit, grade in zip(hits, liked, strict=True) if grade == 4}
    {'method'}
    """

    title: str
    liking: Liking  # of features that were scaled to 0..1 within the search
    fit: float = 0.6  # how much the match of the words counts besides

    def grades(self, hits: Sequence[Hit]) -> IntArray:
        """0 to 4 for each candidate: the taste's own favourites first, whatever their number."""
        scaled = _scaled(hits)
        matches = np.mean([scaled[name] for name in MATCHES], axis=0)
        liked = self.liking(scaled) + self.fit * matches
        index = np.argsort(np.argsort(-liked, kind="stable"), kind="stable")
        steps = np.ceil(np.array(SHARES) * len(hits))
        grades: IntArray = (index[:, None] < steps).sum(axis=1)
        return grades


TASTES: Mapping[str, Taste] = {
    "short": Taste(
        "short functions, please",
        lambda x: x["is_function"] + 0.8 * x["is_method"] - 1.2 * x["source_length"] - 0.4 * x["arguments"],
    ),
    "classes": Taste(
        "classes from modules everybody uses",
        lambda x: 1.2 * x["is_class"] * (0.4 + x["popularity"]) + 0.5 * x["popularity"],
    ),
    "overview": Taste(
        "modules with long explanations",
        lambda x: x["is_module"] + 0.9 * x["text_length"] + 0.5 * x["examples"] - 0.3 * x["depth"],
    ),
}


def _scaled(hits: Sequence[Hit]) -> dict[str, FloatArray]:
    """Each feature between the least and the greatest of the search; missing is 0."""
    return {name: _unit([hit.features[name] for hit in hits]) for name in hits[0].features}


def _unit(values: Sequence[float | None]) -> FloatArray:
    found = np.array([np.nan if value is None else value for value in values])
    known = found[~np.isnan(found)]
    if not known.size or known.max() == known.min():
        return np.zeros(len(found))
    scaled: FloatArray = np.nan_to_num((found - known.min()) / (known.max() - known.min()), nan=0.0)
    return scaled
