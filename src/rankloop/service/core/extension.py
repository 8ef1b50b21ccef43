"""Extension: a room of the service that takes part in making lists, and keeps something about each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rankloop.errors import SettingError
from rankloop.service.core.configuration import Configuration, States
from rankloop.service.core.fold_part import FoldPart
from rankloop.service.core.lists.list_draft import ListDraft
from rankloop.service.core.lists.rank_request import RankRequest
from rankloop.service.core.ranker_settings import BaseRankerSettings, define_settings
from rankloop.service.core.settings_record import Settings, read_settings
from rankloop.service.core.view import View
from rankloop.service.store import Decision, Impression, PartType, Store
from rankloop.types import BoolArray, IntArray


class LiveState:
    """What an extension keeps beside a ranker while the service runs; by default nothing.

    Its methods are called from several threads. Every list that is answered is shown once and settled once.
    """

    needs_ticks = False  # whether it has something to do as time passes

    def __init__(self, name: str) -> None:
        self.name = name

    def give(self, request: RankRequest, view: View, query_id: str, at: float) -> Any:
        """Return what is given to the extension for a list; by default its value of the view."""
        del request, query_id, at
        return view.extension_values.get(self.name)

    def show(self, shown: Impression) -> None:
        """Count a list that is answered now, and not durable yet."""

    def settle(self, lists: Sequence[Impression], written: bool) -> None:
        """Take in what became of lists that were shown: they are durable now, or lost."""

    def refresh(self, view: View, folded: Iterable[str] = ()) -> None:
        """Take in a new view, whose fold has met these lists by now."""

    def tick(self) -> None:
        """Take in what others may have written meanwhile, without waiting."""

    @property
    def waiting(self) -> Mapping[str, bool]:
        """The lists that a fold is to meet, and whether each is known to be written."""
        return {}


class Extension:
    """What a room overrides of what it may do; by default it does nothing.

    `change` and `record` are pure, so that any list can be made again: what they cannot compute from the
    request is `given` to them, for a new list by its `LiveState`, and for a past one by `recall`, from the
    part that its impression keeps.
    """

    name: ClassVar[str]  # of its folder, its settings, its state and its part
    settings: ClassVar[type[Settings] | None] = None  # a field of the ranker's settings; None there: off
    part: ClassVar[PartType | None] = None  # what an impression keeps of it

    def decide(self, state: Any, decision: Decision, before: Configuration) -> Any:
        """Return its decided state after one more decision; None at first."""
        del decision, before
        return state

    def fold_part(self, configuration: Configuration) -> FoldPart | None:
        """Return the part that it brings to a fold, as it begins; None: it brings none."""
        del configuration
        return None

    def view_value(self, configuration: Configuration, learned: Any, history: Any) -> Any:
        """Return what it keeps ready for lists; `learned` is the value of its fold part.

        While entries are being erased, there is no history to ask, and it is None.
        """
        del configuration, history
        return learned

    def live(self, ranker: str, store: Store, clock: Callable[[], float]) -> LiveState:
        """Return its live state beside a ranker."""
        del ranker, store, clock
        return LiveState(self.name)

    def binds_order(self, settings: BaseRankerSettings) -> bool:
        """Whether its rule holds for whole lists, so that a list of two arms would not keep to it."""
        del settings
        return False

    def recall(self, part: Any, view: View, history: Any) -> Any:
        """Return what was given when a past list was made; `part` is None if it kept none."""
        del view, history
        return part

    def change(self, draft: ListDraft, given: Any) -> ListDraft:
        """Change the order wanted, or note something for `record`."""
        del given
        return draft

    def find_swapped(self, draft: ListDraft, rows: IntArray) -> BoolArray | None:
        """Find which of these rows it put above others that were drawn before them, [n, n]; None: none."""
        del draft, rows
        return None

    def record(self, draft: ListDraft, given: Any) -> Any:
        """Return what the impression keeps of a list that was placed; None: nothing."""
        del draft, given
        return None


@dataclass(frozen=True)
class Registry:
    """The extensions of a service, in the order in which they change a list."""

    extensions: Sequence[Extension]

    @property
    def part_types(self) -> list[PartType]:
        """Return the forms of what impressions keep of the extensions."""
        return [each.part for each in self.extensions if each.part is not None]

    def get(self, name: str) -> Extension | None:
        """Return the extension of a name, if it is here."""
        return next((each for each in self.extensions if each.name == name), None)

    @property
    def settings_type(self) -> type[BaseRankerSettings]:
        """The settings of a ranker, with a field for each extension that has some."""
        kinds = ((each.name, each.settings) for each in self.extensions)
        return define_settings(tuple((name, kind) for name, kind in kinds if kind is not None))

    def decide(self, states: States, decision: Decision, before: Configuration) -> States:
        """Return the state of each extension after one more decision."""
        return {each.name: each.decide(states.get(each.name), decision, before) for each in self.extensions}

    def fold_parts(self, configuration: Configuration) -> Mapping[str, FoldPart]:
        """Return the parts that extensions bring to a fold, as they begin."""
        parts = ((each.name, each.fold_part(configuration)) for each in self.extensions)
        return {name: part for name, part in parts if part is not None}


def find_beginning(
    name: str, kind: type[Settings], state: int | None, decision: Decision, before: Configuration
) -> int | None:
    """Return the entry that began what the settings of an extension ask for; None if they do not ask for it.

    It begins anew when its settings change.
    """
    if decision.kind != "settings":
        return state
    data = decision.body["settings"].get(name)
    try:
        settings = None if data is None else read_settings(kind, data)
    except SettingError:  # of another release: nothing is counted meanwhile
        settings = None
    if settings is None:
        return None
    return state if settings == before.settings.of(kind) else decision.seq
