"""View: all that ranking needs, as of one moment; a value that is swapped as a whole."""

from __future__ import annotations

from dataclasses import dataclass

from rankloop.service.core.configuration import Configuration
from rankloop.service.core.model import Model
from rankloop.service.extensions.trial.arm_b import Opponent
from rankloop.service.extensions.trial.trial_state import Trial


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class View:
    """What was decided, and what was learned."""

    configuration: Configuration
    model: Model
    opponent: Opponent | None = None  # arm B of the trial that runs

    @property
    def trial(self) -> Trial | None:
        """The trial that runs, if one does."""
        trial: Trial | None = self.configuration.extension_states.get("trial")
        return trial if trial is not None and trial.runs else None

    @property
    def ignored(self) -> tuple[str, ...]:
        """Features that the policy cannot take in because they came after it had begun to learn."""
        width, gone = self.model.width, self.model.retired
        names = [name for column, name in enumerate(self.configuration.schema.names) if column not in gone]
        if not 0 < width < len(names) or self.model.policy.widened(len(names)) is not None:
            return ()
        return tuple(names[width:])
