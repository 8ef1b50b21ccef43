"""Settings of a ranker in a service with all extensions of this package."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rankloop.policies import Policy
from rankloop.service.core.grades import GradeSettings
from rankloop.service.core.ranker_settings import (
    BaseRankerSettings,
    ClientLimit,
    Scaling,
    define_settings,
)
from rankloop.service.extensions.fair.settings import FairSettings
from rankloop.service.extensions.guardrails.settings import GuardrailSettings
from rankloop.service.extensions.promise.settings import PromiseSettings

__all__ = ["FairSettings", "GuardrailSettings", "PromiseSettings", "RankerSettings"]
SETTINGS = (("promise", PromiseSettings), ("fair", FairSettings), ("guardrails", GuardrailSettings))

if TYPE_CHECKING:  # what the last line makes, as editors and type checkers see it

    class RankerSettings(BaseRankerSettings, frozen=True, kw_only=True):
        """A policy, and the rules under which it may rank and learn."""

        promise: PromiseSettings | None = None
        fair: FairSettings | None = None
        guardrails: GuardrailSettings | None = None

        def __init__(
            self,
            *,
            policy: Policy | str = ...,
            scaling: Scaling = ...,
            window: float = ...,
            actions: Mapping[str, float] = ...,
            grades: GradeSettings | None = ...,
            learn_late: bool = ...,
            max_candidates: int = ...,
            max_features: int = ...,
            client_limit: ClientLimit = ...,
            promise: PromiseSettings | None = ...,
            fair: FairSettings | None = ...,
            guardrails: GuardrailSettings | None = ...,
        ) -> None: ...

else:
    RankerSettings = define_settings(SETTINGS)
    RankerSettings.__module__ = __name__  # where another process finds it
