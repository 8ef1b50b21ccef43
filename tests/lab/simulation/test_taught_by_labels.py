"""Policies that learn from grades take part in sweeps: they see the labels, and reach more for it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from rankloop.checks import small_world
from rankloop.errors import SettingError
from rankloop.lab.analysis.policy_summaries import summarise
from rankloop.lab.baselines.offline_ranknet import OfflineRankNet
from rankloop.lab.baselines.ollambdarank_gt import OlLambdaRankGT
from rankloop.lab.data import Dataset
from rankloop.lab.simulation.loop import simulate
from rankloop.lab.simulation.protocol import Protocol
from rankloop.lab.sweeps.results_folder import run_sweep
from rankloop.lab.sweeps.sweep import Cell, Sweep
from rankloop.lab.sweeps.sweep_cells import SCHEMA
from rankloop.lab.users import LabelJudge, PresetUser
from rankloop.policies import PDGD, ListNet, OlLambdaRank, Policy, Random, RankNet, Slam
from rankloop.query_set import QuerySet
from rankloop.scorers import MLP, Linear
from rankloop.types import Ranking

SMALL = MLP((16, 8))
PROTOCOL = Protocol(rounds=150, k=5, checkpoints=3)
WORLD = Dataset("small", small_world(), small_world(seed=1), None, "small")
CLICKS = PresetUser("navigational").for_grades(3)


def sweep(policies: dict[str, Policy], **users: PresetUser | LabelJudge) -> Sweep:
    return Sweep(data=[WORLD], users=users, policies=policies, seeds=range(2), protocol=PROTOCOL)


def sky() -> OfflineRankNet:
    return OfflineRankNet(scorer=Linear(), steps=20, learning_rate=0.1)


def test_who_is_taught_by_labels_is_run_once_and_shown_to_every_user() -> None:
    users = {name: PresetUser(name) for name in ("perfect", "navigational")}
    asked = sweep({"random": Random(), "sky": sky()}, **users)
    started: list[Cell] = []
    results = run_sweep(asked, report=lambda progress: started.append(progress.cell))
    assert {run.user for run in started if run.policy == "sky"} == {"perfect"}
    assert {run.user for run in started if run.policy == "random"} == set(users)
    taught = results.filter(pl.col("policy") == "sky").drop("user", "fold", "data")
    halves = taught[: len(taught) // 2], taught[len(taught) // 2 :]
    assert_frame_equal(*halves)
    judge = LabelJudge(whole_query=True)
    alone = simulate(sky(), judge, WORLD.train, WORLD.test, seed=0, protocol=PROTOCOL)
    assert halves[0].filter(pl.col("seed") == 0)["value"].to_list() == [record.value for record in alone]


def test_who_is_taught_by_labels_does_not_compete() -> None:
    assert sweep({"random": Random(), "sky": sky()}, perfect=PresetUser("perfect")).reference_policies == (
        "sky",
    )
    rows = [
        ("w", "f", "u", name, seed, 1, "offline nDCG@10", value + seed / 100)
        for name, value in (("a", 0.5), ("sky", 0.9), ("b", 0.4))
        for seed in range(3)
    ]
    results = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    summary = summarise(results, reference_policies={"sky"})
    assert [(row.policy, row.best) for row in summary] == [("a", True), ("b", False), ("sky", False)]
    assert summary[2].p_value is None


def test_where_users_give_grades_all_who_learn_from_them_compete() -> None:
    asked = sweep(
        {"sky": sky(), "gt": OlLambdaRankGT(scorer=SMALL)}, all=LabelJudge(), top=LabelJudge(top_k=2)
    )
    assert asked.reference_policies == ()
    assert [asked.representative(run) for run in asked.cells()] == asked.cells()
    dataset = asked.dataset("small")
    assert asked.user_of(asked.cells()[-1], dataset) == LabelJudge(top_k=2)


def test_who_accepts_both_signals_learns_from_what_its_user_gives_and_competes() -> None:
    policies: dict[str, Policy] = {"listnet": ListNet(), "slam": Slam()}
    asked = sweep(policies, perfect=PresetUser("perfect"), judge=LabelJudge())
    assert asked.reference_policies == ()
    assert [asked.representative(run) for run in asked.cells()] == asked.cells()
    dataset = asked.dataset("small")
    gives = {run.user: asked.user_of(run, dataset).gives for run in asked.cells()}
    assert gives == {"perfect": "clicks", "judge": "grades"}
    last = run_sweep(asked).filter(pl.col("round") == 150, pl.col("metric") == "offline nDCG@5")
    means = last.group_by("user", "policy").agg(pl.col("value").mean())["value"]
    assert len(means) == 4
    assert means.min() > 0.8  # type: ignore[operator]


def test_a_signal_that_a_policy_does_not_learn_from_is_refused() -> None:
    with pytest.raises(SettingError, match="pdgd learn from clicks, but the user 'judge' gives grades"):
        sweep({"pdgd": PDGD(), "sky": sky()}, judge=LabelJudge())
    for policy, user, message in (
        (PDGD(), LabelJudge(), "PDGD learns from clicks, and this user gives grades"),
        (sky(), CLICKS, "OfflineRankNet learns from grades, and this user gives clicks"),
    ):
        with pytest.raises(SettingError, match=message):
            next(simulate(policy, user, WORLD.train, WORLD.test, seed=0, protocol=PROTOCOL))


def test_a_policy_notes_what_was_shown_before_it_learns() -> None:
    told: list[str] = []

    class Noting(Random):
        def shown(self, ranking: Ranking) -> None:
            told.append(f"shown {ranking.query.id}")

        def learn(self, feedback: object) -> None:
            told.append("learned")

    records = simulate(Noting(), CLICKS, WORLD.train, WORLD.test, seed=0, protocol=Protocol(rounds=3))
    assert len(list(records)) > 0
    assert [word.partition(" ")[0] for word in told] == ["shown", "learned"] * 3


def test_with_labels_an_online_life_is_better() -> None:
    world = small_world()
    blind, seeing = (
        list(simulate(policy, user, world, world, seed=0, protocol=PROTOCOL))
        for policy, user in (
            (OlLambdaRank(scorer=SMALL, learning_rate=0.01), CLICKS),
            (OlLambdaRankGT(scorer=SMALL, learning_rate=0.01), LabelJudge(whole_query=True)),
        )
    )
    ours, theirs = (
        {record.measure: record.value for record in records if record.round == 150}
        for records in (seeing, blind)
    )
    for measure in ours:
        assert (ours[measure] > theirs[measure]) is (measure.direction == "higher")


def test_labels_of_queries_never_asked_are_not_known() -> None:
    """The same life, were they other labels."""
    world = small_world(seed=1)
    protocol = Protocol(rounds=5, k=5, checkpoints=5)
    draws = np.random.default_rng(np.random.SeedSequence(0).spawn(3)[0]).integers(len(world), size=5)
    relevance = world.relevance.copy()
    for index in set(range(len(world))) - set(draws.tolist()):
        part = slice(world.offsets[index], world.offsets[index + 1])
        relevance[part] = relevance[part].max() - relevance[part]
    other = QuerySet(world.features, world.offsets, relevance, world.ids)
    assert not np.array_equal(relevance, world.relevance)
    lives = [
        list(
            simulate(
                OlLambdaRankGT(scorer=SMALL),
                LabelJudge(whole_query=True),
                train,
                world,
                seed=0,
                protocol=protocol,
            )
        )
        for train in (world, other)
    ]
    assert lives[0] == lives[1]


def test_it_meets_the_queries_that_policies_meet() -> None:
    """Of queries with one document, nobody can show a better or a worse list than another."""
    world = QuerySet(np.eye(6), np.arange(7), np.arange(6) % 2, tuple("abcdef"))
    protocol, user = Protocol(rounds=20, checkpoints=20), PresetUser("perfect").for_grades(2)
    taught = OfflineRankNet(scorer=Linear(), steps=3)
    ours = simulate(taught, LabelJudge(), world, world, seed=4, protocol=protocol)
    theirs = simulate(RankNet(), user, world, world, seed=4, protocol=protocol)
    online = [
        [record.value for record in records if record.measure.kind == "online"] for records in (ours, theirs)
    ]
    assert online[0] == online[1]
    assert 0 < np.mean(online[0]) < 1


def test_who_is_taught_by_grades_in_place_of_the_user_competes_and_learns_from_the_teacher() -> None:
    judge = LabelJudge(top_k=2)
    policies: dict[str, Policy] = {"listnet": ListNet(), "pdgd": PDGD()}
    asked = replace(sweep(policies, navigational=PresetUser("navigational")), judges={"listnet": judge})
    assert asked.reference_policies == ()
    values = (
        run_sweep(asked).filter((pl.col("policy") == "listnet") & (pl.col("seed") == 0))["value"].to_list()
    )
    alone = simulate(ListNet(), judge, WORLD.train, WORLD.test, seed=0, protocol=PROTOCOL)
    assert values == [record.value for record in alone]
    clicked = simulate(ListNet(), CLICKS, WORLD.train, WORLD.test, seed=0, protocol=PROTOCOL)
    assert values != [record.value for record in clicked]


def test_who_cannot_be_taught_by_grades_is_refused() -> None:
    asked = sweep({"pdgd": PDGD()}, perfect=PresetUser("perfect"))
    with pytest.raises(SettingError, match="pdgd learns from clicks: nobody can teach it by grades"):
        replace(asked, judges={"pdgd": LabelJudge()})
    with pytest.raises(SettingError, match="must name policies of the sweep, found slam"):
        replace(asked, judges={"slam": LabelJudge()})
