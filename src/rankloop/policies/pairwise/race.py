"""Race: several learners share every list, and who falls behind goes on from where a better one is."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np

from rankloop.bounds import Bound, Positive
from rankloop.errors import RankingError
from rankloop.interleaving import TeamDraft, credit
from rankloop.learning.click_pairs import preferred_pairs
from rankloop.learning.win_odds import log_win_odds, win_rates
from rankloop.policies.caller_order_policy import CallerOrderPolicy
from rankloop.policies.pairwise.pairrank import PairRank
from rankloop.state_fields import state
from rankloop.types import Array, BoolArray, Feedback, FloatArray, IntArray, Query, Ranking

DEPTH = 20  # positions that are drafted; further down the list is the leader's


@dataclass(kw_only=True, eq=False)
class Race(CallerOrderPolicy):
    r"""A policy of policies: PairRank learners that are compared in the lists that are shown anyway.

    Each of the `racers` draws a list, and team draft makes one of them: every result has an owner. A racer
    learns from the pairs in which a result of its own took part, so that each has luck of its own and they
    stay apart. Who earned more clicks is ahead in that list. Once the odds that one racer is better than
    another, and not as good, reach `odds` (see `log_win_odds`), the other is restarted from it: with what it
    has learned, and a new record. Two racers that are equally good are ever told apart so with a probability
    of at most 1 / `odds`. Scores are those of the leader. `prior` and `caller_order` are PairRank's.

    >>> policy, query = Race(), Query("q", np.eye(3))
    >>> for seed in range(60):  # document 2 is always clicked
    ...     shown = policy.rank(query, k=3, rng=np.random.default_rng(seed))
    ...     policy.learn(Feedback(shown, shown.order == 2))
    >>> int(policy.score(query).argmax()), policy.parameters.shape
    (2, (3, 3))
    """

    state_shaping = ("racers",)
    position_column = True
    evidence_scope = "documents"  # who drafted them, and in which order

    racers: Annotated[int, Bound(at_least=2, at_most=DEPTH)] = 3
    odds: Annotated[float, Bound(above=1)] = 20.0
    prior: Positive = 0.4
    parameters: FloatArray = state((0, 0), feature_axes=(1,))  # [racers, n]
    curvature: FloatArray = state(
        (0, 0, 0), feature_axes=(1, 2), new_value=lambda policy: 1.0 / float(policy.penalty)
    )
    penalty: Array = state()  # λ of all of them
    prior_seen: Array = state(dtype=np.int64)
    wins: IntArray = state((0, 0), dtype=np.int64, feature_axes=())  # [i, j] lists in which i was ahead of j
    restarts: Array = state(dtype=np.int64)

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        """Let the racers draft a list; further down than they do, it is as the leader likes it."""
        seed = rng.integers(2**63)  # for learn(): it must draw nothing of its own
        racers = self._racers()
        lists = np.stack([racer.rank(query, k=DEPTH, rng=rng).order for racer in racers])
        drafted = TeamDraft().combine(lists, k=DEPTH, rng=rng)
        order = drafted.order[:k]
        if k > DEPTH:
            whole = racers[self.leader].rank(query, k=query.n_docs, rng=rng).order
            order = np.append(order, whole[~np.isin(whole, order)])[:k]
        evidence = {"seed": np.array(seed), "drafted": drafted.order, "owners": drafted.owners}
        return Ranking(query, order, evidence)

    def learn(self, feedback: Feedback) -> None:
        """Teach each racer the pairs that it took part in, and see who was ahead."""
        self._check_evidence(feedback.ranking)
        self._teach(feedback)
        ahead = self._ahead(feedback)
        if ahead.any():
            self.wins = self._wins() + ahead
            self._judge()

    def score(self, query: Query) -> FloatArray:
        """Scores of the leader."""
        return self._racer(self.leader).score(query)

    @property
    def leader(self) -> int:
        """Who is ahead most often, as far as that is known."""
        return int(win_rates(self._wins()).argmax())

    def certain_orders(self, query: Query) -> BoolArray:
        """`certain[i, j]`: the leader would not try out `j` above `i`."""
        return self._racer(self.leader).certain_orders(query)

    def order_probabilities(self, query: Query, rows: IntArray) -> FloatArray | None:
        """How sure the leader is of the order of these documents, see `PairRank`."""
        return self._racer(self.leader).order_probabilities(query, rows)

    def order_deviations(self, query: Query, rows: IntArray) -> FloatArray | None:
        """How far the leader's score differences may be off, see `PairRank`."""
        return self._racer(self.leader).order_deviations(query, rows)

    @cached_property
    def entrant(self) -> PairRank:
        """A racer that has learned nothing: making one takes longer than copying it."""
        return PairRank(prior=self.prior, caller_order=self.caller_order)

    def _racer(self, number: int) -> PairRank:
        """One of the learners, with what it knows; what its criterion does not use is not kept."""
        racer = copy(self.entrant)
        if len(self.parameters):
            racer.parameters, racer.curvature = self.parameters[number], self.curvature[number]
            racer.penalty, racer.prior_seen = self.penalty, self.prior_seen
            racer.energy = np.zeros(racer.parameters.size)
        return racer

    def _racers(self) -> list[PairRank]:
        return [self._racer(number) for number in range(self.racers)]

    def _wins(self) -> IntArray:
        return self.wins if self.wins.size else np.zeros((self.racers, self.racers), dtype=np.int64)

    def _check_evidence(self, ranking: Ranking) -> None:
        """Refuse evidence of a race that this one is not."""
        owners, drafted = ranking.evidence["owners"], ranking.evidence["drafted"]
        if owners.shape != (self.racers, len(drafted)) or drafted.max(initial=-1) >= ranking.query.n_docs:
            raise RankingError(
                f"this race has {self.racers} racers and the query {ranking.query.n_docs} documents: "
                f"expected owners for each, found {owners.shape} for the documents {drafted.tolist()}"
            )

    def _teach(self, feedback: Feedback) -> None:
        """All racers begin together, and with the same λ: what is typical is no matter of luck."""
        racers, query = self._racers(), feedback.ranking.query
        seed = int(feedback.ranking.evidence["seed"])
        pairs = racers[0].pairs(feedback, seed)
        if not (pairs.any() and query.features.shape[1]):
            return
        better, worse = preferred_pairs(feedback, racers[0].pairing, seed)
        for racer, own in zip(racers, self._own(feedback.ranking), strict=True):
            racer.fit_pairs(query, pairs[own[better] | own[worse]], seed)
        self.parameters = np.stack([racer.parameters for racer in racers])
        self.curvature = np.stack([racer.curvature for racer in racers])
        self.penalty, self.prior_seen = racers[0].penalty, racers[0].prior_seen

    def _own(self, ranking: Ranking) -> BoolArray:
        """Whose the results shown are, [racers, k]; what nobody drafted alone is everybody's."""
        owners = np.zeros((self.racers, ranking.query.n_docs), dtype=bool)
        owners[:, ranking.evidence["drafted"]] = ranking.evidence["owners"] > 0
        owners |= ~owners.any(axis=0)
        return owners[:, ranking.order]

    def _ahead(self, feedback: Feedback) -> IntArray:
        """Whether each racer earned more clicks than each other; a list that nobody drafted says nothing."""
        order, evidence = feedback.ranking.order[:DEPTH], feedback.ranking.evidence
        known = feedback.ranking.query.features.shape[1]  # without features all lists are luck
        if not (known and np.array_equal(order, evidence["drafted"][: len(order)])):
            return np.zeros((self.racers, self.racers), dtype=np.int64)
        earned = credit(evidence["owners"][:, : len(order)], feedback.clicks[:DEPTH])
        return np.greater.outer(earned, earned).astype(np.int64)

    def _judge(self) -> None:
        """Restart whoever is worse than another by the greatest odds, if these are enough."""
        odds = log_win_odds(self.wins)
        better, worse = np.unravel_index(int(odds.argmax()), odds.shape)
        if odds[better, worse] < np.log(self.odds):
            return
        if len(self.parameters):
            number = np.arange(self.racers)
            number[worse] = better
            self.parameters, self.curvature = self.parameters[number], self.curvature[number]
        others = np.arange(self.racers) != worse
        self.wins = self.wins * np.outer(others, others)
        self.restarts = self.restarts + 1
