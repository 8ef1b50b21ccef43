"""The papers' settings by name: policies like any other, and nothing that is not in their text."""

from __future__ import annotations

import itertools
import json

import pytest

from rankloop.errors import SettingError
from rankloop.policies import DBGD, Diagonal, DocumentSpace, Exact, PairRank, Policy, Width
from rankloop.scorers import MLP, Linear
from rankloop.service.core.ranker_settings import settings_from_json
from rankloop.spelling import PAPER, build, catalogue, describe, parse, spell, split

KNOWN = catalogue()


def same(one: Policy, other: Policy) -> bool:
    return type(one) is type(other) and describe(one) == describe(other)


@pytest.mark.parametrize("name", PAPER)
def test_a_name_a_text_and_json_make_the_same_policy(name: str) -> None:
    policy = parse(name)
    assert policy.name == PAPER[name].name
    assert same(policy, parse(PAPER[name].policy))
    assert same(policy, parse(spell(policy)))
    assert same(policy, build(json.loads(json.dumps({"name": name})), KNOWN))


@pytest.mark.parametrize("name", PAPER)
def test_every_point_of_a_grid_is_a_policy_and_the_settings_are_one_of_them(name: str) -> None:
    paper = PAPER[name]
    points = [
        parse(":".join((name, ",".join(f"{s}={v}" for s, v in zip(paper.grid, values, strict=True)))))
        for values in itertools.product(*paper.grid.values())
        if values
    ]
    assert len({spell(policy) for policy in points}) == len(points)
    assert not points or sum(same(policy, parse(name)) for policy in points) == 1


def test_settings_after_the_name_come_last() -> None:
    policy = parse("pairrank@paper:certainty=width(0.1),exploration=random")
    assert isinstance(policy, PairRank)
    assert (policy.certainty, policy.exploration, policy.update) == (Width(0.1), "random", "exact")
    spec = {"name": "dbgd-dsp@paper", "settings": {"step": 0.5, "projection": None}}
    duel = build(spec, KNOWN)
    assert isinstance(duel, DBGD)
    assert (duel.step, duel.projection, duel.start_seed) == (0.5, None, 0)


def test_a_paper_says_every_setting_that_it_is_named_for_once() -> None:
    for paper in PAPER.values():
        settings = [each.partition("=")[0] for each in split(paper.policy.partition(":")[2])]
        assert len(set(settings)) == len(settings)
        assert paper.source


def test_a_service_ranks_by_the_papers_settings() -> None:
    rules = settings_from_json({"policy": {"name": "pairrank@paper"}}, KNOWN)
    assert same(rules.policy, parse("pairrank@paper"))
    assert rules.to_json()["policy"]["name"] == "pairrank"  # the log says all settings themselves


@pytest.mark.parametrize("make", [parse, lambda name: build({"name": name}, KNOWN)])
def test_a_name_that_is_no_papers_is_answered_with_the_nearest(make: type[Policy]) -> None:
    with pytest.raises(SettingError, match="no paper's settings are called 'pairank@paper': did you mean"):
        make("pairank@paper")  # type: ignore[call-arg]
    with pytest.raises(SettingError, match=r"pairrank has no setting 'alpha'"):
        parse("pairrank@paper:alpha=0.1")


def test_what_the_papers_print_is_what_the_names_say() -> None:
    """Numbers copied from the papers' sections on experiments, setting by setting."""
    tenths, rates = [10.0**-i for i in range(1, 5)], [10.0**-i for i in range(1, 4)]
    duel = {"step": 0.1, "radius": 1.0, "decay": 1.0, "start_seed": 0}  # δ = 1, α = 0.1, a random unit vector
    many = {**duel, "candidates": 9}
    space = {"projection": DocumentSpace(3, recent=10)}  # k and r
    decays = {"decay": 0.999977}
    layers = {"scorer": MLP((100, 100), scale=1.0), "averaging": False, "optimiser": "gradient-descent"}
    network = {**layers, "pairing": "adjacent", "training": Exact(20, restart=True)}
    printed: dict[str, dict[str, object]] = {
        "pairrank": {"pairing": "adjacent", "update": "exact", "exploration": "conservative"},
        "pepairrank": {"pairing": "adjacent", "update": "exact", "rankers": 2, "variance": 0.1},
        "olranknet": {**network, "covariance": Diagonal()},
        "ollambdarank": {**network, "covariance": Diagonal(), "draws": 0, "balanced": False},
        "p2neurrank": {**network, "rankers": 2, "variance": 0.1},
        "ranknet": {"pairing": "adjacent"},
        "epsilon-greedy": {"pairing": "adjacent"},
        "pdgd": {**decays, "scorer": Linear()},
        "pdgd-neural": {**decays, "scorer": MLP((100, 100), scale=1.0)},
        "dbgd-linear": {**decays, "scorer": Linear()},
        "dbgd-neural": {**decays, "scorer": MLP((100, 100), scale=1.0)},
        "dbgd": {**duel, "candidates": 1, "projection": None},
        "mgd": {**many, "projection": None},
        "nsgd": {**many, "projection": None},
        "dbgd-dsp": {**duel, "candidates": 1, **space},
        "mgd-dsp": {**many, **space},
        "nsgd-dsp": {**many, **space},
    }
    assert {f"{name}@paper" for name in printed} == set(PAPER)
    for name, settings in printed.items():
        policy = parse(f"{name}@paper")
        assert {setting: getattr(policy, setting) for setting in settings} == settings, name
    for name in ("pairrank", "olranknet", "ollambdarank"):  # λ and α from 0.1 to 0.0001
        grid = PAPER[f"{name}@paper"].grid
        assert [float(each) for each in grid["regularisation"]] == pytest.approx(tenths)
        widths = grid.get("alpha") or [each[len("width(") : -1] for each in grid["certainty"]]
        assert [float(each) for each in widths] == pytest.approx(tenths)
    for name, setting in (("olranknet", "learning_rate"), ("pdgd", "learning_rate"), ("dbgd-linear", "step")):
        assert [float(each) for each in PAPER[f"{name}@paper"].grid[setting]] == pytest.approx(rates)
