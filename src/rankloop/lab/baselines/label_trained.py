"""What policies share that learn from grades: a memory of judged lists, and Adam on the pairs in them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from rankloop.bounds import Count, Positive
from rankloop.errors import RankingError
from rankloop.lab.baselines.judged_lists import JudgedList, append, judged_list, stacked
from rankloop.learning.adam import adam
from rankloop.learning.pair_loss import loss_direction
from rankloop.policies.scorer_policy import ScorerPolicy, check_size
from rankloop.scorers import MLP, Scorer
from rankloop.state_fields import state
from rankloop.types import Array, BoolArray, Feedback, FloatArray, IntArray


@dataclass(kw_only=True, eq=False)
class LearnsFromGrades(ScorerPolicy):
    r"""A policy whose every document should stand above those of a lower grade.

    It minimises $-\sum w_{ij} \log \sigma(s_i - s_j)$ over the pairs of different grade, one step of Adam on
    `queries` judged lists at a time.
    """

    signals = ("grades",)
    evidence_scope = "documents"  # grades hold wherever a document stands

    scorer: Scorer = field(default_factory=MLP)
    queries: Count = 16
    learning_rate: Positive = 1e-4
    moments: FloatArray = state((2, 0), feature_axes=(1,))  # of Adam
    steps_taken: Array = state(dtype=np.int64)
    lists: Array = state(dtype=np.int64)  # remembered
    documents: FloatArray = state((0, 0), feature_axes=(1,), rewritten=True)
    grades: FloatArray = state((0,), feature_axes=(), rewritten=True)
    ends: IntArray = state(
        (0,), np.int64, feature_axes=(), rewritten=True
    )  # of the lists among the documents

    @abstractmethod
    def _weigh(self, scores: FloatArray, wins: BoolArray, gains: FloatArray) -> FloatArray:
        """Say what each win counts."""

    def _remember(self, feedback: Feedback) -> bool:
        """Keep a judged list; whether there was anything to keep."""
        if feedback.signal != "grades":
            raise RankingError(f"this policy learns from grades, found {feedback.signal}: give it a judge")
        judged = judged_list(feedback)
        if not judged.documents.size:
            return False
        check_size(judged.documents)
        self._fit_width(judged)
        self.documents, self.grades, self.ends = append(
            self.documents, self.grades, self.ends, int(self.lists), judged
        )
        self.lists = self.lists + 1
        return True

    def _fit_width(self, judged: JudgedList) -> None:
        """Start with the first list; refuse later ones of another width."""
        known, found = self.documents.shape[1], judged.documents.shape[1]
        if not self.parameters.size:
            self.parameters = self.scorer.start(found)
            self.moments = np.zeros((2, self.parameters.size))
            self.documents = np.zeros((0, found), dtype=judged.documents.dtype)
        elif known != found:
            raise RankingError(f"this ranker knows {known} features but the query has {found}")

    def _step(self, lists: Sequence[int]) -> None:
        """One step on these lists of the memory, if there is anything to tell apart in them."""
        documents, wins, gains = stacked(self.documents, self.grades, self.ends, lists)
        if wins.any():
            weigh = partial(self._weigh, gains=gains)
            direction = loss_direction(self.scorer, self.parameters, documents, wins, weigh)
            direction, moments = adam(self.moments, direction, int(self.steps_taken))
            self.step_to(self.parameters, self.learning_rate, direction)
            self.moments = moments
        self.steps_taken = self.steps_taken + 1
