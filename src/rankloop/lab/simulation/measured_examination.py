"""Examination measured by randomisation: how often each position of random lists is clicked."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeVar, cast

import numpy as np

from rankloop.errors import DataError, SettingError
from rankloop.exposure.position_views import MEASURED
from rankloop.lab.users import UserModel
from rankloop.query_set import QuerySet
from rankloop.types import Ranking

LISTS = 20_000
T = TypeVar("T")


@lru_cache(maxsize=16)
def measure_examination(
    user: UserModel, queries: QuerySet, k: int, *, lists: int = LISTS, seed: int = 0
) -> tuple[float, ...]:
    """Measure how often each of the first `k` positions is examined, compared with the first.

    It is the click rate at a position of random lists over that at the first position of the same lists: in a
    random order what stands there does not matter. It never rises, as no examination does. Where no list is
    that long, there is nothing to measure.

    >>> from rankloop.checks import small_world
    >>> from rankloop.lab.users import PositionBased
    >>> user = PositionBased(click=(0.5, 0.7, 0.9), eta=1.0)  # examines the second position half as often
    >>> [round(each, 1) for each in measure_examination(user, small_world(), 3)]
    [1.0, 0.5, 0.3]

    Joachims, Swaminathan, Schnabel: Unbiased learning-to-rank with biased feedback. WSDM 2017.
    """
    if user.gives != "clicks":
        raise SettingError(f"examination is measured on clicks, and this user gives {user.gives}")
    rng = np.random.default_rng(seed)
    first, here = np.zeros(k), np.zeros(k)
    for index in rng.integers(len(queries), size=lists).tolist():
        judged = queries[index]
        ranking = Ranking(judged.query, rng.permutation(judged.query.n_docs)[:k])
        clicks = user.respond(ranking, judged.relevance, rng).clicks
        first[: clicks.size] += clicks[0]
        here[: clicks.size] += clicks
    long_enough = first > 0
    if not long_enough.any():
        raise DataError(f"nobody clicked on the first of {lists:,} random lists: examination is not known")
    rates = here[long_enough] / first[long_enough]
    return tuple(np.minimum.accumulate(rates).round(6).tolist())


def fit_examination(value: T, user: UserModel, queries: QuerySet, k: int) -> T:
    """Give a policy or probe the examination of these users, if it leaves that to be measured."""
    if getattr(value, "examination", None) != MEASURED:
        return value
    found = measure_examination(user, queries, k)  # type: ignore[arg-type]  # users are values, and can be hashed
    made: T = replace(cast(Any, value), examination=found)
    return made
