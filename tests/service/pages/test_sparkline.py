"""Small charts in rows of tables."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from rankloop.service.pages.sparkline import HEIGHT, WIDTH, sparkline

NUMBERS = st.lists(st.none() | st.floats(-1e9, 1e9), max_size=30)


@given(values=NUMBERS)
def test_every_number_is_a_point_within_the_picture_and_gaps_stay_gaps(values: list[float | None]) -> None:
    drawn = sparkline(values)
    known = [value for value in values if value is not None]
    assert (drawn == "") == (len(known) < 2)
    lines = re.findall(r'class="line" d="M([^"]*)"', drawn)
    points = [tuple(map(float, point.split())) for line in lines for point in line.split("L")]
    assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in points)
    runs = [len(run) for run in "".join("-" if each is None else "x" for each in values).split("-")]
    assert [line.count("L") + 1 for line in lines] == [n for n in runs if n > 1 and drawn]


def test_higher_is_drawn_higher_and_words_are_escaped() -> None:
    drawn = sparkline([0, 1, 0.5], label='up <b>"')
    (line,) = re.findall(r'class="line" d="M([^"]*)"', drawn)
    first, highest, last = (float(point.split()[1]) for point in line.split("L"))
    assert highest < last < first
    assert 'aria-label="up &lt;b&gt;&#34;"' in drawn
