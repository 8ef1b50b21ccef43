"""The survey of people: the page asks, shows and keeps; the reader sums up, or says what is wrong."""

from __future__ import annotations

import json
from functools import cache
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from rankloop.cli import app
from rankloop.errors import DataError, SettingError
from rankloop.lab.data.review_data import Shop
from rankloop.lab.recommendation.survey import Votes, read_answers, survey_id, survey_page
from rankloop.recommend import FMF, Catalogue, FacT, MostPopular, Recommender, Saved, save
from tests.support.browsing import CHROMIUM, DESKTOP, NO_CHROMIUM, browser

REVIEWS = Shop(users=80, items=30).reviews()


@cache
def saved(kind: str) -> Saved:
    models: dict[str, Recommender] = {
        "fact": FacT(d=6, depth=3, min_leaf=5, attributes=False),
        "fmf": FMF(d=6, depth=2, min_leaf=5),
        "popular": MostPopular(),
    }
    return Saved.of(models[kind].fit(REVIEWS, np.random.default_rng(0)), Catalogue.of(REVIEWS))


def embedded(page: str) -> dict[str, Any]:
    start = page.index('id="data">') + len('id="data">')
    found: dict[str, Any] = json.loads(page[start : page.index("</script>", start)])
    return found


def test_the_page_holds_the_lists_of_every_way_through_the_trees() -> None:
    page = survey_page(saved("fact"), saved("fmf"), k=5)
    data = embedded(page)
    assert data["survey"] == survey_id(saved("fact"), saved("fmf"))
    model, node, answers = saved("fact").model, data["trees"][0], {}
    while "question" in node:
        column = next(k for k, name in enumerate(REVIEWS.features) if f"is {name} to" in node["question"])
        answers[column] = 1 if "much" in node["after"] else -1
        scores = model.score_taste(model.taste(answers=answers))
        node = node["after"]["much" if "much" in node["after"] else "little"]
        assert node["list"] == np.argsort(-scores, kind="stable")[:5].tolist()
        assert len(node["why"]) == 5
    assert answers
    assert "http" not in page.replace("http-equiv", "")  # nothing is fetched from anywhere
    titles = [each.replace("<", "") for each in data["titles"]]
    assert titles == data["titles"]


def test_recommenders_without_trees_or_of_other_shops_are_refused() -> None:
    with pytest.raises(SettingError, match="needs a tree"):
        survey_page(saved("fact"), saved("popular"))
    other = Shop(users=40, items=24).reviews()
    stranger = Saved.of(
        FMF(d=4, depth=1, min_leaf=5).fit(other, np.random.default_rng(0)), Catalogue.of(other)
    )
    with pytest.raises(SettingError, match="the same items"):
        survey_page(saved("fact"), stranger)


@pytest.mark.skipif(CHROMIUM is None, reason=NO_CHROMIUM)
def test_a_person_answers_and_the_answers_are_summed_up(tmp_path: Path) -> None:
    (tmp_path / "survey.html").write_text(survey_page(saved("fact"), saved("fmf"), k=6), "utf-8")
    with browser(f"file://{tmp_path}", **DESKTOP, accept_downloads=True) as seen:
        seen.trouble.clear()
        for person in range(2):
            page = seen.go("/survey.html")
            while page.locator("#ask").is_visible():
                page.click(f"[data-answer={'much' if person else 'little'}]")
            assert page.locator("#list > li").count() == 6
            assert page.locator("#list ul li").count() > 0
            page.locator("#list input").nth(person).check()
            with page.expect_download() as download:
                page.click("#keep")
            download.value.save_as(tmp_path / "answers" / f"{person}.json")
            assert "Thank you" in page.inner_text("#kept")
        assert [each for each in seen.trouble if not each.startswith("file:")] == []
    for path in (tmp_path / "answers").iterdir():
        found = json.loads(path.read_text())
        teams = [each["team"] for each in found["shown"]]
        assert len(found["liked"]) == 1
        assert abs(teams.count(0) - teams.count(1)) <= 1
    likes = read_answers(
        sorted((tmp_path / "answers").iterdir()), survey=survey_id(saved("fact"), saved("fmf"))
    )
    assert len(likes) == 2
    assert all(sum(each) <= 1 for each in likes)
    result = CliRunner().invoke(app, ["recommend", "votes", str(tmp_path / "answers")])
    assert "2 people" in result.output


def test_the_sign_test_is_the_binomial_one() -> None:
    found = Votes.of([(1, 0)] * 9 + [(0, 2)] * 2 + [(1, 1)])
    assert (found.first, found.second, found.ties) == (9, 2, 1)
    assert found.p == pytest.approx(2 * sum(comb(11, n) for n in range(3)) / 2**11)
    assert Votes.of([(0, 0)]).p == 1.0


ANSWERS: dict[str, Any] = {
    "survey": "a",
    "answers": [],
    "shown": [{"item": "x", "team": 0}, {"item": "y", "team": None}, {"item": "z", "team": 1}],
    "liked": ["x", "y", "x"],
}


@pytest.mark.parametrize(
    "change",
    [
        {"liked": ["w"]},
        {"shown": [{"item": "x", "team": 2}]},
        {"shown": [{"item": "x", "team": 0}, {"item": "x", "team": 1}]},
        {"shown": None},
        {"survey": 3},
    ],
)
def test_answers_that_the_page_did_not_give_are_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    (tmp_path / "a.json").write_text(json.dumps(ANSWERS))
    assert read_answers([tmp_path / "a.json"]) == [(1, 0)]
    (tmp_path / "b.json").write_text(json.dumps({**ANSWERS, **change}))
    with pytest.raises(DataError, match=r"b\.json: expected answers"):
        read_answers([tmp_path / "a.json", tmp_path / "b.json"])


def test_answers_of_two_surveys_are_not_summed_up(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.json").write_text(json.dumps({**ANSWERS, "survey": name}))
    with pytest.raises(DataError, match="one survey, found 2"):
        read_answers([tmp_path / "a.json", tmp_path / "b.json"])
    with pytest.raises(DataError, match="found none"):
        read_answers([])


def test_the_command_writes_the_page(tmp_path: Path) -> None:
    for kind in ("fact", "fmf"):
        save(tmp_path / f"{kind}.npz", saved(kind).model, saved(kind).catalogue)
    words = ["recommend", "survey", "--model", f"{tmp_path}/fact.npz", "--against", f"{tmp_path}/fmf.npz"]
    result = CliRunner().invoke(app, [*words, "--out", f"{tmp_path}/survey.html"])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "survey.html").read_text("utf-8").startswith("<!doctype html>")
