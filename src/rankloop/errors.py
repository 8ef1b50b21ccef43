"""The errors that rankloop raises on purpose."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class RankloopError(Exception):
    """The root of every error that rankloop raises on purpose."""


class DataError(RankloopError):
    """Data that cannot be read, or that says something impossible."""


class RankingError(RankloopError):
    """A ranking or a feedback that does not fit its query."""


class SettingError(RankloopError, ValueError):
    """An option outside its range, or a name nobody knows."""


class RequestError(RankloopError, ValueError):
    """A request that says something impossible; nothing was changed."""


def suggest_name(name: str, choices: Iterable[str]) -> str:
    """Name the nearest choice, whatever its capitals, and list them all: the end of an error about a name.

    >>> suggest_name("Liner", ["linear", "nonlinear"])
    "did you mean 'linear'? choose from linear, nonlinear"
    """
    known = {choice.casefold(): choice for choice in choices}
    nearest = difflib.get_close_matches(name.casefold(), known, n=1)
    guess = f"did you mean {known[nearest[0]]!r}? " if nearest else ""
    return f"{guess}choose from {', '.join(known.values())}"
