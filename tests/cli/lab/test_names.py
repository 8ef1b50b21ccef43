"""Names on the command line stand for the right objects, and wrong ones are explained."""

from __future__ import annotations

import pytest

from rankloop import policies
from rankloop.cli.lab import names
from rankloop.errors import SettingError
from rankloop.lab import baselines
from rankloop.lab.users import LabelJudge, PresetUser
from rankloop.policies import Policy
from rankloop.spelling import catalogue


def test_every_policy_has_a_name() -> None:
    shipped = {
        value
        for value in (vars(policies) | vars(baselines)).values()
        if isinstance(value, type) and issubclass(value, Policy) and not value.__abstractmethods__
    }
    assert set(catalogue().values()) == shipped


def test_a_user_under_either_reading() -> None:
    assert names.user("perfect") == PresetUser("perfect", "click")
    assert names.user("perfect:stop=every") == PresetUser("perfect", "every")


def test_a_user_who_grades_is_named_like_any_other_and_never_stops() -> None:
    assert names.user("labels") == LabelJudge()
    assert names.user("labels:top_k=2,noise=0.1") == LabelJudge(top_k=2, noise=0.1)
    both = ["labels", "navigational", "navigational:stop=every"]
    assert list(names.users("labels,navigational", "both")) == both


def test_a_user_who_never_stops_is_there_once_under_both_readings() -> None:
    assert list(names.users("perfect,informational", "both")) == [
        "perfect",
        "informational",
        "informational:stop=every",
    ]
    assert list(names.users("perfect", "every")) == ["perfect:stop=every"]
    assert list(names.users("perfect,perfect:stop=every", "click")) == ["perfect", "perfect:stop=every"]
    both = names.users("labels:top_k=2,whole_query=False,perfect", "click")
    assert list(both) == ["labels:top_k=2,whole_query=False", "perfect"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pdgd", ["pdgd"]),
        ("pdgd, dbgd,", ["pdgd", "dbgd"]),
        (
            "synthetic:linear:queries=5,seed=3,mq2008:fold1",
            ["synthetic:linear:queries=5,seed=3", "mq2008:fold1"],
        ),
        ("shop.ranking:Mine:rate=0.1,steps=3,pdgd", ["shop.ranking:Mine:rate=0.1,steps=3", "pdgd"]),
        (
            "mgd:projection=document-space(5, recent=3),pdgd",
            ["mgd:projection=document-space(5, recent=3)", "pdgd"],
        ),
        ("block-size:ranks=(1,3),every=5,blocks", ["block-size:ranks=(1,3),every=5", "blocks"]),
        ("", []),
    ],
)
def test_lists_of_names(text: str, expected: list[str]) -> None:
    assert names.split_names(text) == expected


@pytest.mark.parametrize(
    "name", ["perfekt", "perfect:stop=never", "perfect:go=1", "labels:stop=every", "labels:top_k=0"]
)
def test_wrong_users_are_explained(name: str) -> None:
    with pytest.raises(SettingError):
        names.user(name)
