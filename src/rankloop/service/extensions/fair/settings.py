"""Fair exposure of a ranker: the share of all views that each group of candidates is to get.

Everything is counted in whole millionths of a view of the first position, so that sums are exact.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Annotated, ClassVar, Literal, TypeAlias

import msgspec
import numpy as np
from msgspec import Meta

from rankloop.errors import SettingError
from rankloop.exposure import (
    PAGE,
    VIEW,
    discounted_views,
    due_views,
    least_tolerance,
    measured_views,
)
from rankloop.service.core.settings_record import Settings, check_names, describe
from rankloop.types import FloatArray, IntArray

OTHERS = "others"  # the group of candidates that have none, or one that the shares do not name
Share: TypeAlias = Annotated[float, Meta(ge=0, le=1)]
Views: TypeAlias = Annotated[float, Meta(gt=0, le=1e6)]


class FairSettings(Settings, frozen=True, kw_only=True):
    """How much exposure each group is to get, and how far its account may be off.

    >>> FairSettings(shares={"ours": 0.25}).named("theirs")
    'others'
    >>> FairSettings(shares="equal", examination=[0.5, 0.25]).views_at(3).tolist()
    [1000000, 500000, 500000]
    """

    about: ClassVar[Meta] = describe(
        "Fair exposure",
        "Shares views between groups such as sellers; any change starts a new balance.",
        group="Fair exposure",
    )
    shares: Annotated[
        Literal["candidates", "equal"] | Annotated[Mapping[str, Share], Meta(min_length=1)],
        describe(
            "Group shares",
            "Share of views that each group should get; list shares by group to set them yourself.",
            values={
                "candidates": "by number of candidates",
                "equal": "the same for each group present",
                '{"ours": 0.5}': "as given, the group `others` gets the rest",
            },
        ),
    ] = "candidates"
    at_least: Annotated[
        Mapping[str, Share],
        describe("Minimum shares", "Smallest share of some groups; set it to protect small sellers."),
    ] = msgspec.field(default_factory=dict)
    tolerance: Annotated[
        Views,
        describe(
            "View tolerance",
            "Views a group may be ahead or behind before lists correct it; raise it to change fewer lists.",
            unit="views",
        ),
    ] = 5.0
    cap: Annotated[
        Views,
        describe(
            "Imbalance cap",
            "Drops imbalance beyond this many views; raise it to correct longer imbalances in full.",
            unit="views",
        ),
    ] = 50.0
    examination: Annotated[
        Annotated[tuple[float, ...], Meta(min_length=1, max_length=1000)] | None,
        describe(
            "Views by position",
            "Measured chance that a visitor examines each position; "
            "set it if you have measured your own pages.",
            values={
                "null": "1 / log2(1 + position); positions beyond the last number use the last one",
            },
        ),
    ] = None

    def __hash__(self) -> int:
        """Tell settings apart in caches, as far as plain numbers do; maps have no hash of their own."""
        return hash((self.tolerance, self.cap, self.examination, len(self.shares), len(self.at_least)))

    def check(self) -> None:
        """Refuse shares that are more than a whole, and a cap or an examination that cannot be."""
        if not isinstance(self.shares, str):
            _check_shares("shares", self.shares)
            for name in self.at_least:
                if name not in self.shares and name != OTHERS:
                    raise SettingError(
                        f"at_least: Expected groups that have a share in shares, found {name!r}"
                    )
        _check_shares("at_least", self.at_least)
        if self.cap < self.tolerance:
            raise SettingError(
                f"cap: Expected at least the tolerance of {self.tolerance:g}, found {self.cap:g}"
            )
        try:
            if self.examination is not None:
                self.views_at(len(self.examination))
        except SettingError as error:
            raise SettingError(f"examination: {error}") from error

    def named(self, group: str) -> str:
        """Under which name a group has its account."""
        if isinstance(self.shares, str):
            return group or OTHERS
        return group if group in self.shares else OTHERS

    def views_at(self, k: int) -> IntArray:
        """The views at the first `k` positions; beyond what was measured, those of the last one."""
        return _views_at(self.examination, k)

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
            f"its tolerance of {self.tolerance:g} views is less than the {least:g} that lists of {PAGE} can "
            "be held to: many lists will be outside of it"
        ]


def _check_shares(name: str, shares: Mapping[str, float]) -> None:
    """Refuse names of groups that no store can keep, and shares that are more than a whole."""
    check_names(name, shares, "a group")
    if (total := math.fsum(shares.values())) > 1 + 1e-9:
        raise SettingError(f"{name}: Expected shares that add up to 1 at most, found {total:g}")


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
