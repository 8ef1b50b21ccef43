"""Extraction agrees with what people marked, as well as was promised."""

import pytest

from tests.lab.reviews.aste import Judgement, find, judge


@pytest.mark.parametrize(("name", "f1"), [("14lap.test", 0.29), ("14res.test", 0.43)])
def test_extraction_finds_what_people_marked(name: str, f1: float) -> None:
    path = find(f"{name}.txt.gz")
    if path is None:
        pytest.skip("aste (or later/aste) with the marked sentences is not in the folders of RANKLOOP_DATA")
    found = judge(path)
    assert found.f1 >= f1, found
    assert found.polarity >= 0.94, found


def test_the_f1_score_is_the_harmonic_mean() -> None:
    assert Judgement(precision=0.5, recall=0.25, polarity=1).f1 == pytest.approx(1 / 3)
