"""Logs in files: a mapping says what the columns are, and what is wrong is said."""

from __future__ import annotations

import lzma
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from rankloop.cli import app
from rankloop.errors import DataError, SettingError
from rankloop.lab.data.round_tables import OPEN_BANDIT, RoundColumns, read_rounds

CSV = "ad,p,clicked,age,land\n" + "".join(
    f"{'ab'[row % 2]},0.5,{int(row % 4 == 1)},{20 + row},{['de', 'fr'][row % 3 == 0]}\n" for row in range(60)
)
MAPPING = "reward=clicked,shown=ad,propensity=p,context=age+land"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "log.csv"
    path.write_text(CSV)
    return path


def test_a_table_is_read_by_its_mapping(file: Path) -> None:
    log = read_rounds(file, RoundColumns.parse(MAPPING))
    assert log.ads == ("a", "b")
    assert log.contexts[:3].tolist() == [[20.0, 0.0, 1.0], [21.0, 1.0, 0.0], [22.0, 1.0, 0.0]]
    assert (log.shown[:4].tolist(), log.rewards[:4].tolist()) == ([0, 1, 0, 1], [0.0, 1.0, 0.0, 0.0])
    packed = file.with_name("log.csv.xz")
    packed.write_bytes(lzma.compress(CSV.encode()))
    np.testing.assert_array_equal(read_rounds(packed, RoundColumns.parse(MAPPING)).contexts, log.contexts)


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ("reward=clicked,shown=ad,propensity=q", "no column is called 'q'"),
        ("reward=land,shown=ad,propensity=p", "column 'land' must hold numbers"),
        ("reward=clicked,shown=ad,propensity=age", "a probability above 0 and of at most 1, found 20"),
    ],
)
def test_columns_that_cannot_be_what_they_are_called_are_refused(
    file: Path, mapping: str, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        read_rounds(file, RoundColumns.parse(mapping))


def test_a_mapping_names_what_it_maps() -> None:
    with pytest.raises(SettingError, match="did you mean 'reward'"):
        RoundColumns.parse("rewards=clicked")


def test_open_bandit_files_are_read(tmp_path: Path) -> None:
    header = ",timestamp,item_id,position,click,propensity_score," + ",".join(
        f"user_feature_{number}" for number in range(4)
    )
    rows = [f"{row},now,{row % 3},1,{int(row == 4)},0.25,x,y{row % 2},z,w" for row in range(9)]
    path = tmp_path / "random.csv"
    path.write_text("\n".join([header, *rows]))
    log = read_rounds(path, OPEN_BANDIT)
    assert (log.ads, log.contexts.shape) == (("0", "1", "2"), (9, 5))
    assert log.mean_reward == pytest.approx(1 / 9)


def test_the_command_says_what_a_policy_would_have_got_or_why_not(file: Path) -> None:
    options = ["--columns", MAPPING, "--policies", "squarecb,random"]
    result = CliRunner(env={"COLUMNS": "200"}).invoke(app, ["lab", "evaluate", str(file), *options])
    assert result.exit_code == 0, result.output
    assert "30 rounds to learn from, 30 to judge by: 2 ads" in result.output
    assert "at least" in result.output
    lopsided = file.with_name("lopsided.csv")
    early, late = CSV[:300], CSV[300:]
    lopsided.write_text(early + late.replace("\na,0.5", "\nb,0.5"))
    result = CliRunner(env={"COLUMNS": "200"}).invoke(
        app, ["lab", "evaluate", str(lopsided), *options, "--train-share", "0.9"]
    )
    assert result.exit_code == 0, result.output
    assert "no answer: the policy may show 'a', which the log never showed" in result.output
    refused = CliRunner().invoke(app, ["lab", "evaluate", str(file), *options, "--train-share", "1.0"])
    assert "must leave rounds for both parts" in refused.output


def test_each_command_names_the_one_that_reads_the_other_kind_of_log(file: Path) -> None:
    for command, found, other in (
        (["evaluate", str(file)], "holds no log of a service", "rankloop lab evaluate"),
        (["lab", "evaluate", str(file.parent)], "expected a CSV file, found a folder", "rankloop evaluate"),
    ):
        refused = CliRunner(env={"COLUMNS": "200"}).invoke(app, command)
        assert refused.exit_code == 2
        assert found in refused.output
        assert f"`{other}`" in refused.output


def test_policies_may_learn_from_another_table(file: Path) -> None:
    command = ["lab", "evaluate", str(file), "--columns", MAPPING, "--policies", "random", "--train"]
    result = CliRunner(env={"COLUMNS": "200"}).invoke(app, [*command, str(file)])
    assert "60 rounds to learn from, 60 to judge by" in result.output
    narrow = file.with_name("narrow.csv")
    narrow.write_text("ad,p,clicked,age,land\na,0.5,1,30,de\nb,0.5,0,40,de\n")
    refused = CliRunner(env={"COLUMNS": "200"}).invoke(app, [*command, str(narrow)])
    assert "both logs must have the same features, found" in refused.output


@pytest.mark.parametrize("share", ["nan", "inf", "-0.5", "0", "1.5"])
def test_a_share_that_is_none_is_refused(file: Path, share: str) -> None:
    refused = CliRunner(env={"COLUMNS": "200"}).invoke(
        app, ["lab", "evaluate", str(file), "--columns", MAPPING, "--train-share", share]
    )
    assert refused.exit_code != 0
    assert f"must leave rounds for both parts, above 0 and below 1, found {float(share)}" in refused.output


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("policy", ["linucb", "thompson-logistic"])
def test_choices_that_are_no_numbers_are_refused(file: Path, policy: str) -> None:
    file.write_text(
        "ad,p,clicked,age\n" + "".join(f"{'ab'[row % 2]},0.5,{row % 3 % 2},1e308\n" for row in range(60))
    )
    command = ["lab", "evaluate", str(file), "--columns", MAPPING.removesuffix("+land"), "--policies", policy]
    refused = CliRunner(env={"COLUMNS": "200"}).invoke(app, command)
    assert refused.exit_code != 0
    assert "choices must be finite numbers" in refused.output
    assert "nan%" not in refused.output
