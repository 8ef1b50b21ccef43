"""Simulated users of the papers on online learning to rank, by name."""

from __future__ import annotations

from dataclasses import dataclass

from rankloop.errors import SettingError
from rankloop.lab.users.click_models import Cascade, Stop

_Table = tuple[float, ...]

# name -> grades -> (click, stop)
CASCADE_TABLES: dict[str, dict[int, tuple[_Table, _Table]]] = {
    "perfect": {
        2: ((0.0, 1.0), (0.0, 0.0)),
        3: ((0.0, 0.5, 1.0), (0.0, 0.0, 0.0)),
        5: ((0.0, 0.2, 0.4, 0.8, 1.0), (0.0, 0.0, 0.0, 0.0, 0.0)),
    },
    "navigational": {
        2: ((0.05, 0.95), (0.2, 0.9)),
        3: ((0.05, 0.5, 0.95), (0.2, 0.5, 0.9)),
        5: ((0.05, 0.3, 0.5, 0.7, 0.95), (0.2, 0.3, 0.5, 0.7, 0.9)),
    },
    "informational": {
        2: ((0.4, 0.9), (0.1, 0.5)),
        3: ((0.4, 0.7, 0.9), (0.1, 0.3, 0.5)),
        5: ((0.4, 0.6, 0.7, 0.8, 0.9), (0.1, 0.2, 0.3, 0.4, 0.5)),
    },
}


@dataclass(frozen=True)
class PresetUser:
    """A named cascade user, whose tables depend on how many grades the data has.

    *perfect* reads everything and clicks by relevance alone; *navigational* wants one good result and
    leaves; *informational* clicks a lot, also on what turns out to be irrelevant.

    >>> PresetUser("navigational").for_grades(3)
    Cascade(click=(0.05, 0.5, 0.95), stop=(0.2, 0.5, 0.9), stop_at='click')

    Hofmann, Schuth, Whiteson, de Rijke: Reusing historical interaction data for faster online learning
    to rank for IR. WSDM 2013.
    """

    name: str
    stop_at: Stop = "click"

    def __post_init__(self) -> None:
        """Refuse names nobody knows."""
        if self.name not in CASCADE_TABLES:
            raise SettingError(f"user must be one of {', '.join(CASCADE_TABLES)}, found {self.name!r}")
        self.for_grades(2)  # refuses a stop_at nobody knows

    @property
    def never_stops(self) -> bool:
        """Whether this user reads to the end, so that both readings of *stop* are the same."""
        return not any(any(stop) for _, stop in CASCADE_TABLES[self.name].values())

    def for_grades(self, grades: int) -> Cascade:
        """Make the user for data with this many grades; the table with the next higher number serves."""
        tables = CASCADE_TABLES[self.name]
        fitting = [known for known in sorted(tables) if known >= grades]
        if not fitting:
            raise SettingError(
                f"the presets know up to {max(tables)} grades, found {grades}: "
                "merge grades, or pass a Cascade with your own tables"
            )
        click, stop = tables[fitting[0]]
        return Cascade(click=click, stop=stop, stop_at=self.stop_at)
