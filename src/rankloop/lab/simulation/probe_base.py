"""What a probe is: a named value that looks into a policy and changes nothing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol, runtime_checkable

from rankloop.errors import SettingError
from rankloop.exploration import ordered_blocks
from rankloop.lab.simulation.measures import Measure
from rankloop.policies import Policy
from rankloop.types import BoolArray, Feedback, FloatArray, IntArray, JudgedQuery, Query, QuerySet, Ranking


@runtime_checkable
class KnowsOrders(Protocol):
    """A policy that can say which orders are settled."""

    def certain_orders(self, query: Query) -> BoolArray:
        """`certain[i, j]`: the order of `i` above `j` is settled."""
        ...


@dataclass(frozen=True, eq=False)
class Look:
    """A round as a probe sees it: the list is chosen, and nothing has been learned from it yet.

    All probes of a round share one look, so the certain orders are worked out once.
    """

    policy: Policy
    judged: JudgedQuery
    ranking: Ranking
    train: QuerySet  # all queries that are asked

    @cached_property
    def certain(self) -> BoolArray:
        """The certain orders of the query's documents, [n_docs, n_docs]."""
        return certain_orders(self.policy, self.judged.query)

    @cached_property
    def blocks(self) -> list[IntArray]:
        """The ordered blocks of the query's documents, best first."""
        return ordered_blocks(self.scores, self.certain)

    @cached_property
    def scores(self) -> FloatArray:
        """Scores that no certain order contradicts, [n_docs]."""
        return settled_scores(self.policy, self.judged.query)


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A moment between two rounds as a probe sees it."""

    policy: Policy
    train: QuerySet
    round: int  # how many there have been
    rounds: int  # how many there will be


@dataclass(frozen=True, kw_only=True)
class Probe(ABC):
    """Looks into a policy that learns, and gives named values.

    A probe is a value: what it does follows from its settings alone, and it never changes the policy. One
    that has a `name` is known by it on the command line.
    """

    name: ClassVar[str] = ""

    @property
    @abstractmethod
    def measures(self) -> tuple[Measure, ...]:
        """All that it may see."""

    @abstractmethod
    def applies(self, policy: Policy) -> bool:
        """Whether there is anything to see in such a policy; others are passed over."""


@dataclass(frozen=True, kw_only=True)
class RoundProbe(Probe):
    """A probe that looks at rounds: the first after a checkpoint, then every `every`-th.

    The record at a checkpoint is the mean since the one before. For a probe whose values `add_up` it is the
    sum over all rounds so far, where each look stands for the rounds until the next.
    """

    every: int = 10
    add_up: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Refuse to look never."""
        if self.every < 1:
            raise SettingError(f"every must be at least 1, found {self.every}")

    @abstractmethod
    def values(self, look: Look) -> Mapping[Measure, float]:
        """What is seen in one round, by measure; a value that the query cannot have is left out."""


class Follower(Protocol):
    """What follows one run for a probe, and keeps what it saw."""

    def look(self, look: Look) -> None:
        """A list is chosen, and nothing has been learned from it yet."""
        ...

    def hear(self, feedback: Feedback) -> None:
        """The user has responded to it."""
        ...

    def values(self) -> Mapping[Measure, float]:
        """What all lists so far amount to, by measure."""
        ...


@dataclass(frozen=True, kw_only=True)
class RunProbe(Probe):
    """A probe that follows a run list by list, for what depends on all of them: sums, and their extremes."""

    @abstractmethod
    def follow(self) -> Follower:
        """What follows a run that is about to begin."""


@dataclass(frozen=True, kw_only=True)
class CheckpointProbe(Probe):
    """A probe that looks at checkpoints only."""

    @abstractmethod
    def values(self, checkpoint: Checkpoint) -> Mapping[Measure, float]:
        """What is seen at one checkpoint, by measure."""


def certain_orders(policy: Policy, query: Query) -> BoolArray:
    """The certain orders, from a policy that was found to know them."""
    assert isinstance(policy, KnowsOrders)
    return policy.certain_orders(query)


def settled_scores(policy: Policy, query: Query) -> FloatArray:
    """The scores behind the certain orders: `list_scores` where a policy tells them from `score`."""
    scores: FloatArray = getattr(policy, "list_scores", policy.score)(query)
    return scores
