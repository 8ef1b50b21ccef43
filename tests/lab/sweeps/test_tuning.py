"""Tuning chooses what is best on validation queries, and never sees a test query."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from rankloop.cli import app
from rankloop.errors import RankingError, SettingError
from rankloop.lab.data import load
from rankloop.lab.simulation.loop import simulate
from rankloop.lab.simulation.protocol import Protocol
from rankloop.lab.sweeps.results_folder import run_sweep
from rankloop.lab.sweeps.sweep import Sweep
from rankloop.lab.sweeps.tuning import Choice, list_points, order_policies, read_grid, tune
from rankloop.lab.users import PresetUser
from rankloop.policies import PDGD, Policy, Random

USERS = {"perfect": PresetUser("perfect"), "informational": PresetUser("informational")}
DATA = "linear(queries=30)"


def sweep_of(policies: dict[str, Policy], rounds: int = 20) -> Sweep:
    return Sweep(data=[DATA], users=USERS, policies=policies, seeds=[0, 1], protocol=Protocol(rounds=rounds))


def test_the_grid_is_what_every_point_reaches_on_the_validation_queries() -> None:
    """Each value is the mean of runs done one by one, on queries that are not the test queries."""
    world, policies = load(DATA), {"slow": PDGD(learning_rate=0.01), "fast": PDGD(learning_rate=1.0)}
    cut = round(0.8 * len(world.train))
    held = load("linear(queries=30, test_on_validation=True)")
    assert (held.train.ids, held.test.ids) == (world.train.ids[:cut], world.train.ids[cut:])
    assert not set(held.test.ids) & set(world.test.ids)
    (choices,) = tune(
        sweep_of(dict(policies)), measure="offline nDCG@10", execute=lambda rung, _: run_sweep(rung)
    )
    found = {(each.policy, each.user): each.value for each in choices}
    for name, policy in policies.items():
        means = []
        for user, preset in USERS.items():
            ends = []
            for seed in (0, 1):
                model = preset.for_grades(held.train.grades)
                records = list(
                    simulate(
                        policy.from_state(policy.state()),
                        model,
                        held.train,
                        held.test,
                        seed=seed,
                        protocol=Protocol(rounds=20),
                    )
                )
                ends += [
                    record.value
                    for record in records
                    if record.round == 20 and record.measure.name == "offline nDCG@10"
                ]
            assert found[name, user] == pytest.approx(np.mean(ends))
            means.append(np.mean(ends))
        assert found[name, "mean"] == pytest.approx(np.mean(means))
    assert order_policies(choices)[0] == max(policies, key=lambda name: found[name, "mean"] or 0)


class Told:
    """Executes nothing: point `i` reaches `quality[i]` whatever the user, and some never do."""

    def __init__(self, quality: dict[str, float], failing: set[str]) -> None:
        self.quality, self.failing = quality, failing
        self.rungs: list[tuple[int, list[str], list[object]]] = []

    def __call__(self, sweep: Sweep, number: int) -> pl.DataFrame:
        if self.failing & set(sweep.policies):
            raise RankingError("it does not converge")
        self.rungs.append((sweep.protocol.rounds, sorted(sweep.policies), list(sweep.data)))
        rows = [
            (run.data, run.fold, run.user, run.policy, run.seed, sweep.protocol.rounds, "m", value)
            for run in sweep.cells()
            for value in (self.quality[run.policy],)
        ]
        names = ["data", "fold", "user", "policy", "seed", "round", "metric", "value"]
        return pl.DataFrame(rows, schema=names, orient="row")


def test_halving_keeps_the_best_quarter_for_four_times_as_long() -> None:
    names = [f"p{number}" for number in range(16)]
    told = Told({name: float(number) for number, name in enumerate(names)}, failing=set())
    rungs = list(
        tune(sweep_of({name: Random() for name in names}, 400), measure="m", execute=told, halving=True)
    )
    assert [(rounds, policies) for rounds, policies, _ in told.rungs] == [
        (100, sorted(names)),
        (400, sorted(["p12", "p13", "p14", "p15"])),
    ]
    assert all("test_on_validation=True" in name for _, _, data in told.rungs for name in map(str, data))
    assert [each.policy for each in rungs[-1] if each.best and each.user == "mean"] == ["p15"]


def test_a_point_that_diverges_is_out() -> None:
    names = ["p0", "p1", "p2"]
    told = Told({"p0": 1.0, "p1": 2.0, "p2": 3.0}, failing={"p2"})
    (choices,) = tune(sweep_of({name: Random() for name in names}), measure="m", execute=told)
    assert order_policies(choices) == ["p1", "p0"]
    assert Choice(0, 20, "mean", "p2", None, best=False) in choices
    told = Told({}, failing=set(names))
    with pytest.raises(RankingError, match="does not converge"):
        list(tune(sweep_of({name: Random() for name in names}), measure="m", execute=told))


def test_the_command_goes_on_where_it_stopped_and_writes_what_it_chose(tmp_path: Path) -> None:
    words = [
        "lab",
        "tune",
        "ranknet@paper",
        "--data",
        DATA,
        "--users",
        "perfect",
        "--rounds",
        "10",
        "--seeds",
        "1",
    ]
    outcomes = []
    for _ in range(2):
        result = CliRunner().invoke(app, [*words, "--workers", "1", "--out", str(tmp_path)])
        assert result.exit_code == 0, result.output
        outcomes.append(json.loads((tmp_path / "tuning.json").read_text("utf-8")))
        files = {path: path.stat().st_mtime_ns for path in tmp_path.glob("rung1/runs/*")}
    assert outcomes[0] == outcomes[1]
    assert len(files) == len(outcomes[0]["choices"]) / 2 == 3
    assert outcomes[0]["best"]["mean"] in result.output.replace("\n", "")
    for rate in ("0.1", "0.01", "0.001"):  # every point is told from the others
        assert len(re.findall(rf"^ learning_rate={rate} ", result.output, re.MULTILINE)) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["pdgd"], "pdgd has no grid of a paper: give one with --grid"),
        (["pdgd", "--grid", "decay"], "a grid is <setting>=<value>|<value>,..., found 'decay'"),
        (["pdgd", "--grid", "rate=1|2"], "PDGD has no setting 'rate'"),
        (["ranknet@paper", "--by", "test"], "no way to choose is called 'test'"),
    ],
)
def test_what_cannot_be_tuned_is_explained(words: list[str], said: str) -> None:
    result = CliRunner().invoke(app, ["lab", "tune", *words])
    assert result.exit_code != 0
    assert said in " ".join((result.output + str(result.exception)).split())


def test_a_grid_is_every_combination() -> None:
    points = list_points("pdgd", read_grid("learning_rate=0.1|1,decay=0.9|1.0|0.5"))
    assert len(set(points)) == 6
    with pytest.raises(SettingError, match="at least one setting"):
        list_points("pdgd", {})
