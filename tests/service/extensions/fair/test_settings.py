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
from rankloop.service import FairSettings, RankerSettings
from rankloop.service.core.settings_record import read_settings
from rankloop.service.extensions.fair.settings import OTHERS
from rankloop.service.store import Store
from tests.support.life import make

NAMES = ("a", "b", "c", OTHERS)


@pytest.mark.parametrize(
    "fair",
    [
        FairSettings(),
        FairSettings(shares="equal", at_least={"a": 0.25}, examination=(1, 0.5)),
        FairSettings(shares={"a": 0.5, "b": 0.25}, tolerance=1, cap=10),
    ],
)
def test_it_survives_json(fair: FairSettings) -> None:
    rules = RankerSettings(fair=fair)
    assert read_settings(RankerSettings, json.loads(json.dumps(rules.to_log()))) == rules


@pytest.mark.parametrize(
    ("fair", "reason"),
    [
        ("equal", 'fair: Expected an object or null, found "equal"'),
        ({"share": "equal"}, "did you mean 'shares'"),
        ({"shares": "even"}, "fair.shares: Expected one of candidates, equal, or an object of 1 or more"),
        ({"shares": {}}, "an object of 1 or more entries, found an empty one"),
        ({"shares": 3}, "fair.shares: Expected .*, found 3"),
        ({"shares": {"a": 2}}, "fair.shares.a: Expected a number from 0 to 1, found 2"),
        (
            {"shares": {"a": 0.7, "b": 0.7}},
            "fair.shares: Expected shares that add up to 1 at most, found 1.4",
        ),
        ({"shares": {"a": True}}, "fair.shares.a: Expected a number from 0 to 1, found true"),
        ({"at_least": {"a": 0.7, "b": 0.7}}, "fair.at_least: Expected shares that add up to 1"),
        (
            {"shares": {"a": 1}, "at_least": {"b": 0.1}},
            "fair.at_least: Expected groups that have a share in shares, found 'b'",
        ),
        ({"tolerance": 0}, "fair.tolerance: Expected a number above 0 and up to 1,000,000, found 0"),
        ({"tolerance": 60}, "fair.cap: Expected at least the tolerance of 60, found 50"),
        ({"cap": float("inf")}, "fair.cap: Expected a finite number above 0 and up to 1,000,000, found inf"),
        ({"examination": []}, "fair.examination: Expected a list of 1 to 1,000 entries"),
        ({"examination": [1, 2]}, "fair.examination: examination must be numbers that start above 0"),
        ({"examination": "many"}, 'fair.examination: Expected a list .* or null, found "many"'),
        ({"examination": [1, "x"]}, r"fair.examination\[1\]: Expected a number, found"),
    ],
)
def test_what_nobody_could_share_out_is_refused(fair: Any, reason: str) -> None:
    with pytest.raises(SettingError, match=reason):
        read_settings(RankerSettings, {"fair": fair})


def test_a_log_says_nothing_of_what_is_off() -> None:
    assert "fair" not in RankerSettings().to_log()
    assert read_settings(RankerSettings, RankerSettings().to_log()).fair is None


def test_unnamed_groups_are_others_and_get_the_rest() -> None:
    fair = FairSettings(shares={"a": 0.5, "b": 0.2})
    assert [fair.named(name) for name in ("a", "", "z")] == ["a", OTHERS, OTHERS]
    assert fair.shares_of(("a", "b", OTHERS), (1, 1, 1)).tolist() == pytest.approx([0.5, 0.2, 0.3])
    assert fair.shares_of(("a", "b"), (1, 1)).tolist() == pytest.approx([5 / 7, 2 / 7])
    assert FairSettings().named("z") == "z"
    assert FairSettings().named("") == OTHERS


def test_looks_go_on_beyond_what_was_measured() -> None:
    assert FairSettings().views_at(3).tolist() == [10**6, round(10**6 / log2(3)), 500_000]
    assert FairSettings(examination=(2, 1)).views_at(4).tolist() == [10**6, 500_000, 500_000, 500_000]


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
