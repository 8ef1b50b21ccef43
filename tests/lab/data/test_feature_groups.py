"""Groups by a feature: who is in which, what policies may still see, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from rankloop.cli import app
from rankloop.cli.lab.sweep_inputs import read_spec_file
from rankloop.errors import DataError, SettingError
from rankloop.lab.data import FeatureGroups, concatenate, load, normalise_per_query, parse_groups
from rankloop.lab.data.query_set_slices import take_queries
from rankloop.lab.simulation.protocol import Protocol
from rankloop.lab.sweeps.results_folder import run_sweep
from rankloop.lab.sweeps.sweep import Sweep
from rankloop.lab.users import PresetUser
from rankloop.policies import Random
from rankloop.query_set import QuerySet

WORLD = "nonlinear(queries=6, test_queries=3)"
BY_LAST = FeatureGroups(feature=136, threshold=0.3)


def test_groups_are_those_of_the_normalised_feature_and_the_feature_is_gone() -> None:
    raw, made = load(WORLD, prepared=False), load(WORLD, groups=BY_LAST)
    for before, after in ((raw.train, made.train), (raw.test, made.test)):
        second = normalise_per_query(before).features[:, 135] <= 0.3
        assert after.groups == tuple("B" if each else "A" for each in second)
        assert 0 < second.mean() < 1
    plain = load(WORLD)
    assert made.train.n_features == plain.train.n_features - 1  # constant by now, and so dropped
    np.testing.assert_array_equal(made.train.features, plain.train.features[:, :-1])
    assert made.fingerprint != plain.fingerprint


def test_the_numbers_of_features_are_those_of_the_file_and_not_of_what_is_left() -> None:
    """The first 20 features of this world are constant within a query, and dropped."""
    made = load(WORLD, groups=FeatureGroups(feature=3))
    assert set(made.train.groups) == {"B"}
    np.testing.assert_array_equal(made.train.features, load(WORLD).train.features)


def test_groups_travel_with_queries_splits_and_joins() -> None:
    train = load(WORLD, groups=BY_LAST).train
    first, last = take_queries(train, 0, 2), take_queries(train, 2)
    joined = concatenate(first, last)
    assert joined.groups == train.groups == train.as_one_query().groups
    for index, judged in enumerate(train):
        rows = slice(train.offsets[index], train.offsets[index + 1])
        assert judged.query.groups == train.groups[rows] == joined[index].query.groups
    assert concatenate(first, load(WORLD).train).groups == ()  # nobody knows all of them
    assert load(WORLD).train[0].query.groups == ()


def test_a_sweep_says_its_groups_in_its_spec_and_is_run_again_from_it(tmp_path: Path) -> None:
    words = ["lab", "compare", "--data", WORLD, "--policies", "random", "--users", "perfect", "--rounds", "3"]
    options = ["--seeds", "1", "--workers", "1", "--groups", "feature=136,threshold=0.3"]
    done = CliRunner().invoke(app, [*words, *options, "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    spec = json.loads((tmp_path / "spec.json").read_text())
    assert spec["groups"] == {"feature": 136, "threshold": 0.3}
    again = read_spec_file(tmp_path / "spec.json")
    assert again.groups == BY_LAST
    assert again.dataset(WORLD).train.groups == load(WORLD, groups=BY_LAST).train.groups


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("128", "written feature=<number>,threshold=<number>, found '128'"),
        ("threshold=0", "written feature=<number>,threshold=<number>, found 'threshold=0'"),
        ("feature=x", "written feature=<number>,threshold=<number>, found 'feature=x'"),
        ("feture=3", "did you mean 'feature'"),
        ("feature=0", "feature must be a whole number of at least 1, found 0"),
        ("feature=1,threshold=nan", "of at least 0 and below 1, found nan"),
        ("feature=1,threshold=1", "of at least 0 and below 1, found 1.0"),
    ],
)
def test_groups_that_nobody_could_make_are_refused(text: str, says: str) -> None:
    with pytest.raises(SettingError, match=says):
        parse_groups(text)


def test_a_feature_that_the_data_does_not_have_is_refused() -> None:
    with pytest.raises(DataError, match="groups by feature 137: the data has the features 1 to 136"):
        load(WORLD, groups=FeatureGroups(feature=137))


def test_groups_that_do_not_cover_the_documents_are_refused() -> None:
    with pytest.raises(DataError, match="groups must name those of all 2 documents or none, found 1"):
        QuerySet(np.eye(2), np.array([0, 2]), np.array([0, 1]), ("q",), groups=("A",))


def test_a_dataset_at_hand_keeps_the_groups_that_it_has() -> None:
    dataset, user = BY_LAST.apply(load(WORLD, prepared=False)), {"perfect": PresetUser("perfect")}
    protocol = Protocol(rounds=2, checkpoints=1)
    sweep = Sweep(data=[dataset], users=user, policies={"random": Random()}, seeds=[0], protocol=protocol)
    assert run_sweep(sweep).height
    with pytest.raises(SettingError, match=r"groups\.apply\(dataset\)"):
        Sweep(data=[dataset], users=user, policies={"random": Random()}, groups=BY_LAST)
