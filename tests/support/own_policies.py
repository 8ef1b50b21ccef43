"""Policies that somebody else has written, against the contract and nothing but the contract."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from rankloop.exploration import draw_by_score
from rankloop.policies import Policy, state
from rankloop.types import Array, Feedback, FloatArray, Query, Ranking

EXAMPLES = Path(__file__).parents[2] / "examples"


@dataclass(kw_only=True, eq=False)
class Remembering(Policy):
    """Moves towards what was clicked, and keeps how far it went the last few times: a row of numbers."""

    parameters: FloatArray = field(default_factory=lambda: np.zeros(0), init=False, repr=False)
    history: FloatArray = field(default_factory=lambda: np.zeros(0), init=False, repr=False)

    def score(self, query: Any) -> FloatArray:
        """Weighted sums of the features."""
        features = matrix(query)
        return features @ (self.parameters if self.parameters.size else np.zeros(features.shape[1]))

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        """The best first; equals in random order."""
        return Ranking(query, draw_by_score(self.score(query), k, rng))

    def learn(self, feedback: Feedback) -> None:
        """One step, if there is something to tell apart."""
        clicked = feedback.clicks[: feedback.n_examined]
        if clicked.any() and not clicked.all() and feedback.ranking.query.features.shape[1]:
            seen = feedback.ranking.query.features[feedback.ranking.order[: clicked.size]]
            step = 0.1 * (seen[clicked].mean(axis=0) - seen[~clicked].mean(axis=0))
            self.parameters = self.parameters + step if self.parameters.size else step
            self.history = np.append(self.history, np.linalg.norm(step))[-5:]


@dataclass(kw_only=True, eq=False)
class Positional(Policy):
    """Its evidence says what it put at each position; it counts the lists for which that is not true."""

    right: Array = field(default_factory=lambda: np.zeros((), np.int64), init=False, repr=False)
    wrong: Array = field(default_factory=lambda: np.zeros((), np.int64), init=False, repr=False)

    def score(self, query: Any) -> FloatArray:
        """The sum of the features."""
        return np.asarray(matrix(query).sum(axis=1), dtype=np.float64)

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        """Any order."""
        order = rng.permutation(query.n_docs)[:k]
        return Ranking(query, order, evidence={"put": order})

    def learn(self, feedback: Feedback) -> None:
        """Compare what was shown with what was drawn."""
        shown = feedback.ranking
        if np.array_equal(shown.evidence["put"], shown.order):
            self.right = self.right + 1
        else:
            self.wrong = self.wrong + 1


@dataclass(kw_only=True, eq=False)
class Noting(Policy):
    """Regresses on grades, one step on each that is known, and keeps those of its last list to look at."""

    signals = ("grades", "clicks")
    evidence_scope = "documents"

    parameters: FloatArray = state((0,), feature_axes=(0,))
    grades: FloatArray = state((0,), feature_axes=())
    known: Array = state((0,), np.bool_, feature_axes=())

    def score(self, query: Query) -> FloatArray:
        """Weighted sums of the features."""
        width = query.features.shape[1]
        return query.features @ (self.parameters if self.parameters.size else np.zeros(width))

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        """The best first; equals in random order."""
        return Ranking(query, draw_by_score(self.score(query), k, rng))

    def learn(self, feedback: Feedback) -> None:
        """A step towards the grades."""
        shown = feedback.ranking
        self.grades, self.known = feedback.graded()
        apart = (self.grades - self.score(shown.query)[shown.order]) * self.known
        step = 0.1 * apart @ shown.query.features[shown.order]
        self.parameters = self.parameters + step if self.parameters.size else step


@dataclass(kw_only=True, eq=False)
class Listening(Policy):
    """Hears silence: counts the lists that were clicked, and those that nobody clicked."""

    learns_without_clicks = True
    evidence_scope = "documents"

    clicked: Array = field(default_factory=lambda: np.zeros((), np.int64), init=False, repr=False)
    silent: Array = field(default_factory=lambda: np.zeros((), np.int64), init=False, repr=False)

    def score(self, query: Any) -> FloatArray:
        """The sum of the features."""
        return np.asarray(matrix(query).sum(axis=1), dtype=np.float64)

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        """The best first; equals in random order."""
        return Ranking(query, draw_by_score(self.score(query), k, rng))

    def learn(self, feedback: Feedback) -> None:
        """Count."""
        if feedback.clicks.any():
            self.clicked = self.clicked + 1
        else:
            self.silent = self.silent + 1


@dataclass(kw_only=True, eq=False)
class Choosy(Positional):
    """Cannot learn from lists of three, and says so with an error of no special kind."""

    def learn(self, feedback: Feedback) -> None:
        """Learn, or fail."""
        if len(feedback.ranking) == 3:
            raise ValueError("three is one too many")
        super().learn(feedback)


def matrix(query: Any) -> FloatArray:
    """The features of what is to be scored."""
    return np.asarray(getattr(query, "features", query))


def documented(name: str, file: str = "own_policy.py") -> type[Policy]:
    """A class of an example, without running the example; with a name, so that it can be served."""
    source = ast.parse((EXAMPLES / file).read_text())
    source.body = [
        each for each in source.body if isinstance(each, ast.Import | ast.ImportFrom | ast.ClassDef)
    ]
    space: dict[str, Any] = {"__name__": __name__}
    exec(compile(source, file, "exec", dont_inherit=True), space)
    found: type[Policy] = space[name]
    return type(name, (found,), {"name": name.lower(), "__module__": __name__})
