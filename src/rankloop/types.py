"""Nouns that every part of rankloop shares.

A policy sees a `Query`, answers with a `Ranking` and learns from `Feedback`. Labels live in
`rankloop.query_set`, which users and metrics see and policies never do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from rankloop._unchecked import slot_setters, unchecked
from rankloop.errors import RankingError

FloatArray: TypeAlias = npt.NDArray[np.floating[Any]]
IntArray: TypeAlias = npt.NDArray[np.integer[Any]]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
Array: TypeAlias = npt.NDArray[Any]
State: TypeAlias = Mapping[str, Array]

BOOLEAN = np.dtype(np.bool_)  # comparing with the type itself makes one each time
Signal: TypeAlias = Literal["clicks", "grades"]  # what someone who looks at a list gives back


@dataclass(frozen=True, slots=True, eq=False)
class Context:
    """What is known of whoever asks; no candidate's property.

    >>> Context("anna", np.array([0.3, 1.0])).user
    'anna'
    """

    user: str = ""
    features: FloatArray = field(default_factory=lambda: np.zeros(0))  # [n_context], may be empty

    def __post_init__(self) -> None:
        """Refuse features that are no vector of numbers."""
        if self.features.ndim != 1 or not np.isfinite(self.features).all():
            raise RankingError(
                f"the features of a context must be one row of finite numbers, found {self.features!r}"
            )


NOBODY = Context()


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """A query and its candidates: all that a policy may see.

    Without feature columns only the candidates' identity is known. Of `caller_scores`,
    only the order counts: `caller_log_ranks` says it, made with the query and kept when candidates are taken.

    >>> Query("q1", np.eye(3)).n_docs
    3
    >>> Query("q1", [[0.9, 0.1], [0.2, 0.8]]).features.shape  # lists of numbers will do
    (2, 2)
    """

    id: str
    features: FloatArray  # [n_docs, n_features]
    doc_ids: Sequence[str] = ()  # empty: the candidates are known by their row number
    groups: Sequence[str] = ()  # [n_docs] whom each candidate belongs to; empty: to nobody
    context: Context = NOBODY
    caller_scores: FloatArray | None = None  # [n_docs] the caller's own order, as scores, higher first
    caller_log_ranks: FloatArray | None = field(init=False, default=None)  # [n_docs] what that order says
    cached_columns: tuple[object, FloatArray] | None = field(init=False, default=None, repr=False)

    def __post_init__(self) -> None:
        """Refuse features that no scorer could use, and what does not cover the candidates."""
        if not isinstance(self.features, np.ndarray):
            object.__setattr__(self, "features", _rows(self.id, self.features))
        if self.features.ndim != 2 or not len(self.features):
            raise RankingError(
                f"query {self.id!r}: features must be a [n_docs, n_features] array with at least one "
                f"document, found shape {self.features.shape}"
            )
        if not np.isfinite(self.features).all():
            raise RankingError(f"query {self.id!r}: features must be finite, found NaN or infinity")
        if self.doc_ids and len(self.doc_ids) != len(self.features):
            raise RankingError(f"query {self.id!r}: {len(self.doc_ids)} ids for {self.n_docs} documents")
        if self.groups and len(self.groups) != len(self.features):
            raise RankingError(f"query {self.id!r}: {len(self.groups)} groups for {self.n_docs} documents")
        scores = self.caller_scores
        if scores is not None:
            if scores.shape != (self.n_docs,) or not np.isfinite(scores).all():
                raise RankingError(
                    f"query {self.id!r}: caller_scores must be {self.n_docs} finite scores, one for each "
                    f"document, found {scores!r}"
                )
            object.__setattr__(self, "caller_log_ranks", log_ranks(scores))

    @property
    def n_docs(self) -> int:
        """How many candidates there are to rank."""
        return len(self.features)

    def take(self, rows: IntArray) -> Query:
        """Take the same query with these candidates only, in this order; their ranks for the caller stay.

        >>> Query("q1", np.eye(3), ("a", "b", "c")).take(np.array([2, 0])).doc_ids
        ('c', 'a')
        """
        if not len(rows):
            raise RankingError(f"query {self.id!r}: at least one of its documents must be taken, found none")
        numbers = rows.tolist() if self.doc_ids or self.groups else ()
        return view_query(
            self.id,
            self.features[rows],
            tuple(self.doc_ids[row] for row in numbers) if self.doc_ids else (),
            tuple(self.groups[row] for row in numbers) if self.groups else (),
            self.context,
            None if self.caller_scores is None else self.caller_scores[rows],
            None if self.caller_log_ranks is None else self.caller_log_ranks[rows],
            None,
        )


def _rows(name: str, features: object) -> FloatArray:
    """Features that came as lists; they may be ragged, or no numbers."""
    try:
        return np.asarray(features, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise RankingError(
            f"query {name!r}: features must be a row of numbers for each document, all of one length: {error}"
        ) from error


view_query = unchecked(Query)  # over rows that were checked when the whole was made
*_, cache_columns = slot_setters(Query)  # what a policy sees of a query, made once


def log_ranks(scores: FloatArray) -> FloatArray:
    r"""Say what an order says of each candidate, $-\log_2(1 + \text{rank})$; equal scores share a mean rank.

    Twice as far down is one less: near the top every position counts, far below hardly any.

    >>> log_ranks(np.array([0.3, 7.0, 0.1])).round(3).tolist(), log_ranks(np.zeros(3)).round(3).tolist()
    ([-1.585, -1.0, -2.0], [-1.585, -1.585, -1.585])
    """
    n = len(scores)
    if n < 2 or bool((scores[1:] < scores[:-1]).all()):  # as a rule candidates come in the caller's order
        return np.asarray(-np.log2(np.arange(2.0, n + 2)))
    _, members, sizes = np.unique(-scores, return_inverse=True, return_counts=True)
    ranks = np.cumsum(sizes) - (sizes - 1) / 2
    return np.asarray(-np.log2(1 + ranks[members]))


class Evidence(dict[str, Array]):
    """Named arrays that a policy put into a ranking; asking for one that is not there is a clear mistake."""

    def __missing__(self, name: str) -> Array:
        found = ", ".join(self) or "nothing"
        raise RankingError(
            f"this policy learns from the evidence {name!r} in its own rankings, found {found}: "
            "give it feedback on a ranking that a policy of its kind made"
        )


NO_EVIDENCE = Evidence()


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Ranking:
    """The list that was shown, with all that `learn` will ever need to know about how it came to be.

    >>> Ranking(Query("q", np.eye(3), ("a", "b", "c")), np.array([2, 0])).doc_ids
    ['c', 'a']
    """

    query: Query
    order: IntArray  # [k] rows of query.features, best first
    evidence: Mapping[str, Array]

    def __init__(self, query: Query, order: IntArray, evidence: Mapping[str, Array] = NO_EVIDENCE) -> None:
        """Refuse lists that repeat or invent documents."""
        shown, n_docs = order.tolist(), query.n_docs
        if not shown or len(set(shown)) != len(shown) or min(shown) < 0 or max(shown) >= n_docs:
            raise RankingError(
                f"query {query.id!r}: a ranking lists distinct rows of 0..{n_docs - 1}, found {shown}"
            )
        _put_query(self, query)
        _put_order(self, order)
        _put_evidence(self, Evidence(evidence))

    def __len__(self) -> int:
        return len(self.order)

    @property
    def doc_ids(self) -> list[str]:
        """What was shown, best first, by id; by row number where the query has no ids."""
        names = self.query.doc_ids
        return [names[row] if names else str(row) for row in self.order.tolist()]


_put_query, _put_order, _put_evidence = slot_setters(Ranking)


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Feedback:
    """What someone who was shown a ranking gave back: clicks, or grades of the results.

    >>> shown = Ranking(Query("q", np.eye(4)), np.arange(4))
    >>> Feedback(shown, np.array([False, True, False, False])).n_examined
    3
    >>> Feedback(shown, np.array([2, 0, 0, 1]), signal="grades").n_examined
    4
    """

    ranking: Ranking
    reward: Array  # [k] booleans are clicks; numbers are grades or values
    judged: BoolArray | None = None  # [k] what was surely judged; None: inferred from the reward
    signal: Signal = "clicks"
    truly_examined: BoolArray | None = None  # [k] simulated users know, real ones never say

    def __init__(
        self,
        ranking: Ranking,
        reward: Array,
        judged: BoolArray | None = None,
        signal: Signal = "clicks",
        truly_examined: BoolArray | None = None,
    ) -> None:
        """Refuse what does not cover the list, or is not what the signal says."""
        if not isinstance(reward, np.ndarray):
            reward = np.asarray(reward)
        if reward.shape != (len(ranking.order),):
            raise RankingError(f"{len(ranking)} positions were shown but feedback covers {reward.size}")
        if signal != "clicks":
            _check_grades(signal, reward)
        elif reward.dtype != BOOLEAN:
            raise RankingError(f"clicks must be booleans, found {reward.dtype}")
        if judged is not None:
            _check_mask("judged", judged, reward)
        if truly_examined is not None:
            _check_mask("truly_examined", truly_examined, reward)
        _put_ranking(self, ranking)
        _put_reward(self, reward)
        _put_judged(self, judged)
        _put_signal(self, signal)
        _put_truly_examined(self, truly_examined)

    @property
    def clicks(self) -> BoolArray:
        """Which positions were clicked, [k]; grades are no clicks."""
        if self.signal != "clicks":
            raise RankingError(
                f"this policy learns from clicks, found {self.signal}: give it a user who clicks"
            )
        return self.reward

    @property
    def n_examined(self) -> int:
        """How many positions were surely looked at: all down to the last click, and the one after it.

        Without a click nothing is inferred. Where it is known what was judged, all down to the last of that;
        grades cover the whole list.
        """
        return self.count_examined(1)

    def graded(self) -> tuple[FloatArray, BoolArray]:
        """Read the feedback as grades [k], and for which positions they are known [k], whatever the signal.

        Of clicks, what was examined is known: 1 if it was clicked, 0 if not. What is not known reads 0.

        >>> shown = Ranking(Query("q", np.eye(4)), np.arange(4))
        >>> grades, judged = Feedback(shown, np.array([False, True, False, False])).graded()
        >>> grades.tolist(), judged.tolist()
        ([0.0, 1.0, 0.0, 0.0], [True, True, True, False])
        >>> Feedback(shown, np.array([2, 0, 0, 1]), signal="grades").graded()[0].tolist()
        [2.0, 0.0, 0.0, 1.0]
        """
        judged = self.judged
        if judged is None:
            judged = np.zeros(self.reward.size, dtype=np.bool_)
            judged[: self.n_examined] = True
        return self.reward * judged.astype(np.float64), judged

    def count_examined(self, beyond: int) -> int:
        """Count the positions down to the last click and so many more: the cascade rule.

        >>> shown = Ranking(Query("q", np.eye(4)), np.arange(4))
        >>> [Feedback(shown, np.eye(4, dtype=bool)[1]).count_examined(beyond) for beyond in (0, 1, 9)]
        [2, 3, 4]
        """
        if self.judged is not None:
            judged = self.judged.nonzero()[0]
            return int(judged[-1]) + 1 if judged.size else 0
        if self.signal != "clicks":
            return int(self.reward.size)
        clicked = self.reward.nonzero()[0]
        return min(int(clicked[-1]) + 1 + beyond, self.reward.size) if clicked.size else 0


_put_ranking, _put_reward, _put_judged, _put_signal, _put_truly_examined = slot_setters(Feedback)


def _check_mask(name: str, mask: Array, reward: Array) -> None:
    if mask.shape != reward.shape or mask.dtype != BOOLEAN:
        raise RankingError(f"{name} must be {reward.size} booleans, found {mask.dtype} {mask.shape}")


def _check_grades(signal: str, reward: Array) -> None:
    if signal != "grades":
        raise RankingError(f"a signal is clicks or grades, found {signal!r}")
    if not np.issubdtype(reward.dtype, np.number) or not np.isfinite(reward).all():
        raise RankingError(f"grades must be finite numbers, found {reward!r}")
