"""Decided states of the extensions: what each knows from the decisions of a ranker's log."""

from __future__ import annotations

from collections.abc import Mapping

from rankloop.service.core.configuration import Configuration, Part, States, read_part
from rankloop.service.core.fold_part import FoldPart
from rankloop.service.extensions.fair.settings import FairSettings
from rankloop.service.extensions.promise.fold_part import SearchFold
from rankloop.service.extensions.promise.settings import PromiseSettings
from rankloop.service.extensions.trial.trial_state import trial_after
from rankloop.service.store import Decision


class DecidedStates:
    """The states of promise, trial and fair.

    A promise and an exposure account are the entry that began them, and begin anew when their settings
    change; a trial is the last one, also if it has ended.
    """

    def decide(self, states: States, decision: Decision, before: Configuration) -> States:
        """Return the state of each extension after one more decision."""
        promise, fair = before.settings.promise, before.settings.fair
        return {
            "promise": find_beginning(PromiseSettings, states.get("promise"), decision, promise),
            "trial": trial_after(states.get("trial"), decision, before.mode),
            "fair": find_beginning(FairSettings, states.get("fair"), decision, fair),
        }

    def fold_parts(self, configuration: Configuration) -> Mapping[str, FoldPart]:
        """Return the parts that extensions bring to a fold, as they begin."""
        began, settings = configuration.extension_states.get("promise"), configuration.settings.promise
        return {} if began is None or settings is None else {"promise": SearchFold(began, settings)}


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


DECIDED_STATES = DecidedStates()
