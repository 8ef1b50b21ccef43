"""What can be decided about a ranker, and how it is written down."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from dataclasses import fields
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any

import pytest

from rankloop.candidate import Candidate
from rankloop.errors import SettingError
from rankloop.naming import given_settings, write_name
from rankloop.policies import PDGD, PairRank, Posterior
from rankloop.policies.policy_names import POLICIES, read_policy
from rankloop.service import (
    ClientLimit,
    FairSettings,
    GradeSettings,
    PromiseSettings,
    RankerSettings,
    TrialSettings,
)
from rankloop.service.core.ranker_settings import (
    BaseRankerSettings,
    build_policy,
    complete_settings,
    define_settings,
    parse_settings,
)
from rankloop.service.core.settings_fields import fields_of
from rankloop.service.core.settings_record import Settings, read_settings
from rankloop.service.extensions import settings as settings_of_extensions
from rankloop.service.extensions.settings import SETTINGS
from rankloop.service.store import Store
from tests.support.life import make

WRONG_POLICIES: list[tuple[Any, str]] = [
    ({}, "policy: Expected a text, found an empty one"),
    (["PairRank"], "policy: Expected a text, found one entry"),
    ("pairank", "did you mean 'PairRank'"),
    ("PairRank(prior=-1)", "PairRank: prior must be a finite number above 0, found -1"),
    (
        "shop.ranking.PairRank()",
        "PairRank is not a policy of this service: expected one of rankloop.policies",
    ),
    ("shop.ranking.Mine()", r"as in RankingService\(policies=\[Mine\]\)"),
]


@pytest.mark.parametrize(("policy", "reason"), WRONG_POLICIES, ids=str)
def test_policies_that_cannot_be_are_refused(policy: Any, reason: str) -> None:
    with pytest.raises(SettingError, match=reason):
        parse_settings({"policy": policy}, RankerSettings, POLICIES)


def test_a_policy_is_kept_as_its_text_with_all_its_settings() -> None:
    text = RankerSettings(policy=PDGD(decay=0.5)).policy
    assert given_settings(text) == {each.name for each in fields(PDGD) if each.init}
    assert repr(read_policy(text)) == repr(PDGD(decay=0.5))
    assert complete_settings(RankerSettings(policy="pdgd(decay=0.5)")).policy == write_name(
        PDGD(decay=0.5, caller_order="decent"), defaults=True
    ), "a text that says nothing of the caller's order starts from it"
    assert complete_settings(RankerSettings(policy=text)) == RankerSettings(policy=text)


def test_a_policy_of_ones_own_is_not_taken_for_another_of_its_name() -> None:
    mine = type("PDGD", (PDGD,), {"__module__": __name__})()
    with pytest.raises(SettingError, match="PDGD is not a policy of this service"):
        complete_settings(RankerSettings(policy=mine))
    served = complete_settings(RankerSettings(policy=mine), {**POLICIES, "PDGD": type(mine)})
    assert type(build_policy(served.policy, {**POLICIES, "PDGD": type(mine)})) is type(mine)


def test_settings_survive_json_and_log() -> None:
    settings = RankerSettings(
        policy=PairRank(certainty=Posterior(0.7)),
        scaling="running",
        window=5,
        actions={"click": 1, "buy": 2},
        grades=GradeSettings(weights={"star": 1}, unrated="unknown"),
        client_limit=ClientLimit(lists=None),
        fair=FairSettings(shares={"ours": 0.5}),
    )
    for data in (settings.to_json(), settings.to_log()):
        assert read_settings(RankerSettings, json.loads(json.dumps(data))) == settings
    assert read_settings(RankerSettings, {}) == RankerSettings()


def test_extensions_that_are_off_are_not_in_the_log() -> None:
    """A service that does without an extension can read what one that has it wrote, while it is off."""
    without = define_settings(())
    assert read_settings(without, RankerSettings(window=5).to_log()).window == 5
    assert RankerSettings().to_json()["fair"] is None
    with pytest.raises(SettingError, match="Expected a setting of ranker, found 'fair'"):
        read_settings(without, RankerSettings(fair=FairSettings()).to_log())


def test_settings_can_be_sent_to_another_process() -> None:
    settings = RankerSettings(policy=PDGD(), fair=FairSettings(tolerance=2))
    assert ForkingPickler.loads(ForkingPickler.dumps(settings)) == settings


def test_equal_extensions_have_one_type_of_settings() -> None:
    assert define_settings(SETTINGS) is RankerSettings
    settings = RankerSettings(fair=FairSettings(tolerance=2))
    assert settings.of(FairSettings) == FairSettings(tolerance=2)
    assert settings.of(PromiseSettings) is None
    assert BaseRankerSettings().of(FairSettings) is None


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"scaling": "none"}, 'scaling: Expected one of query, running, found "none"'),
    ({"window": -1}, "window: Expected a number of 0 or more, found -1: choose a value within the bounds"),
    ({"window": float("inf")}, "window: Expected a finite number, found inf"),
    ({"window": "long"}, 'window: Expected a number of 0 or more, found "long"'),
    ({"actions": {}}, "actions: Expected an object of 1 or more entries, found an empty one"),
    ({"actions": ["click"]}, "actions: Expected an object of 1 or more entries, found one entry"),
    ({"actions": {"click": -1}}, "actions.click: Expected a number of 0 or more, found -1"),
    ({"actions": {"\0": 1}}, "actions: an action must not hold null characters"),
    ({"learn_late": 1}, "learn_late: Expected true or false, found 1"),
    ({"max_candidates": 0}, "max_candidates: Expected a whole number of 1 or more, found 0"),
    ({"max_features": True}, "max_features: Expected a whole number of 1 or more, found true"),
    ({"guardrails": {"max_displacement": -1}}, "guardrails.max_displacement: Expected a whole number of 0"),
    ({"guardrails": {"max_displacement": 1.5}}, "guardrails.max_displacement: Expected a whole number"),
    ({"client_limit": {"lists": -1}}, "client_limit.lists: Expected a whole number of 0 or more, or null"),
    ({"client_limit": {"seconds": 0}}, "client_limit.seconds: Expected a number of 1 or more, found 0"),
    ({"client_limit": None}, "client_limit: Expected an object, found null"),
    ({"grades": {}}, "grades: Expected the setting 'weights', found none"),
    ({"grades": {"weights": {}}}, "grades.weights: Expected an object of 1 or more entries"),
    ({"grades": {"weights": {"star": 2e100}}}, "grades.weights.star: Expected a number from -1e100 to 1e100"),
    ({"grades": {"weights": {"star": 1}, "highest": 0}}, "grades.highest: Expected a number from 1e-9 to"),
    (
        {"grades": {"weights": {"star": 1}, "unrated": "none"}},
        "grades.unrated: Expected one of unknown, zero",
    ),
]


@pytest.mark.parametrize(("data", "sentence"), WRONG, ids=[sentence[:50] for _, sentence in WRONG])
def test_values_beyond_their_bounds_are_refused_by_constructor_and_json(
    data: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(SettingError) as by_constructor:
        RankerSettings(**data)
    with pytest.raises(SettingError) as by_json:
        read_settings(RankerSettings, data)
    assert str(by_constructor.value) == str(by_json.value)
    assert str(by_json.value).startswith(sentence)


def test_what_is_not_a_setting_of_a_ranker_is_refused() -> None:
    with pytest.raises(SettingError) as caught:
        read_settings(RankerSettings, {"windows": 5})
    names = ", ".join(RankerSettings.__struct_fields__)
    assert str(caught.value) == (
        f"Expected a setting of ranker, found 'windows': did you mean 'window'? Settings: {names}"
    )


RECORDS = (RankerSettings, TrialSettings)


@pytest.mark.parametrize("kind", RECORDS)
def test_every_setting_has_a_title_a_description_and_a_default(kind: type[Settings]) -> None:
    for field in fields_of(kind):
        assert field.title, field.name
        assert field.description.endswith("."), field.name
        assert field.name == "grades.weights" or field.default is not None or field.takes_null, field.name


def wrong_numbers(kind: type[Settings]) -> Iterator[tuple[str, float]]:
    """A number outside the bounds of each setting, by its name."""
    for field in fields_of(kind):
        if field.is_number and not field.is_record:
            yield field.name, -(10**9)


@pytest.mark.parametrize(
    ("kind", "name", "value"), [(kind, *each) for kind in RECORDS for each in wrong_numbers(kind)]
)
def test_the_error_of_every_bound_says_what_was_expected_and_found(
    kind: type[Settings], name: str, value: float
) -> None:
    expected = next(each.expected for each in fields_of(kind) if each.name == name)
    data: Any = value
    for part in reversed(name.split(".")):
        data = {part: data}
    if name.startswith("grades."):
        data["grades"]["weights"] = {"star": 1}
    with pytest.raises(SettingError) as caught:
        read_settings(kind, data)
    assert str(caught.value).startswith(f"{name}: Expected {expected}, found -1000000000")


def test_the_types_of_settings_are_those_that_editors_see() -> None:
    """The module spells out for type checkers what `define_settings` makes when it runs."""
    tree = ast.parse(Path(settings_of_extensions.__file__).read_text())
    [stub] = [each for each in ast.walk(tree) if isinstance(each, ast.ClassDef)]
    [init] = [each for each in stub.body if isinstance(each, ast.FunctionDef)]
    assert [each.arg for each in init.args.kwonlyargs] == list(RankerSettings.__struct_fields__)


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
