"""The picture of what a linear ranker could tell apart."""

from __future__ import annotations

from pathlib import Path

import altair as alt
import numpy as np
from typer.testing import CliRunner

from rankloop.checks import small_world
from rankloop.cli.command_table import app
from rankloop.lab.analysis.linear_view import MOST_POINTS, draw_linear_view, find_discriminants
from rankloop.lab.data import load
from rankloop.lab.suites import Experiment
from rankloop.lab.suites.experiment_runner import draw_picture
from rankloop.query_set import QuerySet


def two_clouds(n: int = 4000) -> QuerySet:
    """Relevant documents differ from the others in one direction, across which both vary more."""
    rng = np.random.default_rng(0)
    grades = np.arange(n) % 2
    features = rng.normal(size=(n, 3)) * [5, 1, 3]
    features[:, 1] += 2 * grades
    return QuerySet(features, np.array([0, n]), grades, ("q",))


def test_two_grades_have_fishers_direction() -> None:
    """For two classes the discriminant is the inverse of the scatter within them times the difference."""
    world = two_clouds()
    clouds = [world.features[world.relevance == grade] for grade in (0, 1)]
    within = sum(np.cov(cloud.T) for cloud in clouds)
    expected = np.linalg.solve(within, clouds[1].mean(axis=0) - clouds[0].mean(axis=0))
    found = find_discriminants(world.features, world.relevance, n=1)[:, 0]
    cosine = found @ expected / np.linalg.norm(found) / np.linalg.norm(expected)
    np.testing.assert_allclose(abs(cosine), 1, atol=1e-6)


def test_features_that_say_the_same_do_no_harm() -> None:
    world = two_clouds()
    twice = np.hstack((world.features, world.features, np.ones((len(world.features), 1))))
    assert np.isfinite(find_discriminants(twice, world.relevance)).all()


def test_the_picture_has_better_grades_to_the_right_and_not_too_many_dots() -> None:
    spec = draw_linear_view(two_clouds(), np.random.default_rng(0)).to_dict()
    dots, middles = (spec["datasets"][layer["data"]["name"]] for layer in spec["layer"])
    assert len(dots) == MOST_POINTS
    assert [middle["grade"] for middle in middles] == [0, 1]
    assert middles[0]["first"] < middles[1]["first"]


def test_one_feature_and_one_grade_can_be_drawn() -> None:
    world = small_world()
    narrow = QuerySet(world.features[:, :1], world.offsets, world.relevance, world.ids)
    flat = QuerySet(world.features, world.offsets, np.zeros_like(world.relevance), world.ids)
    for queries in (narrow, flat):
        assert draw_linear_view(queries, np.random.default_rng(0)).to_dict()["layer"]


SEEN: list[QuerySet] = []


def remember(queries: QuerySet, rng: np.random.Generator) -> alt.TopLevelMixin:
    """Draw as the picture is drawn, and remember of what."""
    SEEN.append(queries)
    return draw_linear_view(queries, rng)


def test_the_plane_is_that_of_the_entire_dataset() -> None:
    world = load("linear(queries=15, test_queries=5)")
    draw_picture(Experiment(id="it", question="?", picture=f"{__name__}:remember", data=[world.name]))
    queries = SEEN.pop()
    assert len(queries) == sum(len(part) for part in world.parts) > len(world.train)
    expected = [judged for part in world.parts for judged in part]
    for found, judged in zip(queries, expected, strict=True):
        assert found.query.id == judged.query.id
        np.testing.assert_array_equal(found.query.features, judged.query.features)
        np.testing.assert_array_equal(found.relevance, judged.relevance)


def test_it_is_an_experiment_of_its_own(tmp_path: Path) -> None:
    answer = CliRunner().invoke(app, ["lab", "run", "neural/fig3", "--out", str(tmp_path)])
    assert answer.exit_code == 0
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["neural-fig3-nonlinear.png", "neural-fig3-nonlinear.svg"]
