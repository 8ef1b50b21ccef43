"""Settings of guardrails: limits that hold in every list the ranker changes."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta

from rankloop.service.core.settings_record import Settings, describe


class GuardrailSettings(Settings, frozen=True, kw_only=True):
    """How far a list may be from the caller's order.

    >>> GuardrailSettings(max_displacement=3).max_displacement
    3
    """

    about: ClassVar[Meta] = describe(
        "Guardrails", "Limits that hold in every list the ranker changes.", group="How far results may move"
    )
    max_displacement: Annotated[
        Annotated[int, Meta(ge=0)] | None,
        describe(
            "Maximum displacement",
            "How far a result may move from its place in your order; set it to avoid large jumps.",
            unit="positions",
            values={"0": "your order", "null": "no limit; pinned results do not count"},
        ),
    ] = None
