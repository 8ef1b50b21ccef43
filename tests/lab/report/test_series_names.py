"""Short names and styles of lines: short, all different, and alike within a family."""

from __future__ import annotations

import pytest

from rankloop.charts import PALETTE
from rankloop.lab.report.series_names import assign_line_styles, find_abbreviations, shorten_names

NASTY = r"50 % of {a_b} & $c$ #1 ^~ \d"
LONG = "PairRank(regularisation=0.1, certainty=Width(0.01), exploration='random')"
POLICIES = ["PairRank", LONG, "MGD(step_size=0.1)", NASTY, "skyline"]


def test_short_names_are_short_and_differ() -> None:
    names = [f"PairRank(certainty=Width({10.0**-n:g}))" for n in range(5)] + POLICIES
    short = shorten_names(names)
    assert len(set(short.values())) == len(names)
    assert short["PairRank"] == "PairRank"
    assert short["MGD(step_size=0.1)"] == "MGD"
    assert short["PairRank(certainty=Width(0.1))"] == "PairRank Width(0.1)"
    assert all(len(brief) <= 26 for name, brief in short.items() if name != NASTY)
    assert {
        **{name: name for name in names},
        **{name: brief for brief, name in find_abbreviations(short).items()},
    } == short


def test_many_variants_have_letters_of_their_own() -> None:
    names = [f"{LONG}{number}" for number in range(60)]
    assert len(set(shorten_names(names).values())) == 60


@pytest.mark.parametrize("variant", ["PairRank(x={})", "pairrank@paper(x={})"])
def test_a_family_has_one_hue_and_no_two_styles_are_alike(variant: str) -> None:
    names = ["dbgd", "PairRank"]
    names += [variant.format(number) for number in range(8)]
    drawn = assign_line_styles(names)
    assert (drawn["dbgd"].colour, drawn[names[1]].colour) == PALETTE[:2]
    assert len(set(drawn.values())) == len(names)
    assert not {style.colour for name, style in drawn.items() if name != "dbgd"} & {PALETTE[0], *PALETTE[2:]}
