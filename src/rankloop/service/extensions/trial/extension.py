"""Trial as an extension: a list belongs to an arm, and shows what that arm shows."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from rankloop.interleaving import Interleaved, TeamDraft
from rankloop.policies import Policy
from rankloop.service.core.configuration import Configuration
from rankloop.service.core.extension import Extension
from rankloop.service.core.history import History
from rankloop.service.core.lists.list_draft import ListDraft
from rankloop.service.core.lists.list_inputs import ListInputs
from rankloop.service.core.lists.list_job import ListFailure
from rankloop.service.core.lists.list_seeds import generator, sticky_seed, visitor_key
from rankloop.service.core.view import View
from rankloop.service.extensions.trial.arm_b import Opponent, opponent_of
from rankloop.service.extensions.trial.arms import arm_of
from rankloop.service.extensions.trial.part import PART, TrialPart
from rankloop.service.extensions.trial.trial_state import Trial as TrialState
from rankloop.service.extensions.trial.trial_state import trial_after
from rankloop.service.operator_log import warn_operator
from rankloop.service.store import Decision

TEAM_DRAFT = TeamDraft()
LOGGER = logging.getLogger("rankloop.service")


@dataclass(frozen=True, slots=True, eq=False)
class RunningTrial:
    """A trial that is running, and its arm B; where that cannot be built, the lists of arm B fall back."""

    state: TrialState
    find_arm_b: Callable[[], Opponent | None]

    @property
    def policy(self) -> Policy | None:
        """The policy of arm B; None: the caller's order."""
        arm_b = self.find_arm_b()
        return arm_b.model.policy if arm_b is not None and arm_b.model is not None else None

    def arm_of(self, inputs: ListInputs) -> str:
        """The arm of a list."""
        request = inputs.request
        return arm_of(self.state, visitor_key(request.session_id, request.client_id, inputs.query_id))

    def order_of_b(self, inputs: ListInputs) -> list[int]:
        """The free candidates as arm B has them, as indices of the free ones."""
        arm_b = self.find_arm_b()
        if arm_b is None:
            raise ListFailure("trial: its arm B cannot be built")
        own = inputs.view.configuration
        order = arm_b.order(inputs.request, inputs.raw, inputs.context, inputs.query_id, own)
        index = np.full(inputs.request.n, -1)
        index[inputs.free] = np.arange(len(inputs.free))
        return [row for row in index[order].tolist() if row >= 0]

    def mix(self, draft: ListDraft, other: list[int]) -> Interleaved:
        """One list of both arms' lists, by coins that belong to its seed."""
        coins = generator(sticky_seed("interleave", str(self.state.number), str(draft.inputs.seed)))
        lists = np.array([draft.complete(), other], dtype=np.int64)
        return TEAM_DRAFT.combine(lists, k=draft.inputs.room, rng=coins)


class Trial(Extension):
    """Compares a ranker with something else; given the trial that is running."""

    name = "trial"
    part = PART

    def decide(
        self, state: TrialState | None, decision: Decision, before: Configuration
    ) -> TrialState | None:
        """Return the last trial, also if it has ended."""
        return trial_after(state, decision, before.mode)

    def view_value(
        self, configuration: Configuration, learned: None, history: History | None
    ) -> RunningTrial | None:
        """Return the trial that is running, with its arm B; without that, its lists fall back."""
        del learned
        state: TrialState | None = configuration.extension_states.get(self.name)
        if state is None or not state.runs:
            return None
        arm_b = None
        try:
            arm_b = None if history is None else opponent_of(state, history)
        except Exception as error:  # whatever it is, the caller gets lists
            warn_operator(
                LOGGER,
                "arm B of a trial cannot be built: its lists are the caller's order",
                where=f"trial {state.number}",
                why=error,
                do="give the service arm B's policy, or stop the trial",
            )
        return RunningTrial(state, lambda: arm_b)

    def recall(self, part: TrialPart | None, view: View, history: History) -> RunningTrial | None:
        """The trial of a past list, by its number: it may have ended before the list was written."""
        del view
        if part is None:
            return None
        state: TrialState = history.configuration(part.trial).extension_states[self.name]
        return RunningTrial(state, partial(opponent_of, state, history))

    def change(self, draft: ListDraft, given: RunningTrial | None) -> ListDraft:
        """Put the order of arm B in place of the policy's, or mix both."""
        if given is None:
            return draft
        inputs, arm = draft.inputs, given.arm_of(draft.inputs)
        if draft.source != "policy" or arm == "A":
            return draft.note(self.name, (arm, None))
        if not inputs.room:
            return replace(draft, source="other").note(self.name, (arm, None))
        other = given.order_of_b(inputs)  # without arm B this list falls back, and arm A goes on
        if arm == "B":
            return replace(draft, rows=other, source="other").note(self.name, (arm, None))
        mixed = given.mix(draft, other)
        return replace(draft, rows=mixed.order.tolist(), source="mixed").note(self.name, (arm, mixed))

    def record(self, draft: ListDraft, given: RunningTrial | None) -> TrialPart | None:
        """Return the arm of a list and, if both made it, whose each result is."""
        if given is None:
            return None
        arm, mixed = draft.notes[self.name]
        owners = () if mixed is None else _find_owners(draft, mixed)
        return TrialPart(trial=given.state.number, arm=arm, owners=owners)


def _find_owners(draft: ListDraft, mixed: Interleaved) -> tuple[tuple[float, ...], ...]:
    """Whose each result of a list is; a pinned one is nobody's."""
    rows = draft.inputs.free[mixed.order]
    of_row = dict(zip(rows.tolist(), mixed.owners.T.tolist(), strict=True))
    whose = [of_row.get(row, (0.0, 0.0)) for row in draft.order.tolist()]
    return tuple(each[0] for each in whose), tuple(each[1] for each in whose)


EXTENSION = Trial()
