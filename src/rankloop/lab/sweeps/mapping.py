"""Mapping of a pure function over jobs by an engine, for what is no sweep: fits of recommenders."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

Shared = TypeVar("Shared")
Job = TypeVar("Job")
Result = TypeVar("Result")


class Mapper(Protocol):
    """Engine that applies a function to jobs; results come in the order of the jobs, whoever is done first.

    The function is one that other processes can import, and its result depends on its arguments alone.
    """

    def map(
        self, function: Callable[[Shared, Job], Result], shared: Shared, jobs: Sequence[Job]
    ) -> Iterator[Result]:
        """`function(shared, job)` of every job."""
        ...
