"""The papers' settings by name: policies like any other, and nothing that is not in their text."""

from __future__ import annotations

import itertools
import json

import pytest

from rankloop.policies import DBGD, PairRank, Policy, Width
from rankloop.service.settings import settings_from_json
from rankloop.spelling import PAPER, build, catalogue, describe, parse, spell, split
from rankloop.types import SettingError

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
