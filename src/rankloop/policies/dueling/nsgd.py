"""Null space gradient descent: do not try again what users have just rejected."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankloop.bounds import Count, Natural
from rankloop.errors import RankingError, SettingError
from rankloop.interleaving import credit
from rankloop.learning import difficult_lists
from rankloop.learning.projection import orthonormal_basis
from rankloop.policies.dueling.mgd import MGD
from rankloop.state_fields import state
from rankloop.types import Array, BoolArray, Feedback, FloatArray

HARD_ROUNDS = 50  # for how many rounds a difficult list is remembered


@dataclass(kw_only=True, eq=False)
class NSGD(MGD):
    r"""MGD that explores where it has not lost lately, and lets difficult lists choose among winners.

    With $N$ an orthonormal basis of the worst directions that lost lately, proposals are
    $u \propto z - N N^\top z$ with $z$ normal: unit vectors uniform in the null space of these directions. Of
    many proposals, those are tried that stir the query's documents most, by $|u^\top \bar x|$ with their mean
    $\bar x$. If several candidates tie for the most credit, above the current ranker's, the one that ranks
    the clicked results of recent difficult lists best is followed.

    >>> from rankloop.types import Feedback, Query
    >>> policy, query = NSGD(candidates=3, proposals=3), Query("q", np.eye(8))
    >>> shown = policy.rank(query, k=8, rng=np.random.default_rng(0))
    >>> policy.learn(Feedback(shown, shown.evidence["owners"][0] > 0))  # all clicks to the current ranker
    >>> again = policy.rank(query, k=8, rng=np.random.default_rng(1)).evidence["directions"]
    >>> bool(np.allclose(again @ shown.evidence["directions"].T, 0))
    True

    Wang, Langley, Kim, McCord-Snook, Wang: Efficient exploration of gradient space for online learning to
    rank. SIGIR 2018.
    """

    proposals: Count = 20  # directions drawn: the `candidates` that stir the documents most are tried
    window: Natural = 60  # losing directions remembered, the latest
    avoid: Natural = 25  # the worst of them are avoided; never more than half as many as there are parameters
    hard: Natural = 10  # difficult lists remembered
    losers: FloatArray = state((0, 0), feature_axes=(1,))  # directions
    losses: FloatArray = state((0,), feature_axes=())  # of credit
    lists: FloatArray = state((0, 0), feature_axes=(1,), leading=2)  # the difficult ones
    rounds: Array = state(dtype=np.int64)

    def __post_init__(self) -> None:
        """Refuse fewer proposals than are tried."""
        super().__post_init__()
        if self.proposals < self.candidates:
            raise SettingError(
                f"proposals must be at least candidates={self.candidates}, found {self.proposals}"
            )

    def draw_directions(self, columns: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Draw directions from the null space that the query's documents tell apart best."""
        current = self.parameters_for(columns)
        proposals = rng.standard_normal((self.proposals, current.size))
        if self.losers.size:
            worst = np.argsort(self.losses, kind="stable")[: min(self.avoid, current.size // 2)]
            basis = orthonormal_basis(self.losers[worst])
            proposals -= (proposals @ basis.T) @ basis
        proposals /= np.linalg.norm(proposals, axis=1, keepdims=True)
        mean = self.scorer.vjp(current, columns, np.full(len(columns), 1 / len(columns)))
        return proposals[np.argsort(-np.abs(proposals @ mean), kind="stable")[: self.candidates]]

    def find_winners(self, feedback: Feedback, columns: FloatArray) -> BoolArray:
        """Find the candidate that won, or of several the best on difficult lists."""
        evidence = feedback.ranking.evidence
        earned = credit(evidence["owners"], feedback.clicks)
        tied = (earned[1:] == earned.max()) & (earned[1:] > earned[0])
        if tied.sum() > 1 and self.lists.size:
            current = self.parameters_for(columns)
            rankers = current + self.radius * evidence["directions"][tied]
            quality = difficult_lists.quality(self.lists, self.scoring.score(rankers, self.lists[:, 2:]))
            tied[tied] = quality == quality.max()
        return np.asarray(tied)

    def learn(self, feedback: Feedback) -> None:
        """Move as MGD does, then remember who lost and which lists were difficult."""
        query = feedback.ranking.query
        found, known = query.features.shape[1], self.lists.shape[1] - 2 - self.layout.extra
        if not found:
            return
        if self.lists.size and found != known:
            raise RankingError(f"this ranker knows {known} features but the query has {found}")
        super().learn(feedback)
        evidence = feedback.ranking.evidence
        earned = credit(evidence["owners"], feedback.clicks)
        if (lost := earned[1:] < earned[0]).any():
            losers, losses = evidence["directions"][lost], (earned[1:] - earned[0])[lost]
            self.losers = np.concatenate((losers, self.losers if self.losers.size else losers[:0]))[
                : self.window
            ]
            self.losses = np.concatenate((losses, self.losses))[: self.window]
        self.lists = difficult_lists.remember(
            self.lists,
            feedback,
            self.layout.columns(query),
            int(self.rounds),
            most=self.hard,
            window=HARD_ROUNDS,
        )
        self.rounds = self.rounds + 1
