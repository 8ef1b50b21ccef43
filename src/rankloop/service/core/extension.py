"""Extension: a room of the service that takes part in making lists, and keeps something about each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rankloop.service.core.lists.list_draft import ListDraft
from rankloop.service.core.view import View


class Extension:
    """What a room overrides of what it may do; by default it does nothing.

    `change` and `record` are pure, so that any list can be made again: what they cannot compute from the
    request is `given` to them, for a new list by what lives beside the ranker, and for a past one by
    `recall`, from the part that its impression keeps.
    """

    name: ClassVar[str]  # of its folder, its settings and its part

    def recall(self, part: Any, view: View, history: Any) -> Any:
        """Return what was given when a past list was made; `part` is None if it kept none."""
        del view, history
        return part

    def change(self, draft: ListDraft, given: Any) -> ListDraft:
        """Change the order wanted, or note something for `record`."""
        del given
        return draft

    def record(self, draft: ListDraft, given: Any) -> Any:
        """Return what the impression keeps of a list that was placed; None: nothing."""
        del draft, given
        return None


@dataclass(frozen=True)
class Registry:
    """The extensions of a service, in the order in which they change a list."""

    extensions: Sequence[Extension]

    def get(self, name: str) -> Extension | None:
        """Return the extension of a name, if it is here."""
        return next((each for each in self.extensions if each.name == name), None)
