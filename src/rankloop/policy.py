"""The contract every policy obeys."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass, fields
from operator import attrgetter
from typing import Any, ClassVar, Literal, Protocol, Self, runtime_checkable

import numpy as np

from rankloop.bounds import check_settings
from rankloop.caller_order import NO_ORDER, ColumnLayout
from rankloop.errors import RankingError
from rankloop.query_set import QuerySet
from rankloop.state_fields import can_widen, declaration, padded, widened
from rankloop.types import (
    Array,
    BoolArray,
    Feedback,
    FloatArray,
    IntArray,
    Query,
    Ranking,
    Signal,
    State,
)


@dataclass(kw_only=True, eq=False)
class Policy(ABC):
    """Ranks queries and learns from what users do with the lists.

    `rank` asks and `learn` changes. A policy is a dataclass whose ordinary fields are its settings and whose
    fields made by `state(...)` are its state: arrays, which `learn` replaces and nothing else touches. Only a
    memory that `learn` alone reads may be written in place, where copying it would cost too much. From that
    follow `state`, `from_state`, `widened` and a `repr` that shows the settings. A policy is known by
    the name of its class.

    The seven laws, which `rankloop.checks` tries on every policy:

    1. `rank` changes nothing.
    2. `learn` and `shown` are deterministic, so a policy is a fold of its log.
    3. Scoring in between changes nothing.
    4. Late feedback is learned as it was shown: `learn` looks at the ranking's evidence, not at a memory.
    5. Features that appear later are learned; a policy that cannot take more says so.
    6. Lists of others teach or are refused: what a policy did not draw is never learned wrongly.
    7. A higher grade teaches something else than a lower one, or is refused.
    """

    signals: ClassVar[tuple[Signal, ...]] = ("clicks",)  # what it can learn from, the best first
    evidence_scope: ClassVar[Literal["list", "documents"]] = "list"  # "documents": for any list of the query
    feature_evidence: ClassVar[tuple[str, ...]] = ()  # evidence whose last axis is features
    scores_alone: ClassVar[bool] = True  # a document's score depends on nothing but the document
    identifies_by: ClassVar[Literal["features", "ids"]] = "features"  # ids: unknown until it was shown
    reads: ClassVar[Literal["documents", "context"]] = "documents"  # whose features its state is about
    learns_without_clicks: ClassVar[bool] = False  # a list that nobody clicked teaches, too
    refused_in_service: ClassVar[str] = ""  # why a service refuses it, after its name; empty: it serves it
    state_shaping: ClassVar[tuple[str, ...]] = ()  # settings that give the state its form: `training.memory`

    def __post_init__(self) -> None:
        """Refuse settings that are not what their annotations say."""
        check_settings(self)

    def check_installed(self) -> None:  # noqa: B027  # most policies need nothing
        """Refuse to be served without a package that learning will need; here there is none."""

    @property
    def layout(self) -> ColumnLayout:
        """The columns that it sees of a query: the features, unless it looks at the caller's order."""
        return NO_ORDER

    @abstractmethod
    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        """Choose `k` candidates to show (all, if there are fewer), with the evidence `learn` will need."""

    def shown(self, ranking: Ranking) -> None:  # noqa: B027  # most policies learn from feedback alone
        """Take note that a list was shown, whatever comes of it; here nothing is noted."""

    @abstractmethod
    def learn(self, feedback: Feedback) -> None:
        """Take in what a user did with a ranking."""

    @abstractmethod
    def score(self, query: Query) -> FloatArray:
        """How good each document is thought to be, without exploration, [n_docs]; higher is better."""

    def with_order(self, drawn: Ranking, order: IntArray) -> Ranking | None:
        """Make the ranking to learn from if this order was shown instead of the drawn; `None`: nothing is.

        >>> from rankloop.policies import MGD, PDGD
        >>> drawn = Ranking(Query("q", np.eye(2)), np.array([1, 0]))
        >>> PDGD().with_order(drawn, np.array([0, 1])).order.tolist()
        [0, 1]
        >>> MGD().with_order(drawn, np.array([0, 1])) is None  # its evidence says whose result stands where
        True
        """
        if np.array_equal(drawn.order, order):
            return drawn
        return Ranking(drawn.query, order, drawn.evidence) if self.evidence_scope == "documents" else None

    def state(self) -> State:
        """Take a snapshot of everything learned, as named arrays."""
        return {each.name: np.array(getattr(self, each.name)) for each in self._state_fields()}

    def from_state(self, state: State) -> Self:
        """Make a policy with these settings and that state."""
        names = [each.name for each in self._state_fields()]
        if set(state) != set(names):
            raise RankingError(f"{type(self).__name__} has the state {sorted(names)}, found {sorted(state)}")
        twin = self._bare_twin()
        for name, value in state.items():
            setattr(twin, name, np.array(value))
        return twin

    def widened(self, n_features: int) -> Self | None:
        """Make the policy that would be there had the new features always been 0; `None`: it takes no more.

        Every feature keeps its column for ever, so widening is padding by what the state fields declare.

        >>> from rankloop.policies import PDGD, RankNet
        >>> from rankloop.scorers import MLP
        >>> RankNet().widened(3) is None, RankNet(scorer=MLP()).widened(3) is None
        (False, True)
        """
        own, n_columns = self._state_fields(), n_features + self.layout.extra
        if not all(can_widen(each, np.asarray(getattr(self, each.name))) for each in own):
            return None
        return self.from_state({each.name: widened(each, self, n_columns) for each in own})

    def widened_evidence(self, evidence: Mapping[str, Array], n_features: int) -> dict[str, Array]:
        """Evidence of a list that was shown when there were fewer features."""
        return {
            name: padded(value, (value.ndim - 1,), n_features + self.layout.extra - value.shape[-1])
            if name in self.feature_evidence
            else value
            for name, value in evidence.items()
        }

    def narrowed_evidence(self, evidence: Mapping[str, Array], features: Sequence[int]) -> dict[str, Array]:
        """Evidence of a list without that about some features, by number, which are there no more.

        >>> from rankloop.policies import MGD
        >>> MGD().narrowed_evidence({"directions": np.array([[1.0, 2.0, 3.0]])}, [1])["directions"].tolist()
        [[1.0, 3.0]]
        """
        columns = [each + self.layout.extra for each in features]
        return {
            name: np.delete(value, [each for each in columns if each < value.shape[-1]], axis=-1)
            if columns and name in self.feature_evidence
            else value
            for name, value in evidence.items()
        }

    @classmethod
    def rewritten_names(cls) -> tuple[str, ...]:
        """List the arrays of the state that hold past lists, and may be written in place."""
        return tuple(each.name for each in cls._state_fields() if declaration(each).rewritten)

    def continues(self, other: Policy) -> bool:
        """Whether what the other has learned means the same to this policy, so that it may go on from there.

        Both must be of one kind and agree on the settings that give the state its form: all that its
        classes name in `state_shaping`.

        >>> from rankloop.policies import PDGD
        >>> from rankloop.scorers import MLP
        >>> PDGD().continues(PDGD(learning_rate=0.5)), PDGD().continues(PDGD(scorer=MLP()))
        (True, False)
        """
        if type(self) is not type(other):
            return False
        shaping = (name for kind in type(self).__mro__ for name in vars(kind).get("state_shaping", ()))
        return all(attrgetter(name)(self) == attrgetter(name)(other) for name in shaping)

    def __copy__(self) -> Self:
        """Make a twin with a memory of its own: it is the one thing that `learn` writes into."""
        twin = self._bare_twin()
        vars(twin).update({name: getattr(self, name).copy() for name in self.rewritten_names()})
        return twin

    def _bare_twin(self) -> Self:
        """Make a twin that shares everything."""
        twin = object.__new__(type(self))
        vars(twin).update(vars(self))
        return twin

    @classmethod
    def _state_fields(cls) -> tuple[Field[Any], ...]:
        return tuple(each for each in fields(cls) if not each.init)


@runtime_checkable
class KnowsOrders(Protocol):
    """Policy that knows how probable an order is, given the clicks."""

    def order_probabilities(self, query: Query, rows: IntArray) -> FloatArray | None:
        """Compute for the documents in these rows that the first of two belongs above the second, [k, k].

        The row's document stands above the column's; `None`: this query is unknown.
        """
        ...


@runtime_checkable
class KnowsDeviations(Protocol):
    """Policy that knows how far its scores may be off."""

    def order_deviations(self, query: Query, rows: IntArray) -> FloatArray | None:
        """Compute the standard deviations of the score differences of the documents in these rows, [k, k].

        `None`: this query is unknown.
        """
        ...


@runtime_checkable
class KnowsCertainOrders(Protocol):
    """Policy that knows which orders are certain, and not tried out."""

    def certain_orders(self, query: Query) -> BoolArray:
        """Compute `certain[i, j]`: the order of `i` above `j` is certain, [n, n]."""
        ...


def score_all(policy: Policy, queries: QuerySet) -> FloatArray:
    """Score all documents of a set, [n_rows]: in one call, where features suffice.

    >>> from rankloop.policies import Random
    >>> score_all(Random(), QuerySet(np.eye(3), np.array([0, 1, 3]), np.array([0, 2, 1]), ("a", "b"))).shape
    (3,)
    """
    if policy.scores_alone:
        return policy.score(queries.as_one_query())
    return np.concatenate([policy.score(judged.query) for judged in queries])
