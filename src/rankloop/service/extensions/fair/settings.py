"""Fair exposure of a ranker: the share of all looks that each group of candidates is to get.

Everything is counted in whole millionths of a look at the first position, so that sums are exact.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import Any, Literal, Self, TypeAlias

import numpy as np

from rankloop.errors import SettingError, suggest_name
from rankloop.exposure import (
    PAGE,
    VIEW,
    discounted_views,
    due_views,
    least_tolerance,
    measured_views,
)
from rankloop.short_text import check_text
from rankloop.types import FloatArray, IntArray

OTHERS = "others"  # the group of candidates that have none, or one that the shares do not name
MOST_LOOKS = 1000  # positions that can be measured
Shares: TypeAlias = Literal["candidates", "equal"] | Mapping[str, float]


@dataclass(frozen=True, kw_only=True, eq=False)
class FairSettings:
    """How much exposure each group is to get, and how far its account may be off.

    >>> FairSettings(shares={"ours": 0.25}).named("theirs")
    'others'
    >>> FairSettings(shares="equal", looks=[0.5, 0.25]).views_at(3).tolist()
    [1000000, 500000, 500000]
    """

    shares: Shares = "candidates"  # by number of candidates, the same for each, or given; others get the rest
    at_least: Mapping[str, float] = field(default_factory=dict)  # floors: the least share of some groups
    tolerance: float = 5.0  # looks by which an account may be off
    looks: Sequence[float] | None = None  # by position, measured; None: 1 / log2(1 + position)
    most: float = 50.0  # looks: what an account would be beyond it lapses

    def __post_init__(self) -> None:
        """Refuse what nobody could share out."""
        if isinstance(self.shares, str) and self.shares not in ("candidates", "equal"):
            raise SettingError(
                'fair.shares must be "candidates", "equal" or shares by group, as in {"ours": 0.5}, '
                f"found {self.shares!r}"
            )
        if not isinstance(self.shares, str):
            _check_parts("fair.shares", self.shares)
        _check_parts("fair.at_least", self.at_least)
        if isinstance(self.shares, Mapping):
            for name in self.at_least:
                if name not in self.shares and name != OTHERS:
                    raise SettingError(f"fair.at_least names {name!r}, which has no share in fair.shares")
        _check_looks("fair.tolerance", self.tolerance)
        _check_looks("fair.most", self.most)
        if self.most < self.tolerance:
            raise SettingError(
                f"fair.most must not be below the tolerance of {self.tolerance:g}, found {self.most:g}"
            )
        if self.looks is not None:
            self._check_measured()

    def _check_measured(self) -> None:
        given: object = self.looks
        plain = isinstance(given, list | tuple) and len(given) <= MOST_LOOKS
        if not plain or not all(isinstance(each, int | float) for each in given):  # type: ignore[attr-defined]
            raise SettingError(
                f"fair.looks must be up to {MOST_LOOKS} numbers by position, found {repr(given)[:50]}"
            )
        try:
            measured_views([float(each) for each in given])  # type: ignore[attr-defined]
        except SettingError as error:
            raise SettingError(f"fair.looks: {error}") from error

    def to_json(self) -> dict[str, Any]:
        """As JSON, with every default."""
        plain = {each.name: getattr(self, each.name) for each in fields(self)}
        shares = self.shares if isinstance(self.shares, str) else dict(self.shares)
        looks = None if self.looks is None else list(self.looks)
        return plain | {"shares": shares, "at_least": dict(self.at_least), "looks": looks}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """From JSON; what is missing has its default."""
        if not isinstance(data, Mapping):
            raise SettingError(f'fair must be settings, as in {{"shares": "equal"}}, or null, found {data!r}')
        names = [each.name for each in fields(cls)]
        for name in data:
            if name not in names:
                raise SettingError(f"fair has no setting {name!r}: {suggest_name(str(name), names)}")
        return cls(**data)

    def named(self, group: str) -> str:
        """Under which name a group has its account."""
        if isinstance(self.shares, str):
            return group or OTHERS
        return group if group in self.shares else OTHERS

    def views_at(self, k: int) -> IntArray:
        """The views at the first `k` positions; beyond what was measured, those of the last one."""
        return _views_at(None if self.looks is None else tuple(self.looks), k)

    def shares_of(self, names: Sequence[str], counts: Sequence[int]) -> FloatArray:
        """The shares of the groups that are present, with so many candidates each; they add up to 1.

        >>> FairSettings(at_least={"b": 0.25}).shares_of(("a", "b"), (9, 1)).tolist()
        [0.75, 0.25]
        """
        if self.shares == "equal":
            shares = np.ones(len(names))
        elif isinstance(self.shares, str):
            shares = np.array(counts, dtype=np.float64)
        else:
            rest = max(1.0 - math.fsum(self.shares.values()), 0.0)
            given = {OTHERS: rest, **self.shares}
            shares = np.array([given[name] for name in names])
        return raise_to_floors(shares, np.array([self.at_least.get(name, 0.0) for name in names]))

    def due(self, names: tuple[str, ...], counts: tuple[int, ...], k: int) -> IntArray:
        """The views that each group is due of a list of `k`, [m]."""
        return _due(self, names, counts, k)

    @property
    def warnings(self) -> list[str]:
        """What is possible, but will not go well."""
        least = least_tolerance(self.views_at(PAGE)) / VIEW
        if self.tolerance >= least:
            return []
        return [
            f"its tolerance of {self.tolerance:g} looks is less than the {least:g} that lists of {PAGE} can "
            "be held to: many lists will be outside of it"
        ]


def _check_parts(name: str, parts: object) -> None:
    """Shares of 0 or more by group that are no more than a whole."""
    if not isinstance(parts, Mapping) or (name.endswith("shares") and not parts):
        raise SettingError(f"{name} must be shares by group, as in {{'ours': 0.5}}, found {repr(parts)[:50]}")
    for group, share in parts.items():
        check_text("a group", group)
        fits = isinstance(share, int | float) and not isinstance(share, bool) and 0 <= share <= 1
        if not fits:
            raise SettingError(f"{name}: the share of {group!r} must be between 0 and 1, found {share!r}")
    if math.fsum(parts.values()) > 1 + 1e-9:
        raise SettingError(f"{name} must add up to 1 at most, found {math.fsum(parts.values()):g}")


def _check_looks(name: str, value: object) -> None:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value <= 1e6:
        raise SettingError(f"{name} must be a number of looks above 0 and up to 1000000, found {value!r}")


def raise_to_floors(shares: FloatArray, floors: FloatArray) -> FloatArray:
    """Shares as parts of 1, none below its floor; the others give in proportion."""
    if not shares.any():
        shares = np.ones(len(shares))
    low = np.zeros(len(shares), dtype=bool)
    for _ in shares:  # each turn lifts one at least
        rest, free = 1.0 - floors[low].sum(), shares[~low].sum()
        found: FloatArray = np.where(low, floors, rest * shares / free if free else 0.0)
        fresh = ~low & (found < floors)
        if not fresh.any():
            break
        low |= fresh
    lifted: FloatArray = found / found.sum()
    return lifted


@lru_cache(maxsize=256)
def _views_at(measured: tuple[float, ...] | None, k: int) -> IntArray:
    if measured is None:
        return discounted_views(k)
    return measured_views([*measured[:k], *measured[-1:] * (k - len(measured))])


@lru_cache(maxsize=1024)  # requests of one site have few shapes
def _due(fair: FairSettings, names: tuple[str, ...], counts: tuple[int, ...], k: int) -> IntArray:
    return due_views(fair.shares_of(names, counts), fair.views_at(k), np.array(counts))
