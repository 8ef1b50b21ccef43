"""Whether everything keeps up, in numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from rankloop.service.ranker import Ranker


@dataclass(frozen=True, slots=True)
class RankerHealth:
    """How one ranker is."""

    mode: str
    policy: str
    model: int  # the version in use
    position: int  # the last entry that was folded
    lists: int  # learned from
    open: int  # lists with clicks whose window has not closed
    refused: int  # lists that could not be learned from
    unlogged: int  # lists that could not be written down

    @classmethod
    def of(cls, ranker: Ranker) -> Self:
        """The state of a ranker."""
        view, fold = ranker.view, ranker.fold
        return cls(
            mode=view.mode,
            policy=view.model.policy.name,
            model=view.model.version,
            position=fold.position,
            lists=view.model.lists,
            open=len(fold.open),
            refused=fold.refused,
            unlogged=ranker.unlogged,
        )


@dataclass(frozen=True, slots=True)
class Health:
    """How the service is."""

    rankers: Mapping[str, RankerHealth]
    error: str = ""  # the learner's last one, if it has not recovered

    @property
    def ok(self) -> bool:
        """Nothing is in trouble."""
        return not self.error and not any(each.unlogged for each in self.rankers.values())
