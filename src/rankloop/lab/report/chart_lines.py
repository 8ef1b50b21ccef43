"""What a figure for a paper draws: means and bands of a few policies, and the style they are drawn in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

from rankloop.errors import SettingError
from rankloop.lab.report.curve_charts import MOST_LINES, after_the_start, span_of
from rankloop.lab.report.series_names import Stroke
from rankloop.lab.simulation.measures import Measure

Axes = Literal["none", "rounds", "values", "both"]
NARROWEST_PANEL = 130  # points; narrower panels stand below each other
SYMBOL = 26  # points for the stroke beside a name in the legend
LETTER = 0.52  # width of a letter, in sizes of type
TYPE = 8  # points of all type in a figure


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureStyle:
    """How figures are drawn: their width in points, which axes are logarithmic, how many lines.

    240 points are one column of two (ACM, IEEE), 505 the whole page. `smooth` draws means over so many
    checkpoints, taken within each run, up to the one shown. Of more policies than `lines`, the best of each
    family are drawn first, then the best of all.
    """

    width: int = 240
    log: Axes = "none"
    smooth: int = 1
    lines: int = MOST_LINES

    def __post_init__(self) -> None:
        """Refuse what could not be read."""
        if self.log not in ("none", "rounds", "values", "both"):
            raise SettingError(f"log must be none, rounds, values or both, found {self.log!r}")
        for name, least in (("width", 150), ("smooth", 1), ("lines", 1)):
            if getattr(self, name) < least:
                raise SettingError(f"{name} must be at least {least}, found {getattr(self, name)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """The means of one measure, ready to be drawn: a panel per user, a line per policy."""

    means: pl.DataFrame  # user, policy (its short name), round, runs, mean, low, high
    measure: Measure
    lines: dict[str, Stroke]  # short name: how it is drawn; the best first
    style: FigureStyle

    def __post_init__(self) -> None:
        """Refuse a logarithmic axis where it has no place for the values."""
        low = min(self.means["mean"].to_list())
        if self.log_values and low <= 0:
            raise SettingError(
                f"a logarithmic axis needs values above 0, found {low:g}: leave the values linear, "
                "as in --log rounds"
            )

    @property
    def users(self) -> Sequence[str]:
        """Users in their order, a panel for each."""
        return self.means["user"].unique(maintain_order=True).to_list()

    @property
    def beside(self) -> bool:
        """Whether panels are wide enough to stand beside each other."""
        return self.style.width // len(self.users) >= NARROWEST_PANEL

    @property
    def log_rounds(self) -> bool:
        """Whether the axis of the rounds is logarithmic."""
        return self.style.log in ("rounds", "both")

    @property
    def log_values(self) -> bool:
        """Whether the axis of the values is logarithmic."""
        return self.style.log in ("values", "both")

    @property
    def span(self) -> tuple[float, float]:
        """What the axis of the values shows."""
        if self.log_values:
            low, high = self.means.select(low=pl.col("mean").min(), high=pl.col("mean").max()).row(0)
            return low * 0.95, high * 1.05
        return span_of(after_the_start(self.means))

    @property
    def legend_columns(self) -> int:
        """How many names stand beside each other in the legend."""
        widest = round(max(map(len, self.lines)) * LETTER * TYPE) + SYMBOL
        return max(min((self.style.width - 10) // widest, len(self.lines)), 1)
