"""Rank request: what a caller wants ranked, and how; checked where it is born."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rankloop.errors import RequestError
from rankloop.service.core.lists.candidate_columns import LARGEST, Candidates
from rankloop.short_text import check_text
from rankloop.types import FloatArray

LONGEST_QUERY = 2000  # characters


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RankRequest:
    """A query and its candidates, in the caller's own order.

    The same session, or the same client, asking the same ranker the same `user_query` meets the same luck.
    Without a `query_id` the service gives one.

    >>> from rankloop.candidate import Candidate
    >>> from rankloop.service import columns
    >>> RankRequest(ranker="shop", candidates=columns([Candidate("a", {"price": 3})])).k
    10
    """

    ranker: str = "default"
    candidates: Candidates
    k: int = 10  # how many results to show; all, if there are fewer candidates
    user_query: str = ""
    client_id: str = ""
    session_id: str = ""
    query_id: str | None = None
    user: str = ""  # who asks
    context: Mapping[str, float | None] = field(default_factory=dict)  # features of who asks, by name
    recommended: Any = None  # if a recommender chose the candidates: from what

    def __post_init__(self) -> None:
        """Refuse what nobody could rank."""
        k: object = self.k
        if not isinstance(k, int) or isinstance(k, bool) or k < 1:
            raise RequestError(f"k must be a whole number of at least 1, found {k!r}")
        check_text("user_query", self.user_query, empty=True, longest=LONGEST_QUERY)
        check_text("client_id", self.client_id, empty=True)
        check_text("session_id", self.session_id, empty=True)
        check_text("user", self.user, empty=True)
        if self.context:
            check_context(self.context)
        if self.query_id is not None:
            check_text("query_id", self.query_id)
        if not self.candidates.object_ids:
            raise RequestError("expected at least one candidate, found none")
        _check_distinct("object_id", self.candidates.object_ids)
        self._check_pins()

    def _check_pins(self) -> None:
        if not self.candidates.pinned_at:
            return
        pins, n = [position for position in self.candidates.pinned_at if position], self.n
        _check_distinct("pinned_at", pins)
        if pins and max(pins) > n:
            raise RequestError(f"pinned_at must be a position of 1 to {n}, found {max(pins)}")

    @property
    def n(self) -> int:
        """How many candidates there are."""
        return len(self.candidates.object_ids)


def check_context(context: Mapping[str, float | None]) -> None:
    """Refuse features of whoever asks that are no numbers."""
    for name, value in context.items():
        check_text("a feature's name", name)
        number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST
        if value is not None and not isinstance(value, bool) and not number:
            raise RequestError(
                f"context: feature {name!r} must be a number up to {LARGEST:g} or null, "
                f"found {repr(value)[:50]}"
            )


def context_by_column(context: Mapping[str, float | None], schema: Mapping[str, int]) -> FloatArray:
    """The features of whoever asks by column of the schema, [n_context]; NaN where missing.

    >>> context_by_column({"age": 30}, {"visits": 0, "age": 1}).tolist()
    [nan, 30.0]
    """
    row = np.full(len(schema), np.nan)
    for name, value in context.items():
        if value is not None:
            row[schema[name]] = value
    return row


def _check_distinct(name: str, values: Sequence[object]) -> None:
    if len(set(values)) != len(values):
        twice = next(value for value in values if values.count(value) > 1)
        raise RequestError(f"every {name} must be there once, found {twice!r} twice")
