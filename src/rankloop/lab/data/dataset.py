"""A dataset: the parts of one split, under one name."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from rankloop.errors import DataError
from rankloop.lab.data.preparation import drop_constant_features, normalise_per_query
from rankloop.lab.data.query_set_slices import pad_features, take_queries
from rankloop.query_set import QuerySet


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """Training, test and, where there is one, validation queries; equal fingerprints mean equal content."""

    name: str
    train: QuerySet
    test: QuerySet
    vali: QuerySet | None
    fingerprint: str

    def __post_init__(self) -> None:
        """Refuse parts that no one scorer could serve."""
        widths = {part.n_features for part in self.parts}
        if len(widths) > 1:
            raise DataError(f"{self.name}: expected parts of the same width, found {sorted(widths)} features")

    @property
    def parts(self) -> tuple[QuerySet, ...]:
        """Train, test and vali, without what is missing."""
        return (self.train, self.test) if self.vali is None else (self.train, self.test, self.vali)

    def map_parts(self, function: Callable[[QuerySet], QuerySet], *facts: str) -> Dataset:
        """Change each part by a function; the facts say what it did."""
        return self.with_parts(tuple(map(function, self.parts)), *facts)

    def with_parts(self, parts: Sequence[QuerySet], *facts: str) -> Dataset:
        """Put other parts in the places of its own; the facts say how they were made."""
        train, test, *vali = parts
        mark = fingerprint(self.fingerprint, *facts)
        return replace(self, train=train, test=test, vali=vali[0] if vali else None, fingerprint=mark)

    def at_most(self, train_queries: int) -> Dataset:
        """Keep the first training queries only, or all if there are no more."""
        if train_queries >= len(self.train):
            return self
        few = take_queries(self.train, 0, train_queries)
        mark = fingerprint(self.fingerprint, f"first {train_queries} training queries")
        return replace(self, train=few, fingerprint=mark)


def prepare(dataset: Dataset) -> Dataset:
    """Normalise per query, then drop the features that are constant over the training set."""
    parts = drop_constant_features(*map(normalise_per_query, dataset.parts))
    return dataset.with_parts(parts, "normalise_per_query", "drop_constant_features")


def join(name: str, parts: tuple[QuerySet, ...], mark: str) -> Dataset:
    """Make a dataset of train, test and perhaps vali, padded to a common width."""
    train, test, *vali = pad_features(*parts)
    return Dataset(name, train, test, vali[0] if vali else None, mark)


def fingerprint(*facts: str) -> str:
    """Make a short name for the facts that determine a dataset's content.

    >>> fingerprint("linear", "seed=1") == fingerprint("linear", "seed=1") != fingerprint("linear", "seed=2")
    True
    """
    return hashlib.sha256("\0".join(facts).encode()).hexdigest()[:16]
