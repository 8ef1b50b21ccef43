"""Exposure is measured as it is defined, examination as it is, and neither changes a run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from rankloop.cli.lab.sweep_inputs import read_spec_file
from rankloop.errors import SettingError
from rankloop.exposure import measured_views
from rankloop.lab.baselines.ips import IPS
from rankloop.lab.data import FeatureGroups, load
from rankloop.lab.simulation.loop import Record, simulate
from rankloop.lab.simulation.measured_examination import fit_examination, measure_examination
from rankloop.lab.simulation.probes import Probe, make_probe
from rankloop.lab.simulation.protocol import Protocol
from rankloop.lab.sweeps.results_folder import run_sweep
from rankloop.lab.sweeps.sweep import Sweep
from rankloop.lab.sweeps.sweep_spec import sweep_id
from rankloop.lab.users import LabelJudge, PositionBased, PresetUser
from rankloop.policies import FairExpPairRank, PairRank, Policy, Random
from rankloop.query_set import QuerySet
from rankloop.types import Ranking

GROUPS = FeatureGroups(feature=1, threshold=0.4)
NAME = "linear(queries=30, min_documents=15)"
WORLD = load(NAME, groups=GROUPS)
USER = PresetUser("informational").for_grades(5)
PROTOCOL = Protocol(rounds=40, k=5, checkpoints=4)
EXAMINATION = (1.0, 0.6, 0.5, 0.4, 0.4)
PROBES = (
    make_probe("exposure", beta=1.5, epsilon=3.0, examination=EXAMINATION),
    make_probe("violated", every=1),
)


class Recording(PairRank):
    """Keeps the lists it showed, and how many certain orders each violates."""

    def __init__(self, lists: list[tuple[Ranking, int]]) -> None:
        super().__init__()
        self.lists = lists

    def shown(self, ranking: Ranking) -> None:
        certain = self.certain_orders(ranking.query)
        place = {document: position for position, document in enumerate(ranking.order.tolist())}
        count = sum(
            bool(certain[i, j]) and j in place and place.get(i, 99) > place[j]
            for i in range(len(certain))
            for j in range(len(certain))
        )
        self.lists.append((ranking, count))


def run(policy: Policy, probes: tuple[Probe, ...] = PROBES) -> list[Record]:
    return list(simulate(policy, USER, WORLD.train, WORLD.test, seed=1, protocol=PROTOCOL, probes=probes))


def values(records: list[Record], metric: str) -> dict[int, float]:
    return {record.round: record.value for record in records if record.metric == metric}


def test_unfairness_is_the_sum_of_its_definition_at_every_checkpoint() -> None:
    lists: list[tuple[Ranking, int]] = []
    records = run(Recording(lists))
    total, largest, within, views = 0.0, 0.0, 0, np.zeros(2)
    expected = {}
    for number, (ranking, _) in enumerate(lists, start=1):
        for view, row in zip(EXAMINATION, ranking.order.tolist(), strict=True):
            first = ranking.query.groups[row] == "A"
            views += (view * first, view * (not first))
            total += view if first else -1.5 * view
        largest, within = max(largest, abs(total)), within + (abs(total) <= 3.0)
        expected[number] = (total, largest, within / number, views[0] / views.sum())
    names = (
        "unfairness",
        "largest unfairness",
        "rounds within tolerance",
        "exposure of the first group",
    )
    for index, name in enumerate(names):
        found = values(records, name)
        assert set(found) == {number for number in PROTOCOL.checkpoint_rounds() if number}
        for number, value in found.items():
            assert value == pytest.approx(expected[number][index], abs=1e-4), (name, number)


def test_violated_orders_are_counted_as_shown_or_not() -> None:
    """PairRank violates none; lists that somebody turned round do."""
    assert set(values(run(PairRank()), "violated certain orders").values()) == {0.0}
    fair = FairExpPairRank(beta=1.0, tolerance=0.5)
    assert values(run(fair), "violated certain orders")[40] > 0
    lists: list[tuple[Ranking, int]] = []
    records = run(Recording(lists))
    assert sum(count for _, count in lists) == 0 == sum(values(records, "violated certain orders").values())


def test_what_is_seen_is_what_users_looked_at() -> None:
    """Who reads everything sees what is shown."""
    user = PresetUser("perfect").for_grades(5)
    even = (make_probe("exposure", examination=(1.0,) * 5),)
    records = list(simulate(Random(), user, WORLD.train, WORLD.test, seed=1, protocol=PROTOCOL, probes=even))
    shares = (values(records, f"{kind} of the first group")[40] for kind in ("exposure", "seen"))
    assert len(set(shares)) == 1


def test_probes_change_nothing() -> None:
    plain, watched = run(PairRank(), ()), run(PairRank())
    measured = {record.metric for record in plain}
    assert [r.value for r in plain] == [r.value for r in watched if r.metric in measured]


# Examination


@pytest.mark.parametrize("eta", [0.0, 0.5, 1.0])
def test_what_is_measured_is_the_examination_of_position_based_users(eta: float) -> None:
    user = PositionBased(click=(0.4, 0.6, 0.7, 0.8, 0.9), eta=eta)
    found = measure_examination(user, WORLD.train, 6)
    np.testing.assert_allclose(found, np.arange(1, 7.0) ** -eta, atol=0.03)
    assert found[0] == 1.0
    assert (np.diff(found) <= 0).all()
    measured_views(found)  # refuses what is none


def test_positions_that_only_long_lists_have_are_compared_with_the_first_of_these() -> None:
    """Queries of one document, whose first is always clicked, do not make the second look unseen."""
    ones = QuerySet(np.eye(4), np.array([0, 1, 2, 4]), np.array([1, 1, 0, 1]), ("a", "b", "c"))
    user = PositionBased(click=(0.2, 0.9), eta=0.0)
    np.testing.assert_allclose(measure_examination(user, ones, 5), (1.0, 1.0), atol=0.03)


def test_users_who_do_not_click_show_no_examination() -> None:
    with pytest.raises(SettingError, match="measured on clicks, and this user gives grades"):
        measure_examination(LabelJudge(), WORLD.train, 5)


def test_only_what_is_to_be_measured_is_replaced() -> None:
    assert isinstance(fit_examination(PairRank(), USER, WORLD.train, 5), PairRank)
    assert fit_examination(IPS(examination="log2"), USER, WORLD.train, 5).examination == "log2"
    found = measure_examination(USER, WORLD.train, 5)
    assert fit_examination(IPS(examination="measured"), USER, WORLD.train, 5).examination == found
    assert fit_examination(make_probe("exposure", beta=2.0), USER, WORLD.train, 5) == make_probe(
        "exposure", beta=2.0, examination=found
    )


def test_a_sweep_measures_for_policies_and_probes_and_is_run_again_from_its_spec(tmp_path: Path) -> None:
    policies = {"fair": FairExpPairRank(beta=1.0, examination="measured"), "plain": PairRank()}
    sweep = Sweep(
        data=[NAME],
        users={"informational": PresetUser("informational")},
        policies=policies,
        seeds=[0],
        protocol=PROTOCOL,
        probes={"exposure(epsilon=1.0)": make_probe("exposure", epsilon=1.0)},
        groups=GROUPS,
        train_queries=12,
    )
    results = run_sweep(sweep, tmp_path)
    end = results.filter((pl.col("round") == 40) & (pl.col("metric") == "largest unfairness"))
    worst = dict(end.select("policy", "value").rows())
    assert worst["fair"] <= 1.0 < worst["plain"]
    again = read_spec_file(tmp_path / "spec.json")
    assert sweep_id(again) == sweep_id(sweep)
    assert len(again.dataset(NAME).train) == 12
    assert again.dataset(NAME).fingerprint != WORLD.fingerprint


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"beta": 0.0}, "beta must be a finite number above 0"),
        ({"epsilon": -1.0}, "epsilon must be a finite number of at least 0"),
        ({"groups": ("A", "A")}, "the names of two groups"),
        ({"examination": "half"}, "examination must be 'log2', 'reciprocal', 'measured' or"),
    ],
)
def test_measures_without_a_meaning_are_refused(settings: dict[str, object], says: str) -> None:
    with pytest.raises(SettingError, match=says):
        make_probe("exposure", **settings)
