"""The nouns every part of rankloop shares.

A policy sees a `Query`, answers with a `Ranking` and learns from `Feedback`. Labels live only in
`JudgedQuery` and `QuerySet`, which users and metrics see and policies never do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from rankloop.errors import DataError, RankingError

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

    Without feature columns only the candidates' identity is known. Of `base`, the caller's own scores, only
    the order counts: `log_ranks` has it, made when the query is made and kept when some candidates are taken.

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
    base: FloatArray | None = None  # [n_docs] the caller's own order, as scores, higher first
    log_ranks: FloatArray | None = field(init=False, default=None)  # [n_docs] what `base` says, see there

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
        if self.base is not None and not (self.base.shape == (self.n_docs,) and np.isfinite(self.base).all()):
            raise RankingError(
                f"query {self.id!r}: base must be {self.n_docs} finite scores, one for each document, "
                f"found {self.base!r}"
            )
        if self.base is not None:
            _put_log_ranks(self, log_ranks(self.base))

    @property
    def n_docs(self) -> int:
        """How many candidates there are to rank."""
        return len(self.features)

    def with_features(self, features: FloatArray) -> Query:
        """The same candidates, seen otherwise; finite features for each of them."""
        return _view(self.id, features, self.doc_ids, self.groups, self.context, self.base, self.log_ranks)

    def take(self, rows: IntArray) -> Query:
        """The same query with these candidates only, in this order; their ranks for the caller stay.

        >>> Query("q1", np.eye(3), ("a", "b", "c")).take(np.array([2, 0])).doc_ids
        ('c', 'a')
        """
        if not len(rows):
            raise RankingError(f"query {self.id!r}: at least one of its documents must be taken, found none")
        numbers = rows.tolist() if self.doc_ids or self.groups else ()
        return _view(
            self.id,
            self.features[rows],
            tuple(self.doc_ids[row] for row in numbers) if self.doc_ids else (),
            tuple(self.groups[row] for row in numbers) if self.groups else (),
            self.context,
            None if self.base is None else self.base[rows],
            None if self.log_ranks is None else self.log_ranks[rows],
        )


def _rows(name: str, features: object) -> FloatArray:
    """Features that came as lists; they may be ragged, or no numbers."""
    try:
        return np.asarray(features, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise RankingError(
            f"query {name!r}: features must be a row of numbers for each document, all of one length: {error}"
        ) from error


@dataclass(frozen=True, slots=True, eq=False)
class JudgedQuery:
    """A query with the grade of every candidate; users and metrics may see it, policies may not."""

    query: Query
    relevance: IntArray  # [n_docs], 0 = not relevant


@dataclass(frozen=True, slots=True, eq=False)
class QuerySet:
    """Many judged queries in one matrix; the items are views.

    Rows `offsets[i]:offsets[i + 1]` belong to query `i`, so a whole set is scored in one call.

    >>> queries = QuerySet(np.eye(3), np.array([0, 1, 3]), np.array([0, 2, 1]), ("a", "b"))
    >>> len(queries), queries[1].query.n_docs, queries.grades
    (2, 2, 3)
    """

    features: FloatArray  # [n_rows, n_features]
    offsets: IntArray  # [n_queries + 1]
    relevance: IntArray  # [n_rows]
    ids: Sequence[str]  # [n_queries]
    doc_ids: Sequence[str] = ()  # [n_rows] empty: documents are known by their features alone
    groups: Sequence[str] = ()  # [n_rows] whom each document belongs to; empty: to nobody
    contexts: FloatArray | None = None  # [n_queries, n_context] who asks; None: nothing is known of them
    base: FloatArray | None = None  # [n_rows] a base order within each query, as scores, higher first
    log_ranks: FloatArray | None = field(init=False, default=None)  # [n_rows] what `base` says

    def __post_init__(self) -> None:
        """Refuse parts that do not fit together."""
        rows = len(self.features)
        if self.features.ndim != 2 or self.relevance.shape != (rows,):
            raise DataError(
                f"features {self.features.shape} and relevance {self.relevance.shape} must have the same rows"
            )
        if not np.issubdtype(self.relevance.dtype, np.integer) or (rows and self.relevance.min() < 0):
            raise DataError("relevance must be whole numbers of 0 or more, 0 being not relevant")
        if len(self.offsets) != len(self.ids) + 1 or self.offsets[0] != 0 or self.offsets[-1] != rows:
            raise DataError(f"offsets must run from 0 to {rows} in {len(self.ids) + 1} steps")
        if (np.diff(self.offsets) < 1).any():
            raise DataError("every query needs at least one document")
        if self.doc_ids and len(self.doc_ids) != rows:
            raise DataError(f"doc_ids must name all {rows} documents or none, found {len(self.doc_ids)}")
        if self.groups and len(self.groups) != rows:
            raise DataError(
                f"groups must name those of all {rows} documents or none, found {len(self.groups)}"
            )
        if self.contexts is not None:
            _check_contexts(self.contexts, len(self.ids))
        if self.base is not None:
            if self.base.shape != (rows,) or not np.isfinite(self.base).all():
                raise DataError(f"base must be {rows} finite scores, one for each document")
            parts = (log_ranks(part) for part in np.split(self.base, self.offsets[1:-1]))
            object.__setattr__(self, "log_ranks", np.concatenate(list(parts)))

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, index: int) -> JudgedQuery:
        n = len(self.ids)
        if not -n <= index < n:
            raise IndexError(f"query {index} of {n}")
        index %= n
        rows = slice(*self.offsets[index : index + 2].tolist())  # plain numbers cut arrays in half the time
        query = _view(
            self.ids[index],
            self.features[rows],
            self.doc_ids[rows] if self.doc_ids else (),
            self.groups[rows] if self.groups else (),
            NOBODY if self.contexts is None else _asker(self.contexts[index]),
            None if self.base is None else self.base[rows],
            None if self.log_ranks is None else self.log_ranks[rows],
        )
        return JudgedQuery(query, self.relevance[rows])

    def __iter__(self) -> Iterator[JudgedQuery]:
        return (self[index] for index in range(len(self)))

    @property
    def together(self) -> Query:
        """All documents as the candidates of one query, to be scored in one call; each has its own rank."""
        return _view("", self.features, self.doc_ids, self.groups, NOBODY, self.base, self.log_ranks)

    @property
    def n_features(self) -> int:
        """Width of the feature matrix."""
        return int(self.features.shape[1])

    @property
    def grades(self) -> int:
        """How many grades the labels use: one more than the highest."""
        return int(self.relevance.max()) + 1 if len(self.relevance) else 1


def _check_contexts(contexts: FloatArray, queries: int) -> None:
    if contexts.ndim != 2 or len(contexts) != queries or not np.isfinite(contexts).all():
        raise DataError(
            f"contexts must be a row of finite numbers for each of {queries} queries, found {contexts.shape}"
        )


def _asker(features: FloatArray) -> Context:
    """A context whose features were checked when the set was made."""
    context = object.__new__(Context)
    _put_user(context, "")
    _put_context_features(context, features)
    return context


def _view(
    query_id: str,
    features: FloatArray,
    doc_ids: Sequence[str] = (),
    groups: Sequence[str] = (),
    context: Context = NOBODY,
    base: FloatArray | None = None,
    ranks: FloatArray | None = None,
) -> Query:
    """A query over rows that were checked when the set was made: checking costs more than ranking."""
    query = object.__new__(Query)
    _put_id(query, query_id)
    _put_features(query, features)
    _put_doc_ids(query, doc_ids)
    _put_groups(query, groups)
    _put_context(query, context)
    _put_base(query, base)
    _put_log_ranks(query, ranks)
    return query


def log_ranks(base: FloatArray) -> FloatArray:
    r"""What an order says of each candidate, $-\log_2(1 + \text{rank})$; equal scores share their mean rank.

    Twice as far down is one less: near the top every position counts, far below hardly any.

    >>> log_ranks(np.array([0.3, 7.0, 0.1])).round(3).tolist(), log_ranks(np.zeros(3)).round(3).tolist()
    ([-1.585, -1.0, -2.0], [-1.585, -1.585, -1.585])
    """
    n = len(base)
    if n < 2 or bool((base[1:] < base[:-1]).all()):  # as a rule candidates come in the caller's order
        return np.asarray(-np.log2(np.arange(2.0, n + 2)))
    _, members, sizes = np.unique(-base, return_inverse=True, return_counts=True)
    ranks = np.cumsum(sizes) - (sizes - 1) / 2
    return np.asarray(-np.log2(1 + ranks[members]))


# a slot's own setter takes half the time of setting an attribute by name
_put_user, _put_context_features = (getattr(Context, each.name).__set__ for each in fields(Context))
_put_id, _put_features, _put_doc_ids, _put_groups, _put_context, _put_base, _put_log_ranks = (
    getattr(Query, each.name).__set__ for each in fields(Query)
)


class Evidence(dict[str, Array]):
    """Named arrays that a policy put into a ranking; asking for one that is not there is a clear mistake."""

    def __missing__(self, name: str) -> Array:
        found = ", ".join(self) or "nothing"
        raise RankingError(
            f"this policy learns from the evidence {name!r} in its own rankings, found {found}: "
            "give it feedback on a ranking that a policy of its kind made"
        )


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Ranking:
    """The list that was shown, with all that `learn` will ever need to know about how it came to be.

    >>> Ranking(Query("q", np.eye(3), ("a", "b", "c")), np.array([2, 0])).doc_ids
    ['c', 'a']
    """

    query: Query
    order: IntArray  # [k] rows of query.features, best first
    evidence: Mapping[str, Array]

    def __init__(
        self, query: Query, order: IntArray, evidence: Mapping[str, Array] = MappingProxyType({})
    ) -> None:
        """Refuse lists that repeat or invent documents."""
        shown = order.tolist()
        if not shown or len(set(shown)) != len(shown) or min(shown) < 0 or max(shown) >= query.n_docs:
            raise RankingError(
                f"query {query.id!r}: a ranking lists distinct rows of 0..{query.n_docs - 1}, found {shown}"
            )
        _put_ranked(self, query)
        _put_order(self, order)
        _put_evidence(self, Evidence(evidence))

    def __len__(self) -> int:
        return len(self.order)

    @property
    def doc_ids(self) -> list[str]:
        """What was shown, best first, by id; by row number where the query has no ids."""
        names = self.query.doc_ids
        return [names[row] if names else str(row) for row in self.order.tolist()]


_put_ranked, _put_order, _put_evidence = (getattr(Ranking, each.name).__set__ for each in fields(Ranking))


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Feedback:
    """What someone who was shown a ranking gave back: clicks, or grades of the results.

    >>> shown = Ranking(Query("q", np.eye(4)), np.arange(4))
    >>> Feedback(shown, np.array([False, True, False, False])).examined
    3
    >>> Feedback(shown, np.array([2, 0, 0, 1]), signal="grades").examined
    4
    """

    ranking: Ranking
    reward: Array  # [k] booleans are clicks; numbers are grades or values
    known: BoolArray | None = None  # [k] what was surely judged; None: inferred from the reward
    signal: Signal = "clicks"
    seen: BoolArray | None = None  # [k] what was truly looked at; simulated users know, real ones never say

    def __init__(
        self,
        ranking: Ranking,
        reward: Array,
        known: BoolArray | None = None,
        signal: Signal = "clicks",
        seen: BoolArray | None = None,
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
        if known is not None:
            _check_mask("known", known, reward)
        if seen is not None and (seen.shape != reward.shape or seen.dtype != BOOLEAN):
            _check_mask("seen", seen, reward)
        _put_ranking(self, ranking)
        _put_reward(self, reward)
        _put_known(self, known)
        _put_signal(self, signal)
        _put_seen(self, seen)

    @property
    def clicks(self) -> BoolArray:
        """Which positions were clicked, [k]; grades are no clicks."""
        if self.signal != "clicks":
            raise RankingError(
                f"this policy learns from clicks, found {self.signal}: give it a user who clicks"
            )
        return self.reward

    @property
    def examined(self) -> int:
        """How many positions were surely looked at: all down to the last click, and the one after it.

        Without a click nothing is inferred. Where it is known what was judged, all down to the last of that;
        grades cover the whole list.
        """
        return self.reach(1)

    def graded(self) -> tuple[FloatArray, BoolArray]:
        """The feedback as grades [k], and for which positions they are known [k], whatever the signal.

        Of clicks, what was examined is known: 1 if it was clicked, 0 if not. What is not known reads 0.

        >>> shown = Ranking(Query("q", np.eye(4)), np.arange(4))
        >>> grades, known = Feedback(shown, np.array([False, True, False, False])).graded()
        >>> grades.tolist(), known.tolist()
        ([0.0, 1.0, 0.0, 0.0], [True, True, True, False])
        >>> Feedback(shown, np.array([2, 0, 0, 1]), signal="grades").graded()[0].tolist()
        [2.0, 0.0, 0.0, 1.0]
        """
        known = self.known
        if known is None:
            known = np.zeros(self.reward.size, dtype=np.bool_)
            known[: self.examined] = True
        return self.reward * known.astype(np.float64), known

    def reach(self, beyond: int) -> int:
        """How many positions there are down to the last click and so many more: the cascade rule.

        >>> shown = Ranking(Query("q", np.eye(4)), np.arange(4))
        >>> [Feedback(shown, np.eye(4, dtype=bool)[1]).reach(beyond) for beyond in (0, 1, 9)]
        [2, 3, 4]
        """
        if self.known is not None:
            judged = self.known.nonzero()[0]
            return int(judged[-1]) + 1 if judged.size else 0
        if self.signal != "clicks":
            return int(self.reward.size)
        clicked = self.reward.nonzero()[0]
        return min(int(clicked[-1]) + 1 + beyond, self.reward.size) if clicked.size else 0


_put_ranking, _put_reward, _put_known, _put_signal, _put_seen = (
    getattr(Feedback, each.name).__set__ for each in fields(Feedback)
)


def _check_mask(name: str, mask: Array, reward: Array) -> None:
    if mask.shape != reward.shape or mask.dtype != BOOLEAN:
        raise RankingError(f"{name} must be {reward.size} booleans, found {mask.dtype} {mask.shape}")


def _check_grades(signal: str, reward: Array) -> None:
    if signal != "grades":
        raise RankingError(f"a signal is clicks or grades, found {signal!r}")
    if not np.issubdtype(reward.dtype, np.number) or not np.isfinite(reward).all():
        raise RankingError(f"grades must be finite numbers, found {reward!r}")
