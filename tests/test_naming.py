"""A value and its name are two forms of one thing, and no text does more than name a value."""

from __future__ import annotations

import inspect
import itertools
import sys
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rankloop.errors import SettingError
from rankloop.lab.baselines import ALL_POLICIES
from rankloop.lab.data.best_feature_order import Direction
from rankloop.lab.data.dataset_names import change_name, load, read_dataset_name
from rankloop.lab.data.review_collections import SHOPS
from rankloop.lab.data.synthetic import WORLDS
from rankloop.lab.data.synthetic_reviews import AccessoryShop
from rankloop.lab.recommenders import PRESETS, RECOMMENDERS, read_recommender
from rankloop.lab.simulation import PROBES
from rankloop.lab.users import AdUser, LabelJudge, NamedUser, PresetUser, read_user, write_user
from rankloop.lab.users.user_presets import CASCADE_TABLES
from rankloop.naming import (
    LONGEST,
    _settings,
    find_kind,
    given_settings,
    read_name,
    split_names,
    write_name,
)
from rankloop.policies import DBGD, DocumentSpace, Exact, PairRank, Policy, Random, Width
from rankloop.policies.paper_settings import PAPER
from rankloop.policies.policy_names import POLICIES, read_policy, write_policy
from rankloop.recommend import Recommender
from rankloop.scorers import MLP, Linear


@st.composite
def made(draw: st.DrawFn, kind: type[Any]) -> Any:
    """A value of a kind with some of its settings changed."""
    given_values = {}
    for each in fields(kind):
        if each.init and draw(st.booleans()):
            given_values[each.name] = draw(values(kind, each.name, default_of(each)))
    try:
        return kind(**given_values)
    except (SettingError, TypeError):
        assume(condition=False)


def default_of(each: Any) -> object:
    return each.default if each.default_factory is MISSING else each.default_factory()


def values(kind: type[Any], name: str, default: object) -> st.SearchStrategy[Any]:
    setting = _settings(kind)[name]  # type: ignore[arg-type]  # a class is hashable
    if parts := list(setting.parts()):
        objects = st.one_of([made(part) for part in parts])
        return st.none() | objects if default is None else objects
    words = [each for option in setting.options if get_origin(option) is Literal for each in get_args(option)]
    if words:
        return st.sampled_from(words)
    if isinstance(default, tuple) and any(isinstance(each, str) for each in default):
        return st.permutations(default).map(tuple)
    if type(default) is float:
        return st.floats(0.5, 1.0).map(lambda factor: default * factor)
    return {
        bool: st.booleans(),
        int: st.integers(int(default), int(default) + 5) if type(default) is int else st.nothing(),
        tuple: st.lists(st.sampled_from([2, 4, 16]), min_size=1, max_size=3).map(tuple),
    }.get(type(default), st.just(default))


@pytest.mark.parametrize("kind", ALL_POLICIES.values())
@given(data=st.data())
def test_a_policy_is_made_again_by_its_name_with_and_without_defaults(
    kind: type[Policy], data: st.DataObject
) -> None:
    policy = data.draw(made(kind))
    for defaults in (False, True):
        text = write_policy(policy, ALL_POLICIES, defaults=defaults)
        again = read_policy(text, ALL_POLICIES)
        assert repr(again) == repr(policy)
        assert write_policy(again, ALL_POLICIES, defaults=defaults) == text


def test_the_name_of_a_policy_as_it_comes_has_no_settings() -> None:
    assert {write_policy(kind(), ALL_POLICIES) for kind in ALL_POLICIES.values()} == {
        f"{name}()" for name in ALL_POLICIES
    }


def test_no_two_policies_have_names_that_are_read_alike() -> None:
    for name, kind in ALL_POLICIES.items():
        for text in (name, name.upper(), name.lower(), "-".join(name), f" {name}() "):
            assert type(read_policy(text, ALL_POLICIES)) is kind


@pytest.mark.parametrize("kind", RECOMMENDERS.values(), ids=RECOMMENDERS)
@given(data=st.data())
def test_a_recommender_is_made_again_by_its_name(kind: type[Recommender], data: st.DataObject) -> None:
    recommender = data.draw(made(kind))
    for defaults in (False, True):
        text = write_name(recommender, defaults)
        assert repr(read_recommender(text)) == repr(recommender)
        assert write_name(read_recommender(text), defaults) == text


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_of_a_recommender_is_its_settings(name: str) -> None:
    assert repr(read_recommender(name)) == repr(read_recommender(PRESETS[name]))
    assert repr(read_recommender(write_name(read_recommender(name)))) == repr(read_recommender(name))


@pytest.mark.parametrize("kind", [LabelJudge, AdUser])
@given(data=st.data())
def test_a_user_is_made_again_by_its_name(kind: type[NamedUser], data: st.DataObject) -> None:
    user = data.draw(made(kind))
    assert read_user(write_user(user)) == user


@pytest.mark.parametrize("name", CASCADE_TABLES)
def test_a_preset_user_is_made_again_by_its_name_under_both_readings(name: str) -> None:
    for stop_at in get_args(get_type_hints(PresetUser)["stop_at"]):
        user = PresetUser(name, stop_at)
        assert read_user(write_user(user)) == user == read_user(f"{name.upper()}(stop_at={stop_at})")


@pytest.mark.parametrize("name", PROBES)
@given(data=st.data())
def test_a_probe_is_made_again_by_its_name(name: str, data: st.DataObject) -> None:
    probe = data.draw(made(PROBES[name]))
    for defaults in (False, True):
        text = write_name(probe, defaults)
        assert read_name(text, PROBES, noun="probe") == probe
        assert write_name(read_name(text, PROBES, noun="probe"), defaults) == text


@pytest.mark.parametrize("name", WORLDS)
def test_a_dataset_is_made_again_by_its_name_with_and_without_defaults(name: str) -> None:
    world = WORLDS[name]
    sizes = {each.name: getattr(world.sizes, each.name) for each in fields(world.sizes)}
    own = {key: each.default for key, each in inspect.signature(world.make).parameters.items()}
    known = {**sizes, **own, "queries": 3, "test_queries": 2}
    options = {key: known[key] for key in world.options}
    text = change_name(name, **options)
    assert read_dataset_name(text) == (name, options)
    assert change_name(text) == text == load(text).name
    short = load(f"{name}(queries=3, test_queries=2)")
    np.testing.assert_array_equal(load(text).train.features, short.train.features)
    np.testing.assert_array_equal(load(text).test.relevance, short.test.relevance)


@given(fold=st.integers(1, 5), order=st.sampled_from(get_args(Direction)), flag=st.booleans())
def test_a_name_of_published_data_is_written_as_it_is_read(fold: int, order: str, flag: bool) -> None:
    given_settings = {"fold": fold, "caller_order": order, "unit_length": flag, "test_on_validation": flag}
    text = change_name("/data/mq2008", **given_settings)
    assert read_dataset_name(text) == ("/data/mq2008", given_settings)
    assert change_name(text) == text


@pytest.mark.parametrize("defaults", [False, True])
@pytest.mark.parametrize("shop", [AccessoryShop(), AccessoryShop(users=30, items=20, seed=1)])
def test_a_made_up_collection_of_reviews_is_written_as_it_is_read(
    shop: AccessoryShop, defaults: bool
) -> None:
    text = write_name(shop, defaults, name="shop")
    assert read_name(text, SHOPS, noun="collection") == shop
    assert write_name(read_name(text, SHOPS, noun="collection"), defaults, name="shop") == text


def test_a_whole_number_for_a_setting_with_fractions_is_written_as_one() -> None:
    assert write_policy(read_policy("pdgd(decay=1, learning_rate=2)")) == "PDGD(learning_rate=2.0)"
    assert write_name(MLP(8, scale=1)) == "MLP(hidden=8, scale=1.0)"


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("pdgd", "PDGD()"),
        ("epsilon_greedy(epsilon=0.2)", "EpsilonGreedy(epsilon=0.2)"),
        ("PDGD(scorer=mlp)", "PDGD(scorer=MLP())"),
        ("PDGD(scorer=MLP((64, 32)))", "PDGD(scorer=MLP(hidden=(64, 32)))"),
        ("PDGD(scorer=MLP([64, 32]))", "PDGD(scorer=MLP(hidden=(64, 32)))"),
        ("pairrank(update=EXACT)", "PairRank(update='exact')"),
        ("pairrank(update='exact')", "PairRank(update='exact')"),
        ("olranknet(optimiser=gradient_descent)", "OlRankNet(optimiser='gradient-descent')"),
        ("olranknet(training=exact)", "OlRankNet(training=Exact())"),
        ("mgd(projection=None)", "MGD()"),
        ("mgd(projection=none)", "MGD()"),
        ("mgd(projection=document_space(2, trust=0.5))", "MGD(projection=DocumentSpace(k=2, trust=0.5))"),
        ("mgd(\n  candidates=49,\n)", "MGD(candidates=49)"),
        ("pairrank(certainty=width)", "PairRank(certainty=Width())"),
    ],
)
def test_what_may_be_written_shorter(text: str, same: str) -> None:
    assert write_policy(read_policy(text)) == same


DEEP = "(" * 300
DECAY = "PDGD: decay must be a number above 0 and at most 1, found"
HIDDEN = "MLP: hidden must be values in parentheses (each a whole number of at least 1) or a whole number"
MISTAKES: Mapping[str, str] = {
    "": "no policy is called '': choose from AUCRanker, AdForest",
    "pdgdd": "no policy is called 'pdgdd': did you mean 'PDGD'? choose from AUCRanker",
    "PDGD:decay=0.9": "settings stand in parentheses: write PDGD(decay=0.9), found 'PDGD:decay=0.9'",
    "mgd:step=1,radius=2": "settings stand in parentheses: write MGD(step=1, radius=2)",
    "PDGD(": "'(' was never closed",
    "PDGD(decay=0.9": "'(' was never closed",
    "PDGD(scorer=MLP(64)": "'(' was never closed",
    "PDGD)": "no policy is called 'PDGD)'",
    "PDGD())": "policy 'PDGD())' cannot be read: unmatched ')'",
    "PDGD(decay=)": "cannot be read: ",
    "PDGD(decay 0.9)": "cannot be read: invalid syntax",
    "PDGD(decay=0.9) PDGD()": "cannot be read: invalid syntax",
    "PDGD(rate=1)": "PDGD has no setting 'rate': ",
    "PDGD(decays=1)": "PDGD has no setting 'decays': did you mean 'decay'? choose from scorer",
    "PDGD(0.1)": "PDGD: expected <setting>=<value>, found 0.1: write PDGD(scorer=...)",
    "Random(0.1)": "Random: expected <setting>=<value>, found 0.1: write Random()",
    "Random(seed=1)": "Random has no setting 'seed': it has none",
    "PDGD(decay=0.9, decay=0.8)": "PDGD: decay is given twice, leave one out",
    "PDGD(scorer=MLP(64, hidden=32))": "MLP: hidden is given twice, leave one out",
    "PDGD(scorer=MLP(64, 32))": "MLP: expected <setting>=<value>, found 32",
    "PDGD(decay=fast)": f"{DECAY} fast",
    "PDGD(decay='0.9')": f"{DECAY} '0.9'",
    "PDGD(decay=None)": f"{DECAY} None",
    "PDGD(decay=True)": f"{DECAY} True",
    "PDGD(decay=(1, 2))": f"{DECAY} (1, 2)",
    "MGD(candidates=2.5)": "MGD: candidates must be a whole number of at least 1, found 2.5",
    "MGD(candidates=0)": "MGD: candidates must be a whole number of at least 1, found 0",
    "PairRank(update=offline)": "PairRank: update must be 'online' or 'exact', found offline",
    "OlRankNet(averaging=maybe)": "OlRankNet: averaging must be True or False, found maybe",
    "OlRankNet(averaging=1)": "OlRankNet: averaging must be True or False, found 1",
    "OlRankNet(optimiser=gradient-descent)": "must be 'adam' or 'gradient-descent', found gradient - descent",
    "PDGD(scorer=64)": "PDGD: scorer must be Linear or MLP, found 64",
    "PDGD(scorer=MLP('wide'))": HIDDEN,
    "PDGD(scorer=Module(f))": "PDGD: scorer must be Linear or MLP, found Module(f)",
    "MGD(projection=document-space(3))": "MGD: projection must be DocumentSpace or None",
    "MGD(projection=DocumentSpace(r=3))": "DocumentSpace has no setting 'r': ",
    "MGD(projection=DocumentSpace(-1))": "DocumentSpace: k must be a whole number of at least 0, found -1",
    "MGD(start_seed=-Inf)": "MGD: start_seed must be a whole number of at least 0 or None, found -Inf",
    "MGD(start_seed=-inf)": "MGD: start_seed must be a whole number of at least 0 or None, found -inf",
    "pairank@paper": "no policy is called 'pairank@paper': did you mean 'pairrank@paper'?",
    "pairrank@paper(alpha=0.1)": "PairRank has no setting 'alpha'",
}
ATTACKS: Mapping[str, str] = {
    "PDGD(decay=__import__('os').system('true'))": f"{DECAY} __import__('os')",
    "PDGD(decay=().__class__)": f"{DECAY} ().__class__",
    "PDGD(decay=9**9**9)": f"{DECAY} 9 ** 9 ** 9",
    "PDGD(decay=1+1j)": f"{DECAY} 1 + 1j",
    "PDGD(decay=~1)": f"{DECAY} ~1",
    "PDGD(decay=lambda: 1)": f"{DECAY} lambda: 1",
    "PDGD(decay=[x for x in (1,)])": f"{DECAY} [x for x in (1,)]",
    "PDGD(decay=f'{1}')": f"{DECAY} f'{{1}}'",
    "PDGD(decay=b'1')": f"{DECAY} b'1'",
    "PDGD(decay=(y := 1))": f"{DECAY} (y := 1)",
    "PDGD(decay={'a': 1})": f"{DECAY} {{'a': 1}}",
    "PDGD(decay=...)": f"{DECAY} ...",
    "PDGD(scorer=PDGD())": "PDGD: scorer must be Linear or MLP, found PDGD()",
    "PDGD(scorer=rankloop.scorers.MLP())": "PDGD: scorer must be Linear or MLP, found rankloop.scorers.MLP()",
    "PDGD(*[1])": "PDGD: expected <setting>=<value>, found *[1]",
    "PDGD(**{'decay': 1})": "PDGD has no setting '**'",
    "PDGD().learn": "cannot be read: write PDGD(<setting>=<value>, ...)",
    "PDGD()()": "cannot be read: write PDGD(<setting>=<value>, ...)",
    "PDGD() if 1 else 2": "cannot be read: write PDGD(<setting>=<value>, ...)",
    "os.system('true')": "no policy is called 'os.system'",
    "rankloop.policies.PDGD()": "no policy is called 'rankloop.policies.PDGD'",
    "PDGD(decay=\0)": "cannot be read: ",
    f"PDGD(decay={DEEP}": "cannot be read: too many nested parentheses",
    f"PDGD(decay={'-' * 1900}1)": f"{DECAY} too many operators",
    f"PDGD(decay={'~' * 1900}1)": f"{DECAY}",
    f"PDGD(decay={'9' * 1900})": f"{DECAY} 999",
    f"PDGD(decay={'9' * LONGEST})": "a policy has at most 2,000 characters, found 2,012",
}


@pytest.mark.parametrize("text", [*MISTAKES, *ATTACKS])
def test_a_mistake_is_answered_with_what_is_right_and_an_attack_with_nothing(text: str) -> None:
    with pytest.raises(SettingError) as error:
        read_policy(text)
    assert {**MISTAKES, **ATTACKS}[text] in str(error.value)
    assert len(str(error.value)) < 2_000


@given(st.text(max_size=60), st.text("()=,.[]{}'\"-+*~:@\\ \n#abPDG1", max_size=60))
def test_any_text_names_a_policy_or_is_refused(anything: str, likely: str) -> None:
    for text in (anything, f"PDGD({likely}", f"PDGD(decay={likely})"):
        try:
            policy = read_policy(text)
        except SettingError:
            continue
        assert read_policy(write_policy(policy)) is not policy


def test_a_setting_that_must_be_given_is_asked_for() -> None:
    with pytest.raises(SettingError, match=r"Theory needs longest_weights and .*: write Theory\(longest"):
        read_policy("PairRank(certainty=Theory())")


def test_a_name_too_long_to_be_read_is_not_written() -> None:
    with pytest.raises(SettingError, match="at most 2,000 characters"):
        write_name(MLP((16,) * 1_000))


def test_the_settings_that_a_text_gives_are_those_it_names() -> None:
    assert given_settings("pdgd") == set()
    given = given_settings("pairrank@paper(caller_order=none, certainty=Width(alpha=1))")
    assert given == {"caller_order", "certainty"}


# Papers


@pytest.mark.parametrize("name", PAPER)
def test_every_point_of_a_grid_is_a_policy_and_the_settings_are_one_of_them(name: str) -> None:
    paper = PAPER[name]
    assert paper.source
    assert write_policy(read_policy(name)) == write_policy(read_policy(paper.policy))
    points = [
        read_policy(f"{name}({', '.join(f'{s}={v}' for s, v in zip(paper.grid, values, strict=True))})")
        for values in itertools.product(*paper.grid.values())
        if values
    ]
    texts = [write_policy(policy) for policy in points]
    assert len(set(texts)) == len(points)
    assert not points or texts.count(write_policy(read_policy(name))) == 1


def test_settings_after_the_name_of_a_paper_count_more() -> None:
    policy = read_policy("pairrank@paper(certainty=Width(0.1), exploration=random)")
    assert isinstance(policy, PairRank)
    assert (policy.certainty, policy.exploration, policy.update) == (Width(0.1), "random", "exact")
    duel = read_policy("DBGD-DSP@paper(step=0.5, projection=none)")
    assert isinstance(duel, DBGD)
    assert (duel.step, duel.projection, duel.start_seed) == (0.5, None, 0)


def test_a_table_may_not_name_a_name_of_other_settings() -> None:
    kinds: dict[str, type[MLP] | str] = {"one": "two", "two": "MLP(3)", "MLP": MLP}
    with pytest.raises(SettingError, match="one names two, which is a name of other settings"):
        read_name("one", kinds)


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
        "olranknet": {**network, "covariance": "diagonal"},
        "ollambdarank": {**network, "covariance": "diagonal", "draws": 0, "balanced": False},
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
        policy = read_policy(f"{name}@paper")
        assert {setting: getattr(policy, setting) for setting in settings} == settings, name
    for name in ("pairrank", "olranknet", "ollambdarank"):  # λ and α from 0.1 to 0.0001
        grid = PAPER[f"{name}@paper"].grid
        assert [float(each) for each in grid["regularisation"]] == pytest.approx(tenths)
        widths = grid.get("alpha") or [each[len("Width(alpha=") : -1] for each in grid["certainty"]]
        assert [float(each) for each in widths] == pytest.approx(tenths)
    for name, setting in (("olranknet", "learning_rate"), ("pdgd", "learning_rate"), ("dbgd-linear", "step")):
        assert [float(each) for each in PAPER[f"{name}@paper"].grid[setting]] == pytest.approx(rates)


# Policies of one's own


@dataclass(kw_only=True, eq=False)
class Mine(Random):
    """A policy that rankloop does not know."""

    rate: float = 0.5
    greeting: str = "hello"
    steps: tuple[int, ...] = (1, 2)
    pairs: tuple[tuple[str, float], ...] = ()
    net: Linear | MLP = field(default_factory=Linear)
    word: str | float | None = None


@given(
    rate=st.floats(allow_nan=False),
    greeting=st.text(max_size=100),
    steps=st.lists(st.integers(), max_size=3).map(tuple),
    pairs=st.lists(st.tuples(st.text(max_size=5), st.floats(allow_nan=False)), max_size=3).map(tuple),
    net=st.sampled_from([Linear(), MLP(4), MLP((2, 2), seed=1)]),
    word=st.one_of(st.text(max_size=5), st.floats(allow_nan=False), st.none()),
)
def test_settings_of_any_value_survive(**settings: Any) -> None:
    kinds: dict[str, type[Policy]] = {**POLICIES, "Mine": Mine}
    mine = Mine(**settings)
    for defaults in (False, True):
        assert repr(read_policy(write_policy(mine, kinds, defaults=defaults), kinds)) == repr(mine)


def test_a_class_that_no_table_holds_is_written_with_its_module() -> None:
    assert write_policy(Mine(rate=0.1)) == f"{__name__}.Mine(rate=0.1)"
    assert write_policy(Mine(rate=0.1), {"Mine": Mine}) == "Mine(rate=0.1)"
    assert write_policy(Mine(), {"Mine": Random}) == f"{sys.modules[__name__].__name__}.Mine()"


def test_what_cannot_be_written_is_refused() -> None:
    @dataclass(kw_only=True, eq=False)
    class Inner(Random):
        pass

    with pytest.raises(SettingError, match="defined inside something else"):
        write_policy(Inner())
    with pytest.raises(SettingError, match="Mine: rate cannot be written as text: nan"):
        write_policy(Mine(rate=float("nan")))
    with pytest.raises(SettingError, match="cannot be written as a name"):
        write_name(3)


def test_a_function_can_be_a_kind_of_a_table() -> None:
    def repeat(word: str, *, times: int = 2) -> str:
        return word * times

    assert read_name("repeat(ab, times=3)", {"repeat": repeat}, noun="word") == "ababab"
    assert find_kind("Re-Peat", {"repeat": repeat}, "word") is repeat


def test_what_a_function_takes_without_a_name_is_no_setting() -> None:
    def gather(word: str, *others: str, **more: str) -> tuple[str, tuple[str, ...], dict[str, str]]:
        return word, others, more

    assert read_name("gather(ab)", {"gather": gather}, noun="word") == ("ab", (), {})
    for text in ("gather(ab, cd)", "gather(ab, others=cd)", "gather(ab, more=cd)", "gather(ab, x=cd)"):
        with pytest.raises(SettingError, match="gather"):
            read_name(text, {"gather": gather}, noun="word")


@given(st.lists(st.text(st.sampled_from("ab,|()[]'\"\\ "), max_size=8), max_size=5), st.sampled_from(",|"))
def test_a_list_of_names_is_divided_between_them_and_nowhere_else(texts: list[str], at: str) -> None:
    names = [f"Word({text!r}, more=({text!r}, 2))" for text in texts]
    assert split_names(f" {at} ".join(names), at) == names
