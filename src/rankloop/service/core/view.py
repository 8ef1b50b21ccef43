"""View: all that ranking needs, as of one moment; a value that is swapped as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from rankloop.policies import Policy
from rankloop.service.core.configuration import Configuration
from rankloop.service.core.model import Model


@runtime_checkable
class AsksPolicy(Protocol):
    """A value of an extension that asks another policy for lists."""

    @property
    def policy(self) -> Policy | None:
        """That policy, if there is one."""
        ...


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class View:
    """What was decided, and what was learned."""

    configuration: Configuration
    model: Model
    fault: str = ""  # why the model cannot make lists, so that they are in the caller's order
    extension_values: Mapping[str, Any] = field(default_factory=dict)  # what extensions keep ready for lists

    @property
    def trial(self) -> Any:
        """The trial that runs, if one does."""
        trial = self.configuration.extension_states.get("trial")
        return trial if trial is not None and trial.runs else None

    @property
    def policies(self) -> list[Policy]:
        """All policies that may be asked for a list."""
        others = (each.policy for each in self.extension_values.values() if isinstance(each, AsksPolicy))
        return [self.model.policy, *(each for each in others if each is not None)]

    @property
    def ignored(self) -> tuple[str, ...]:
        """Features that the policy cannot take in because they came after it had begun to learn."""
        width, gone = self.model.width, self.model.retired
        names = [name for column, name in enumerate(self.configuration.schema.names) if column not in gone]
        if not 0 < width < len(names) or self.model.policy.widened(len(names)) is not None:
            return ()
        return tuple(names[width:])
