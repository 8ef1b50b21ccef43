"""A law that nobody can break is no law: each of these mutants must be caught, by the law it breaks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest

from rankloop.checks import (
    LawBroken,
    Make,
    extremes_are_survived,
    late_feedback_is_learned_as_shown,
    learn_is_deterministic,
    learning_beats_random,
    lists_are_valid,
    position_in_the_input_is_no_merit,
    rank_changes_nothing,
    scores_follow_the_documents,
    scoring_changes_nothing,
    state_survives_storage,
)
from rankloop.policies import DBGD, PDGD, Random, RankNet
from rankloop.types import Feedback, FloatArray, Query, Ranking, State


class RemembersWhatItScored(RankNet):
    """The bug of the field's best-known code: the update uses the features of the last call of `score`."""

    last: FloatArray = np.ones((1, 6))

    def score(self, query: Query) -> FloatArray:
        self.last = query.features
        return super().score(query)

    def learn(self, feedback: Feedback) -> None:
        query = Query("remembered", np.resize(self.last, feedback.ranking.query.features.shape))
        super().learn(Feedback(Ranking(query, feedback.ranking.order), feedback.clicks))


class CountsInRank(PDGD):
    """`rank` changes the state."""

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        self.updates = self.updates + 1
        return super().rank(query, k=k, rng=rng)


class CountsInSecret(RankNet):
    """`rank` changes something that is not in the state, and learning depends on it."""

    asked = 0

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        self.asked += 1
        return super().rank(query, k=k, rng=rng)

    def learn(self, feedback: Feedback) -> None:
        self.learning_rate = 0.1 / (1 + self.asked)
        super().learn(feedback)


class DrawsFromTheGlobalState(RankNet):
    """`learn` is not deterministic."""

    def learn(self, feedback: Feedback) -> None:
        super().learn(feedback)
        if self.parameters.size:
            self.parameters = self.parameters + np.random.normal(size=self.parameters.size)  # noqa: NPY002


@dataclass(kw_only=True, eq=False)
class DrawsFromItsOwnGenerator(RankNet):
    """`learn` is repeatable from the start, but not from a snapshot."""

    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))

    def learn(self, feedback: Feedback) -> None:
        super().learn(feedback)
        if self.parameters.size:
            self.parameters = self.parameters + self.rng.normal(size=self.parameters.size)


class RemembersItsLastDirections(DBGD):
    """Learns every feedback as if it belonged to the last list shown."""

    directions: FloatArray

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        ranking = super().rank(query, k=k, rng=rng)
        self.directions = ranking.evidence["directions"]
        return ranking

    def learn(self, feedback: Feedback) -> None:
        ranking = feedback.ranking
        evidence = dict(ranking.evidence)
        evidence["directions"] = getattr(self, "directions", evidence["directions"])
        super().learn(Feedback(Ranking(ranking.query, ranking.order, evidence), feedback.clicks))


class ForgetsToStore(RankNet):
    """Keeps what it learned out of its state."""

    def state(self) -> State:
        return {"parameters": np.empty(0)}


class FavoursTheFirst(RankNet):
    """Breaks ties by input order."""

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        return Ranking(query, np.argsort(-self.score(query), kind="stable")[:k])


class ScoresByPlace(RankNet):
    """A document's score depends on where it stands in the input."""

    def score(self, query: Query) -> FloatArray:
        return super().score(query) + 0.01 * np.arange(query.n_docs)


class ShowsOneLess(RankNet):
    """Shows fewer results than asked for."""

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        return super().rank(query, k=max(1, min(k, query.n_docs) - 1), rng=rng)


class Explodes(RankNet):
    """Does not guard its weights."""

    def learn(self, feedback: Feedback) -> None:
        super().learn(feedback)
        self.parameters = self.parameters * np.inf if feedback.clicks.any() else self.parameters


CAUGHT: list[tuple[Make, Callable[[Make], None]]] = [
    (RemembersWhatItScored, scoring_changes_nothing),
    (RemembersWhatItScored, late_feedback_is_learned_as_shown),
    (CountsInRank, rank_changes_nothing),
    (CountsInSecret, rank_changes_nothing),
    (DrawsFromTheGlobalState, learn_is_deterministic),
    (DrawsFromItsOwnGenerator, learn_is_deterministic),
    (RemembersItsLastDirections, late_feedback_is_learned_as_shown),
    (ForgetsToStore, state_survives_storage),
    (FavoursTheFirst, position_in_the_input_is_no_merit),
    (ScoresByPlace, scores_follow_the_documents),
    (ShowsOneLess, lists_are_valid),
    (Explodes, extremes_are_survived),
    (Random, learning_beats_random),
]


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize(("mutant", "law"), CAUGHT, ids=lambda value: value.__name__)
def test_caught(mutant: Make, law: Callable[[Make], None]) -> None:
    with pytest.raises(LawBroken):
        law(mutant)
