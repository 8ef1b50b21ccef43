"""How exposure is to be shared: what can be said, and what follows from it."""

from __future__ import annotations

import json
from math import log2
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankloop.errors import SettingError
from rankloop.exposure import attainable_views, discounted_views, least_tolerance
from rankloop.policies.policy_names import POLICIES
from rankloop.service import FairSettings, RankerSettings
from rankloop.service.extensions.fair.settings import OTHERS
from rankloop.service.store import Store
from tests.support.life import make

NAMES = ("a", "b", "c", OTHERS)


@pytest.mark.parametrize(
    "fair",
    [
        FairSettings(),
        FairSettings(shares="equal", at_least={"a": 0.25}, looks=[1, 0.5]),
        FairSettings(shares={"a": 0.5, "b": 0.25}, tolerance=1, most=10),
    ],
)
def test_it_survives_json(fair: FairSettings) -> None:
    rules = RankerSettings(fair=fair)
    again = RankerSettings.from_json(json.loads(json.dumps(rules.to_json())), POLICIES)
    assert again.to_json() == rules.to_json()
    assert again.fair is not None


@pytest.mark.parametrize(
    ("fair", "reason"),
    [
        ("equal", "must be settings"),
        ({"share": "equal"}, "did you mean 'shares'"),
        ({"shares": "even"}, '"candidates", "equal" or shares by group'),
        ({"shares": {}}, "must be shares by group"),
        ({"shares": 3}, "must be shares by group"),
        ({"shares": {"a": 2}}, "between 0 and 1"),
        ({"shares": {"a": 0.7, "b": 0.7}}, "add up to 1"),
        ({"shares": {"a": True}}, "between 0 and 1"),
        ({"at_least": {"a": 0.7, "b": 0.7}}, "add up to 1"),
        ({"shares": {"a": 1}, "at_least": {"b": 0.1}}, "has no share"),
        ({"tolerance": 0}, "above 0"),
        ({"tolerance": 60}, "must not be below the tolerance"),
        ({"most": float("inf")}, "above 0"),
        ({"looks": []}, "fair.looks"),
        ({"looks": [1, 2]}, "fair.looks"),
        ({"looks": "many"}, "up to 1000 numbers"),
        ({"looks": [1, "x"]}, "up to 1000 numbers"),
    ],
)
def test_what_nobody_could_share_out_is_refused(fair: Any, reason: str) -> None:
    with pytest.raises(SettingError, match=reason):
        RankerSettings.from_json({"fair": fair}, POLICIES)


def test_settings_of_a_release_without_it_have_none() -> None:
    data = {name: value for name, value in RankerSettings().to_json().items() if name != "fair"}
    assert RankerSettings.from_json(data, POLICIES).fair is None


def test_unnamed_groups_are_others_and_get_the_rest() -> None:
    fair = FairSettings(shares={"a": 0.5, "b": 0.2})
    assert [fair.named(name) for name in ("a", "", "z")] == ["a", OTHERS, OTHERS]
    assert fair.shares_of(("a", "b", OTHERS), (1, 1, 1)).tolist() == pytest.approx([0.5, 0.2, 0.3])
    assert fair.shares_of(("a", "b"), (1, 1)).tolist() == pytest.approx([5 / 7, 2 / 7])
    assert FairSettings().named("z") == "z"
    assert FairSettings().named("") == OTHERS


def test_looks_go_on_beyond_what_was_measured() -> None:
    assert FairSettings().views_at(3).tolist() == [10**6, round(10**6 / log2(3)), 500_000]
    assert FairSettings(looks=[2, 1]).views_at(4).tolist() == [10**6, 500_000, 500_000, 500_000]


@given(
    st.sampled_from(["candidates", "equal", "given"]),
    st.lists(st.integers(0, 6), min_size=4, max_size=4).filter(any),
    st.lists(st.floats(0, 0.25), min_size=4, max_size=4),
    st.integers(1, 12),
)
def test_everything_is_due_to_somebody_and_nobody_more_than_attainable_views(
    shares: str, sizes: list[int], floors: list[float], k: int
) -> None:
    given_shares: Any = {"a": 0.2, "b": 0.5, "c": 0.0} if shares == "given" else shares
    fair = FairSettings(shares=given_shares, at_least=dict(zip(NAMES, floors, strict=True)))
    names = tuple(name for name, size in zip(NAMES, sizes, strict=True) if size)
    counts = tuple(size for size in sizes if size)
    k = min(k, sum(counts))
    due, looks = fair.due(names, counts, k), fair.views_at(k)
    assert due.sum() == looks.sum()
    assert (due >= 0).all()
    assert (due <= attainable_views(looks, np.array(counts))).all()
    lifted = fair.shares_of(names, counts)
    assert lifted.sum() == pytest.approx(1)
    assert all(share >= fair.at_least[name] - 1e-9 for share, name in zip(lifted, names, strict=True))


def test_a_tolerance_that_lists_cannot_be_held_to_is_warned_of() -> None:
    least = least_tolerance(discounted_views(10)) / 10**6
    assert FairSettings(tolerance=least).warnings == []
    (warning,) = FairSettings(tolerance=0.9 * least).warnings
    assert f"than the {least:g} that" in warning


def test_an_account_begins_when_the_setting_changes_and_with_nothing_else(store: Store) -> None:
    service = make(store)
    service.create("shop")

    def account() -> int:
        return service.ranker("shop").view.configuration.extension_states["fair"] or 0

    assert account() == 0
    first = service.configure("shop", RankerSettings(fair=FairSettings()))
    assert account() == first
    service.configure("shop", RankerSettings(fair=FairSettings(), window=60))
    service.set_mode("shop", "frozen")
    assert account() == first == make(store).ranker("shop").view.configuration.extension_states["fair"]
    second = service.configure("shop", RankerSettings(fair=FairSettings(tolerance=4)))
    assert account() == second
    service.configure("shop", RankerSettings())
    assert account() == 0
