"""A law that nobody can break is no law: each of these mutants must be caught, by the law it breaks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
import pytest

from rankloop.checks import (
    LAWS,
    SANITY,
    LawBroken,
    Make,
    extremes_are_survived,
    features_that_appear_later_are_learned,
    grades_teach_different_things,
    late_feedback_is_learned_as_shown,
    learn_is_deterministic,
    learning_beats_random,
    lists_are_valid,
    lists_of_others_teach_or_are_refused,
    position_in_the_input_is_no_merit,
    rank_changes_nothing,
    scores_follow_the_documents,
    scoring_changes_nothing,
    state_survives_storage,
)
from rankloop.exploration import draw_by_score
from rankloop.policies import (
    DBGD,
    PDGD,
    AUCRanker,
    LinUCB,
    ListNet,
    Random,
    RankNet,
    state,
)
from rankloop.types import Array, Feedback, FloatArray, IntArray, Query, Ranking, State


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
        return {**super().state(), "parameters": np.empty(0)}


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


class NotesByLuck(RankNet):
    """`shown` is not deterministic."""

    def shown(self, ranking: Ranking) -> None:
        if self.parameters.size:
            self.parameters = self.parameters + 1e-9 * np.random.normal()  # noqa: NPY002


class StartsOverWhenWidened(RankNet):
    """Forgets what it knew when a feature appears."""

    def widened(self, n_features: int) -> Self:
        return self.from_state({**self.state(), "parameters": np.zeros(n_features)})


class IgnoresWhatIsNew(RankNet):
    """Looks at the features it began with and does not say so."""

    def widened(self, n_features: int) -> Self:
        return self.from_state(self.state())

    def score(self, query: Query) -> FloatArray:
        return super().score(self._known(query))

    def learn(self, feedback: Feedback) -> None:
        ranking = feedback.ranking
        known = Ranking(self._known(ranking.query), ranking.order, ranking.evidence)
        super().learn(Feedback(known, feedback.clicks))

    def _known(self, query: Query) -> Query:
        return Query(query.id, query.features[:, : self.parameters.size or None])


@dataclass(kw_only=True, eq=False)
class DeclaresWrongly(RankNet):
    """Keeps a sum for every feature, and says that there are no features in it."""

    history: FloatArray = state((1,), feature_axes=())

    def learn(self, feedback: Feedback) -> None:
        super().learn(feedback)
        if feedback.ranking.query.features.shape[1]:
            self.history = self.history + feedback.ranking.query.features.sum(axis=0)


class LearnsOldListsOtherwise(DBGD):
    """Gives a direction that was tried before a feature appeared a part along that feature."""

    def widened_evidence(self, evidence: Mapping[str, Array], n_features: int) -> dict[str, Array]:
        directions = evidence["directions"]
        return {**evidence, "directions": np.resize(directions[:, ::-1], (len(directions), n_features))}


class LendsItsOwners(DBGD):
    """Says that evidence of whose result stands where holds for any list."""

    evidence_scope = "documents"


class LearnsAsDrawn(RankNet):
    """Takes what was clicked in any list for clicks on its own list."""

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        order = draw_by_score(self.score(query), query.n_docs, rng)
        return Ranking(query, order[:k], {"order": order})

    def learn(self, feedback: Feedback) -> None:
        ranking = feedback.ranking
        drawn = Ranking(ranking.query, ranking.evidence["order"][: len(ranking)])
        super().learn(Feedback(drawn, feedback.clicks))


class OffersAnyList(DBGD):
    """Knows that its evidence is about one list, and learns from others all the same."""

    def with_order(self, drawn: Ranking, order: IntArray) -> Ranking:
        return Ranking(drawn.query, order, drawn.evidence)


class ForgetsVisitorsWhenWidened(LinUCB):
    """Looks at contexts, and begins anew when a feature of theirs appears."""

    def widened(self, n_features: int) -> Self | None:
        del n_features
        return type(self)()


class TakesNobodyForTheLast(LinUCB):
    """Learns a visitor's click with the features of whom it scored last."""

    last: FloatArray = np.zeros(6)

    def score(self, query: Query) -> FloatArray:
        self.last = query.context.features
        return super().score(query)

    def learn(self, feedback: Feedback) -> None:
        ranking, who = feedback.ranking, replace(feedback.ranking.query.context, features=self.last)
        query = replace(ranking.query, context=who)
        super().learn(Feedback(Ranking(query, ranking.order, ranking.evidence), feedback.clicks))


class LearnsTheWrongAd(AUCRanker):
    """Takes what was drawn for what was shown."""

    def learn(self, feedback: Feedback) -> None:
        ranking = feedback.ranking
        likely = (-ranking.evidence["propensities"]).argsort(kind="stable")
        super().learn(Feedback(Ranking(ranking.query, likely[: len(ranking)]), feedback.clicks))


class TiresOfQuestions(RankNet):
    """Shows the next list upside down, if it is asked again before it has learned."""

    asked = 0

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        self.asked += 1
        ranking = super().rank(query, k=k, rng=rng)
        turned = ranking.order[::-1].copy() if self.asked > 1 else ranking.order
        return Ranking(query, turned, ranking.evidence)

    def learn(self, feedback: Feedback) -> None:
        self.asked = 0
        super().learn(feedback)


class ShowsWhatWasJustScored(RankNet):
    """Shows the next list upside down after it was asked for scores."""

    scored = False

    def score(self, query: Query) -> FloatArray:
        self.scored = True
        return super().score(query)

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        turn = self.scored
        ranking = super().rank(query, k=k, rng=rng)
        self.scored = False
        return Ranking(query, ranking.order[::-1].copy() if turn else ranking.order, ranking.evidence)

    def learn(self, feedback: Feedback) -> None:
        super().learn(feedback)
        self.scored = False


class RemembersListsByQuery(DBGD):
    """Learns what is said of a query as if it were about the last list that it showed for it."""

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        ranking = super().rank(query, k=k, rng=rng)
        vars(self).setdefault("drawn", {})[query.id] = dict(ranking.evidence)
        return ranking

    def learn(self, feedback: Feedback) -> None:
        ranking = feedback.ranking
        shapes = {name: value.shape for name, value in ranking.evidence.items()}
        drawn = vars(self).get("drawn", {}).get(ranking.query.id, {})
        if shapes == {name: value.shape for name, value in drawn.items()}:
            feedback = replace(feedback, ranking=Ranking(ranking.query, ranking.order, drawn))
        super().learn(feedback)


class ForgetsThatItHasLearned(RankNet):
    """Turns its lists upside down once it has learned, and does not store that it has."""

    learned = False

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        ranking = super().rank(query, k=k, rng=rng)
        return Ranking(query, ranking.order[::-1].copy() if self.learned else ranking.order, ranking.evidence)

    def learn(self, feedback: Feedback) -> None:
        super().learn(feedback)
        self.learned = True


class ReadsGradesAsLikes(ListNet):
    """Takes every grade above 0 for the same."""

    def learn(self, feedback: Feedback) -> None:
        if feedback.signal == "grades":
            feedback = replace(feedback, reward=(feedback.reward > 0).astype(np.int64))
        super().learn(feedback)


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
    (TakesNobodyForTheLast, scoring_changes_nothing),
    (TakesNobodyForTheLast, late_feedback_is_learned_as_shown),
    (LearnsTheWrongAd, lists_of_others_teach_or_are_refused),
]
CAUGHT_BY_ONE: list[tuple[Make, Callable[[Make], None]]] = [
    (NotesByLuck, learn_is_deterministic),
    (StartsOverWhenWidened, features_that_appear_later_are_learned),
    (IgnoresWhatIsNew, features_that_appear_later_are_learned),
    (DeclaresWrongly, features_that_appear_later_are_learned),
    (LearnsOldListsOtherwise, features_that_appear_later_are_learned),
    (ForgetsVisitorsWhenWidened, features_that_appear_later_are_learned),
    (LendsItsOwners, lists_of_others_teach_or_are_refused),
    (LearnsAsDrawn, lists_of_others_teach_or_are_refused),
    (OffersAnyList, lists_of_others_teach_or_are_refused),
    (TiresOfQuestions, rank_changes_nothing),
    (ShowsWhatWasJustScored, scoring_changes_nothing),
    (RemembersListsByQuery, late_feedback_is_learned_as_shown),
    (ForgetsThatItHasLearned, state_survives_storage),
    (ReadsGradesAsLikes, grades_teach_different_things),
]


def test_every_law_has_a_mutant_that_no_other_law_sees() -> None:
    assert {law for _, law in CAUGHT_BY_ONE} == set(LAWS)


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize(("mutant", "law"), CAUGHT + CAUGHT_BY_ONE, ids=lambda value: value.__name__)
def test_caught(mutant: Make, law: Callable[[Make], None]) -> None:
    with pytest.raises(LawBroken):
        law(mutant)


@pytest.mark.parametrize(("mutant", "law"), CAUGHT_BY_ONE, ids=lambda value: value.__name__)
def test_no_other_law_sees_it(mutant: Make, law: Callable[[Make], None]) -> None:
    """So the law is needed, and it is not the mutant's other faults that it sees."""
    for other in LAWS + SANITY:
        if other is not law:
            other(mutant)
