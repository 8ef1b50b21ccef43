"""What is due to groups, and the tolerance that two of them can be held to."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankloop.errors import RankingError, SettingError
from rankloop.exposure import attainable_views, discounted_views, due_views, measured_views


@given(
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 6)), min_size=1, max_size=5),
    st.integers(1, 10),
)
def test_every_view_is_due_to_a_group_that_can_receive_it(groups: list[tuple[float, int]], k: int) -> None:
    shares, counts = np.array([share for share, _ in groups]), np.array([count for _, count in groups])
    views = discounted_views(max(1, min(k, int(counts.sum()))))
    if not counts.sum():
        with pytest.raises(RankingError, match="every position a candidate"):
            due_views(shares, views, counts)
        return
    due, most = due_views(shares, views, counts), attainable_views(views, counts)
    assert due.sum() == views.sum()
    assert ((due >= 0) & (due <= most)).all()
    free = (due < most) & (shares > 0) & (counts > 0)
    for one, other in itertools.combinations(free.nonzero()[0], 2):  # uncapped groups are due by their shares
        assert due[one] * shares[other] == pytest.approx(due[other] * shares[one], abs=2)


@pytest.mark.parametrize(
    ("examination", "says"), [([0.5, 0.6], "never rise"), ([], "start above 0"), ([1, np.nan], "numbers")]
)
def test_numbers_that_no_examination_could_be_are_refused(examination: list[float], says: str) -> None:
    with pytest.raises(SettingError, match=says):
        measured_views(examination)
