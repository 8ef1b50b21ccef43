"""A measure is a value: it says what it is, and is found by its name."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from rankloop.checks import small_world
from rankloop.errors import DataError, SettingError
from rankloop.lab.analysis.policy_summaries import summarise
from rankloop.lab.analysis.sweep_analysis import analyse_sweep
from rankloop.lab.data import Dataset
from rankloop.lab.report.sweep_report_page import write_report
from rankloop.lab.simulation.loop import simulate
from rankloop.lab.simulation.measures import (
    MEASURE_KINDS,
    Measure,
    discounted_cumulative,
    make_measure,
    read_measure,
    usual_measures,
)
from rankloop.lab.simulation.probes import make_probe
from rankloop.lab.simulation.protocol import Protocol
from rankloop.lab.sweeps.results_folder import run_sweep
from rankloop.lab.sweeps.sweep import Sweep
from rankloop.lab.users import LabelJudge, PresetUser
from rankloop.metrics import AP, DCG, ERR, METRICS, MRR, NDCG, Metric, PairwiseRegret, Precision
from rankloop.policies import ListNet, PairRank, Random
from rankloop.query_set import QuerySet
from rankloop.types import Ranking, Signal

ASKED = (
    make_measure("offline", ERR(k=10)),
    make_measure("offline", AP(relevant_from=2)),
    make_measure("offline", PairwiseRegret()),
    make_measure("online", MRR()),
    make_measure("cumulative", Precision(k=3), discount=0.9),
    make_measure("total", DCG(k=5)),
    make_measure("answerable", Precision(k=3, relevant_from=2)),
    *usual_measures(5),
)
WORLD, USER = small_world(), PresetUser("informational").for_grades(3)


@pytest.mark.parametrize("measure", ASKED, ids=repr)
def test_a_name_and_its_measure_find_each_other(measure: Measure) -> None:
    assert read_measure(measure.name, discount=measure.discount or 1.0) == measure
    assert measure.meaning
    assert measure.unit


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "ERR@10",
            "no measure is called 'ERR@10': expected one of offline, online, cumulative, average, total, re",
        ),
        ("ofline ERR@10", "no measure is called 'ofline ERR@10'"),
        ("offline", "as in 'offline ERR@10'"),
        ("offline nDGC@10", "no metric is called 'nDGC': did you mean 'nDCG'"),
        ("online ERR@ten", "a cutoff is a whole number, as in ERR@10, found 'ERR@ten'"),
    ],
)
def test_wrong_names_are_explained(text: str, message: str) -> None:
    with pytest.raises(SettingError, match=message):
        read_measure(text)


def test_every_metric_can_be_measured_in_every_way() -> None:
    ways = [way for way in MEASURE_KINDS if way != "regret"]  # for which a best order must be known
    measures = tuple(make_measure(way, kind()) for kind in METRICS.values() for way in ways)
    protocol = Protocol(rounds=20, k=5, checkpoints=2, measures=measures)
    records = list(simulate(PairRank(), USER, WORLD, WORLD, seed=0, protocol=protocol))
    assert {record.measure for record in records if record.round == 20} == set(measures)
    assert {record.measure.kind for record in records if record.round == 0} == {"offline"}


def test_lists_shown_are_measured_as_the_metric_says() -> None:
    shown: list[tuple[Ranking, np.ndarray]] = []

    class Witness:
        gives: ClassVar[Signal] = "clicks"

        def respond(self, ranking, relevance, rng):  # type: ignore[no-untyped-def]
            shown.append((ranking, relevance))
            return USER.respond(ranking, relevance, rng)

    protocol = Protocol(rounds=12, k=5, checkpoints=1, measures=ASKED)
    records = simulate(PairRank(), Witness(), WORLD, WORLD, seed=1, protocol=protocol)
    last = {record.metric: record.value for record in records if record.round == 12}
    mrr, precision, dcg = (
        [metric(ranking.order, grades) for ranking, grades in shown]
        for metric in (MRR(), Precision(k=3), DCG(k=5))
    )
    start = protocol.checkpoint_rounds()[-2]
    assert last["online MRR"] == pytest.approx(np.mean(mrr[start:]))
    assert last["cumulative Precision@3"] == pytest.approx(sum(0.9**t * v for t, v in enumerate(precision)))
    assert last["total DCG@5"] == pytest.approx(sum(dcg))


def barren(grades: np.ndarray) -> QuerySet:
    """The small world with other grades for its first half of queries."""
    relevance = WORLD.relevance.copy()
    half = WORLD.offsets[len(WORLD) // 2]
    relevance[:half] = grades
    return replace(WORLD, relevance=relevance)


@pytest.mark.parametrize("metric", [NDCG(k=2), Precision(k=3, relevant_from=2)], ids=repr)
def test_queries_without_a_relevant_document_are_left_out_where_asked(metric: Metric) -> None:
    world = barren(np.array(metric.least_relevant - 1))
    protocol = Protocol(
        rounds=40,
        k=5,
        checkpoints=2,
        measures=(make_measure("average", metric), make_measure("answerable", metric)),
    )
    shown: list[tuple[int, float, bool]] = []

    class Witness(LabelJudge):
        def respond(self, ranking, relevance, rng):  # type: ignore[no-untyped-def]
            answerable = bool(relevance.max() >= metric.least_relevant)
            shown.append((len(shown) + 1, metric(ranking.order, relevance), answerable))
            return super().respond(ranking, relevance, rng)

    records = list(simulate(Random(), Witness(), world, world, seed=0, protocol=protocol))
    found = {(record.round, record.measure): record.value for record in records}
    assert {answerable for _, _, answerable in shown} == {True, False}
    for end in protocol.checkpoint_rounds()[1:]:
        counted = [value for past, value, answerable in shown if past <= end and answerable]
        everything = [value for past, value, _ in shown if past <= end]
        assert found[end, make_measure("average", metric)] == pytest.approx(np.mean(everything))
        if counted:
            assert found[end, make_measure("answerable", metric)] == pytest.approx(np.mean(counted))
        else:
            assert (end, make_measure("answerable", metric)) not in found


def test_a_measure_of_answerable_queries_needs_one() -> None:
    world = replace(WORLD, relevance=np.zeros_like(WORLD.relevance))
    protocol = Protocol(rounds=5, measures=(make_measure("answerable", NDCG(k=10)),))
    with pytest.raises(DataError, match="'average nDCG@10'"):
        list(simulate(Random(), LabelJudge(), world, world, seed=0, protocol=protocol))


def test_measuring_more_changes_no_other_number() -> None:
    few = (make_measure("average", NDCG(k=5)), make_measure("offline", NDCG(k=5)))
    runs = [
        list(
            simulate(
                ListNet(), LabelJudge(), WORLD, WORLD, seed=3, protocol=Protocol(rounds=50, measures=each)
            )
        )
        for each in (few, (*few, make_measure("answerable", NDCG(k=5))))
    ]
    assert [record for record in runs[1] if record.measure in few] == runs[0]


def test_two_measures_of_one_name_are_refused() -> None:
    with pytest.raises(SettingError, match="two measures are called 'cumulative nDCG@5'"):
        Protocol(
            measures=(
                make_measure("cumulative", NDCG(k=5)),
                make_measure("cumulative", NDCG(k=5), discount=0.5),
            )
        )


def test_what_was_measured_is_written_beside_the_results(tmp_path: Path) -> None:
    sweep = Sweep(
        data=[Dataset("small", WORLD, WORLD, None, "1")],
        users={"perfect": PresetUser("perfect")},
        policies={"pairrank": PairRank()},
        seeds=range(2),
        protocol=Protocol(
            rounds=20, measures=(make_measure("offline", PairwiseRegret()), make_measure("online", ERR(k=5)))
        ),
        probes={
            "blocks": make_probe("blocks"),
            "cosine": make_probe("cosine"),
            "profile": make_probe("block-size-by-position"),
        },
    )
    results = run_sweep(sweep, tmp_path)
    table = json.loads((tmp_path / "spec.json").read_text("utf-8"))["measures"]
    assert table["offline pairwise regret"] == {"kind": "offline", "direction": "lower", "unit": "pairs"}
    assert table["online ERR@5"] == {"kind": "online", "direction": "higher", "unit": "1/rank"}
    assert table["blocks"] == {"kind": "blocks", "direction": None, "unit": "blocks"}
    assert table["cosine to offline RankNet"]["direction"] == "higher"
    assert set(results["metric"].to_list()) <= set(table)
    directions = {row.metric: row.direction for row in summarise(results, measures=sweep.measures)}
    assert all(directions[name] == table[name]["direction"] for name in directions)
    page = write_report(analyse_sweep(results, sweep), tmp_path).read_text("utf-8")
    for measure in sweep.measures.values():
        assert measure.profile or measure.meaning in page


# Discounted running sums, from their formula


def test_every_sum_is_that_of_the_formula() -> None:
    values = np.random.default_rng(5).random(50)
    expected = [sum(0.9**t * values[t] for t in range(end)) for end in range(1, 51)]
    np.testing.assert_allclose(discounted_cumulative(values, discount=0.9), expected)


def test_perfect_lists_approach_but_never_reach_the_limit() -> None:
    total = discounted_cumulative(np.ones(20_000))
    assert total[-1] == pytest.approx((1 - 0.9995**20_000) / (1 - 0.9995))


def test_no_rounds_have_no_sums() -> None:
    assert discounted_cumulative(np.array([])).tolist() == []


@pytest.mark.parametrize("discount", [0.0, -1.0, 1.5, float("nan")])
def test_a_discount_that_is_none_is_refused(discount: float) -> None:
    with pytest.raises(SettingError, match="at most 1"):
        discounted_cumulative(np.ones(2), discount=discount)
