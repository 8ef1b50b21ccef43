"""Decided state of an extension that begins anew when its settings change."""

from __future__ import annotations

from rankloop.service.core.configuration import Part, read_part
from rankloop.service.extensions.fair.settings import FairSettings
from rankloop.service.store import Decision


def find_beginning(
    kind: type[Part], state: int | None, decision: Decision, before: Part | None
) -> int | None:
    """Return the entry that began what some settings ask for; None if they do not ask for it."""
    if decision.kind != "settings":
        return state
    name = "fair" if kind is FairSettings else "promise"
    settings = read_part(kind, decision.body["settings"].get(name))
    if settings is None:
        return None
    return state if before is not None and settings.to_json() == before.to_json() else decision.seq
