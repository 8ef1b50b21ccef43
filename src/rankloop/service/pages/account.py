"""Exposure account as bars: who is ahead, to the right of a middle line, and the tolerance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

HALF = 100.0  # units of a bar's way to either side


@dataclass(frozen=True, slots=True)
class AccountBar:
    """A group in the account: its bar begins in the middle, to the right if it is ahead."""

    group: str
    ahead: float  # looks
    colour: str  # empty: it is not drawn in charts
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class AccountBars:
    """All groups of an account, and the tolerance to both sides of the middle."""

    band: float  # its half width
    bars: Sequence[AccountBar]

    @property
    def outside(self) -> bool:
        """Whether a group is farther off than it may be."""
        return any(bar.width > self.band for bar in self.bars)


def account_bars(ahead: Mapping[str, float], tolerance: float, colours: Mapping[str, str]) -> AccountBars:
    """An account as bars around a middle line, with its tolerance.

    >>> drawn = account_bars({"a": 2.0, "b": -2.0}, 1.0, {})
    >>> drawn.band, [(bar.x, bar.width) for bar in drawn.bars]
    (50.0, [(100.0, 100.0), (0.0, 100.0)])
    """
    reach = max([1.5 * tolerance, *map(abs, ahead.values())])
    widths = {group: HALF * abs(off) / reach for group, off in ahead.items()}
    bars = [
        AccountBar(
            group, off, colours.get(group, ""), HALF if off > 0 else HALF - widths[group], widths[group]
        )
        for group, off in ahead.items()
    ]
    return AccountBars(HALF * tolerance / reach, bars)
