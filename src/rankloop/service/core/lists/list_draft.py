"""Draft of a list: the order that is wanted so far, whose it is, and what extensions note about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from rankloop.service.core.lists.list_inputs import ListInputs
from rankloop.service.core.lists.placement import sort_by_score
from rankloop.types import IntArray, Ranking

Source: TypeAlias = Literal["policy", "caller", "other", "mixed"]

NOT_PLACED: Final[IntArray] = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ListDraft:
    """A list as far as it is made; each step of `make_list` makes the next draft.

    The `source` says whose order it is: the policy's, the caller's, another one's, or mixed of several. An
    extension that changes the policy's list leaves others alone, so no extension needs to know another.
    """

    inputs: ListInputs
    rows: list[int]  # free candidates, as indices of `inputs.free`, best first: at least `room` of them
    source: Source
    draw: Ranking | None = None  # what the policy drew: evidence to learn from
    notes: Mapping[str, Any] = field(default_factory=dict)  # by extension: from its `change` to its `record`
    order: IntArray = field(default_factory=lambda: NOT_PLACED)  # [k] rows of all candidates, once placed

    def complete(self) -> list[int]:
        """The order wanted of all free candidates; those it leaves out follow by score."""
        asked, listed = self.inputs.asked_free, set(self.rows)
        if asked is None or len(listed) == len(self.inputs.free):
            return self.rows
        return self.rows + [row for row in sort_by_score(asked.scores) if row not in listed]

    def note(self, extension: str, value: object) -> ListDraft:
        """Keep something for the `record` of an extension."""
        return replace(self, notes={**self.notes, extension: value})

    @property
    def shown_free(self) -> IntArray:
        """The rows of the free candidates that are shown, best first, once placed."""
        return self.inputs.free[self.rows]
