"""What there is to know about a ranker at a glance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from rankloop.service.ranker import Ranker
from rankloop.service.settings import Mode, RankerSettings


@dataclass(frozen=True, slots=True, eq=False)
class RankerInfo:
    """A ranker as of now."""

    name: str
    policy: str  # by name
    mode: Mode
    settings: RankerSettings
    settings_version: int
    model_version: int
    features: tuple[str, ...]  # by column

    @classmethod
    def of(cls, ranker: Ranker) -> Self:
        """What is in force, as of one moment."""
        view = ranker.view
        return cls(
            name=ranker.name,
            policy=view.rules.policy.name,
            mode=view.mode,
            settings=view.rules,
            settings_version=view.settings,
            model_version=view.model.version,
            features=tuple(view.schema),
        )
