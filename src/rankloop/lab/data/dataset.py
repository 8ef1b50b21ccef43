"""A dataset: the parts of one split, under one name."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

from rankloop.errors import DataError
from rankloop.lab.data.preparation import (
    drop_constant_features,
    normalise_per_query,
    pad_features,
    unit_length,
)
from rankloop.types import QuerySet


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


def prepare(dataset: Dataset) -> Dataset:
    """Normalise per query, then drop the features that are constant over the training set."""
    train, test, *vali = drop_constant_features(*map(normalise_per_query, dataset.parts))
    mark = fingerprint(dataset.fingerprint, "normalise_per_query", "drop_constant_features")
    return replace(dataset, train=train, test=test, vali=vali[0] if vali else None, fingerprint=mark)


def with_unit_length(dataset: Dataset) -> Dataset:
    """The same dataset, every document's features scaled to length 1."""
    train, test, *vali = map(unit_length, dataset.parts)
    mark = fingerprint(dataset.fingerprint, "unit_length")
    return replace(dataset, train=train, test=test, vali=vali[0] if vali else None, fingerprint=mark)


def join(name: str, parts: tuple[QuerySet, ...], mark: str) -> Dataset:
    """A dataset of train, test and perhaps vali, padded to a common width."""
    train, test, *vali = pad_features(*parts)
    return Dataset(name, train, test, vali[0] if vali else None, mark)


def fingerprint(*facts: str) -> str:
    """A short name for the facts that determine a dataset's content.

    >>> fingerprint("linear", "seed=1") == fingerprint("linear", "seed=1") != fingerprint("linear", "seed=2")
    True
    """
    return hashlib.sha256("\0".join(facts).encode()).hexdigest()[:16]
