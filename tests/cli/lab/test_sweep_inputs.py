"""Lists of names on the command line stand for the right objects, and own classes are found."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from rankloop import policies
from rankloop.cli.lab.sweep_inputs import read_users
from rankloop.cli.own_policies import read_any_policy
from rankloop.errors import SettingError
from rankloop.lab import baselines
from rankloop.lab.baselines import ALL_POLICIES, LAB_POLICIES
from rankloop.lab.simulation.probes import PROBES
from rankloop.lab.users import AdUser, LabelJudge, NamedUser, PresetUser, read_user, write_user
from rankloop.naming import read_name, write_name
from rankloop.policies import Policy, Random
from rankloop.policies.policy_names import POLICIES, write_policy


def test_every_policy_has_a_name() -> None:
    shipped = {
        value
        for value in (vars(policies) | vars(baselines)).values()
        if isinstance(value, type) and issubclass(value, Policy) and not value.__abstractmethods__
    }
    assert set(ALL_POLICIES.values()) == shipped
    assert not POLICIES.keys() & LAB_POLICIES.keys()


@pytest.mark.parametrize(
    ("text", "user"),
    [
        ("perfect", PresetUser("perfect")),
        ("perfect()", PresetUser("perfect")),
        ("Perfect(stop_at=every)", PresetUser("perfect", "every")),
        ("informational(stop_at='every')", PresetUser("informational", "every")),
        ("labels", LabelJudge()),
        ("labels(top_k=2, noise=0.1)", LabelJudge(top_k=2, noise=0.1)),
        ("ads(match=0.04, otherwise=0.0005)", AdUser(match=0.04, otherwise=0.0005)),
    ],
)
def test_a_user_is_made_again_by_its_name(text: str, user: NamedUser) -> None:
    assert read_user(text) == user == read_user(write_user(user))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("perfekt", "no user is called 'perfekt': did you mean 'perfect'"),
        ("perfect(stop_at=never)", "stop_at must be 'click' or 'every', found never"),
        ("perfect(go=1)", "has no setting 'go'"),
        ("labels(stop_at=every)", "LabelJudge has no setting 'stop_at'"),
        ("labels(top_k=0)", "top_k"),
    ],
)
def test_wrong_users_are_explained(text: str, message: str) -> None:
    with pytest.raises(SettingError, match=message):
        read_user(text)


@pytest.mark.parametrize("name", PROBES)
def test_a_probe_is_made_again_by_its_name_with_and_without_defaults(name: str) -> None:
    probe = PROBES[name]()
    for defaults in (False, True):
        assert read_name(write_name(probe, defaults), PROBES, noun="probe") == probe
    assert write_name(probe) == f"{name}()"


def test_a_user_who_never_stops_is_there_once_under_both_readings() -> None:
    assert list(read_users("perfect,informational,labels", "both")) == [
        "perfect",
        "informational",
        "labels",
        "informational(stop_at=every)",
    ]
    assert read_users("perfect", "every") == {"perfect(stop_at=every)": PresetUser("perfect", "every")}
    assert list(read_users("labels(top_k=2, noise=0.1),perfect", "click")) == [
        "labels(top_k=2, noise=0.1)",
        "perfect",
    ]


# Policies of one's own

SOURCE = """
from dataclasses import dataclass
from rankloop.policies import Policy, Random

@dataclass(kw_only=True, eq=False)
class Mine(Random):
    rate: float = 0.5

class Unfinished(Policy):
    pass

NUMBER = 3
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "a_shop").mkdir()
    (tmp_path / "a_shop" / "ranking.py").write_text(SOURCE)
    (tmp_path / "a_shop" / "broken.py").write_text("1 / 0")
    (tmp_path / "a_shop" / "wanting.py").write_text("import a_module_that_nobody_has")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("a_shop", "a_shop.ranking"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return "a_shop.ranking"


def test_a_class_is_found_where_it_is_defined(module: str) -> None:
    policy = read_any_policy(f"{module}.Mine(rate=0.1)")
    assert isinstance(policy, Random)
    assert vars(policy)["rate"] == 0.1
    assert write_policy(policy) == f"{module}.Mine(rate=0.1)"
    assert write_policy(read_any_policy(f"{module}.Mine")) == f"{module}.Mine()"


@pytest.mark.usefixtures("module")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a_shop.rankings.Mine", "no module is called 'a_shop.rankings': it is neither in this folder nor"),
        ("a_shop.ranking.Mein", "a_shop.ranking has no class 'Mein': did you mean 'Mine'"),
        ("a_shop.ranking.NUMBER", "a_shop.ranking.NUMBER is no policy: expected a class that extends"),
        ("a_shop.ranking.Unfinished", "does not define learn, rank, score"),
        ("a_shop.ranking.Mine(speed=3)", "Mine has no setting 'speed': choose from rate"),
        ("a_shop.broken.Mine", "a_shop.broken cannot be imported: ZeroDivisionError"),
        ("a_shop.wanting.Mine", "a_shop.wanting cannot be imported: No module named 'a_module_that_nobody"),
        ("a_shop.ranking:Mine", "no policy is called 'a_shop.ranking:Mine'"),
    ],
)
def test_wrong_classes_are_explained(text: str, message: str) -> None:
    with pytest.raises(SettingError, match=message):
        read_any_policy(text)
