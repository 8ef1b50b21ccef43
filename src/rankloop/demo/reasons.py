"""Reasons: what lifts each result of a list above the average of what was found, and what holds it down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rankloop.demo.learned_words import weights
from rankloop.demo.scene import Word
from rankloop.service import Model
from rankloop.service.store import Impression
from rankloop.types import FloatArray

MOST = 2  # features worth telling
LEAST = 0.25  # of the largest part of any result of the list; less is not worth a word
UNTAUGHT = 0.02  # a part so small that nothing was learned


@dataclass(frozen=True, slots=True)
class Reasons:
    """Parts of a score beyond the average of the search, by feature, the largest first."""

    parts: Mapping[str, float]
    own: float  # of the search engine's own order
    high: frozenset[str]  # the features of which it has more than the average
    least: float = UNTAUGHT  # a part that is smaller is not worth a word

    def speaks_for(self, words: Mapping[str, Word]) -> list[str]:
        """What lifts the result most, in a word each; empty if nothing learned does.

        >>> words = {"price": Word("expensive", "cheap"), "blue": Word("blue")}
        >>> Reasons({"price": 0.4, "blue": 0.3}, 0.0, frozenset({"blue"})).speaks_for(words)
        ['cheap', 'blue']
        """
        lifting = [(part, name, words.get(name, Word(name))) for name, part in self.parts.items()]
        told = [(part, word.much if name in self.high else word.little) for part, name, word in lifting]
        return self._worth([each for each in told if each[1]])  # that it is not red is not worth a word

    def speaks_against(self, words: Mapping[str, Word]) -> list[str]:
        """What holds the result down most.

        >>> words = {"price": Word("expensive", "cheap"), "blue": Word("blue")}
        >>> Reasons({"price": -0.3, "blue": -0.4}, 0.0, frozenset({"price"})).speaks_against(words)
        ['not blue', 'expensive']
        """
        found = [(-part, name, words.get(name, Word(name))) for name, part in self.parts.items()]
        found = sorted(found, key=lambda each: (-each[0], each[1]))
        return self._worth(
            [
                (part, word.much if name in self.high else word.little or f"not {word.much}")
                for part, name, word in found
            ]
        )

    def _worth(self, told: Sequence[tuple[float, str]]) -> list[str]:
        """Of parts with their words, the largest first, those worth telling; if all are small, the first."""
        large = [word for part, word in told if part >= self.least]
        return large[:MOST] or [word for part, word in told[:1] if part >= UNTAUGHT]


def reasons(model: Model, names: Sequence[str], shown: Impression) -> dict[str, Reasons]:
    """The reasons of each result of a list, by the model that made it."""
    policy, query = model.asked(shown.query_id, shown.features, shown.object_ids, shown.groups)
    weight = np.array([weights(model, names).get(name, 0.0) for name in names])
    features = np.zeros((len(query.features), len(names)))
    features[:, : query.features.shape[1]] = query.features
    beyond = features - features.mean(axis=0)
    own = policy.score(query) - features @ weight
    own = own - own.mean()
    parts = beyond * weight
    least = max(UNTAUGHT, LEAST * float(np.abs(parts[list(shown.order)]).max(initial=0.0)))
    return {
        shown.object_ids[row]: _of(parts[row], beyond[row], names, float(own[row]), least)
        for row in shown.order
    }


def _of(parts: FloatArray, beyond: FloatArray, names: Sequence[str], own: float, least: float) -> Reasons:
    order = np.argsort(-parts, kind="stable")
    high = frozenset(name for name, much in zip(names, beyond, strict=True) if much > 0)
    return Reasons({names[i]: float(parts[i]) for i in order}, own, high, least)
