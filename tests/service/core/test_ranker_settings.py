"""What can be decided about a ranker, and how it is written down."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from rankloop.candidate import Candidate
from rankloop.errors import SettingError
from rankloop.naming import given_settings
from rankloop.policies import PDGD, PairRank, Posterior
from rankloop.policies.policy_names import POLICIES, read_policy
from rankloop.service import RankerSettings
from rankloop.service.core.ranker_settings import settings_from_json
from rankloop.service.store import Store
from tests.support.life import make


@pytest.mark.parametrize(
    ("policy", "reason"),
    [
        ({}, "a policy is a text such as"),
        (["PairRank"], "a policy is a text such as"),
        ("pairank", "did you mean 'PairRank'"),
        ("PairRank(prior=-1)", "PairRank: prior must be a finite number above 0, found -1"),
    ],
)
def test_policies_that_cannot_be_are_refused(policy: Any, reason: str) -> None:
    for read in (settings_from_json, RankerSettings.from_json):
        with pytest.raises(SettingError, match=reason):
            read({"policy": policy}, POLICIES)


def test_a_policy_is_kept_with_all_its_settings() -> None:
    text = RankerSettings(policy=PDGD(decay=0.5)).to_json()["policy"]
    assert given_settings(text) == {each.name for each in fields(PDGD) if each.init}
    assert repr(read_policy(text)) == repr(PDGD(decay=0.5))


def test_settings_survive_json() -> None:
    rules = RankerSettings(
        policy=PairRank(certainty=Posterior(0.7)), scaling="running", window=5, actions={"click": 1, "buy": 2}
    )
    again = RankerSettings.from_json(json.loads(json.dumps(rules.to_json())), POLICIES)
    assert again.to_json() == rules.to_json()


def test_what_is_missing_has_its_default() -> None:
    assert RankerSettings.from_json({}, POLICIES).to_json() == RankerSettings().to_json()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"scaling": "none"}, "scaling must be"),
        ({"window": -1}, "window must be"),
        ({"window": float("nan")}, "window must be"),
        ({"window": float("inf")}, "window must be"),
        ({"window": "long"}, "window must be"),
        ({"actions": {}}, "actions must say"),
        ({"actions": ["click"]}, "actions must say"),
        ({"actions": {"click": -1}}, "weight of action 'click'"),
        ({"max_displacement": -1}, "max_displacement must be"),
        ({"max_displacement": 1.5}, "max_displacement must be"),
        ({"learn_late": 1}, "learn_late must be true or false"),
        ({"snapshot_every": 0}, "snapshot_every must be"),
        ({"max_open": True}, "max_open must be"),
        ({"windows": 5}, "did you mean 'window'"),
    ],
)
def test_rules_that_cannot_be_followed_are_refused(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(SettingError, match=reason):
        RankerSettings.from_json(changes, POLICIES)


def test_every_setting_is_in_the_guide_with_its_default() -> None:
    text = (Path(__file__).parents[3] / "docs" / "service.md").read_text("utf-8")
    for setting in fields(RankerSettings):
        default = getattr(RankerSettings(), setting.name)
        shown = 'PairRank(caller_order="decent")' if setting.name == "policy" else repr(default)
        assert f"| `{setting.name}` | `{shown}` |" in text


def test_the_catalogue_says_what_every_ranker_is(store: Store) -> None:
    service = make(store)
    service.create("shop")
    service.create("blog", RankerSettings(policy=PDGD(learning_rate=0.2), window=5.0), mode="shadow")
    service.rank([Candidate("a", {"x": 1.0}), Candidate("b", {"x": 2.0})], ranker="blog")
    version = service.configure("shop", RankerSettings(window=7.0))
    blog, shop = service.catalogue()
    assert (blog.name, blog.policy, blog.mode, blog.features) == (
        "blog",
        "PDGD(learning_rate=0.2)",
        "shadow",
        ("x",),
    )
    assert blog.settings.window == 5.0
    assert (shop.name, shop.policy, shop.mode, shop.features) == (
        "shop",
        "PairRank(caller_order='decent')",
        "explore",
        (),
    )
    assert (shop.settings.window, shop.settings_version) == (7.0, version)
    assert shop.model_version == service.model("shop").version
