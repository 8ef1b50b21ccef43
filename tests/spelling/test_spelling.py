"""A policy, its text and its JSON are three forms of one thing."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankloop.errors import SettingError
from rankloop.policies import Policy, Random
from rankloop.scorers import MLP, Linear
from rankloop.spelling import build, catalogue, describe, parse, spell

KNOWN = catalogue()
WORDS = {  # settings that are one of a few words
    "exploration": ["conservative", "random"],
    "pairing": ["adjacent", "matching", "all"],
    "update": ["online", "exact"],
    "optimiser": ["adam", "gradient-descent"],
}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pdgdd", r"no policy is called 'pdgdd': did you mean 'pdgd'\? choose from .*dbgd, dla, epsilon"),
        (
            "pdgd:rate=1",
            r"pdgd has no setting 'rate': choose from scorer, trust, learn_trust, learning_rate|did you mean",
        ),
        ("pdgd:learning_rate", r"expected <name>:<setting>=<value>,..., found 'learning_rate'"),
        (
            "pdgd:learning_rate=fast",
            "expected learning_rate=<a number>, as in learning_rate=0.1, found 'fast'",
        ),
        ("pairrank:certainty=width(", r"expected <name> or <name>\(<value>\), found 'width\('"),
        ("pairrank:certainty=width(x)", r"expected width or width\(<number>\), found 'width\(x\)'"),
        (
            "mgd:projection=document-space(r=3)",
            "document-space has no setting 'r': choose from k, recent",
        ),
        (
            "mgd:projection=document-space(k=far)",
            r"expected document-space or document-space\(<setting>=<val",
        ),
        ("mgd:projection=document-space(-1)", "k must be a whole number of 0 or more, found -1"),
        ("pairrank:certainty=sure(2)", r"level must be in \[0.5, 1\)"),
        ("mgd:candidates=0", "candidates must be at least 1 and whole"),
        ("mgd:interleaving=nonsense", "choose from team-draft, probabilistic"),
        ("mgd:candidates=2.5", "candidates"),
    ],
)
def test_wrong_policies_are_explained(text: str, message: str) -> None:
    with pytest.raises(SettingError, match=message):
        parse(text)


# Policies of one's own


@dataclass(kw_only=True, eq=False)
class Mine(Random):
    """A policy that rankloop does not know."""

    rate: float = 0.5
    greeting: str = "hello"
    steps: tuple[int, ...] = (1, 2)
    net: Linear | MLP = field(default_factory=Linear)
    training: float = 1.0  # a word that means something else elsewhere


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
    policy = parse(f"{module}:Mine:rate=0.1")
    assert isinstance(policy, Random)
    assert getattr(policy, "rate") == 0.1  # noqa: B009
    assert spell(policy) == f"{module}:Mine:rate=0.1"
    assert spell(parse(f"{module}:Mine")) == f"{module}:Mine"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a_shop.rankings:Mine", "no module is called 'a_shop.rankings': it is neither in this folder nor"),
        ("a_shop.ranking:Mein", "a_shop.ranking has no class 'Mein': did you mean 'Mine'"),
        ("a_shop.ranking:NUMBER", "a_shop.ranking:NUMBER is no policy: expected a class that extends"),
        ("a_shop.ranking:Unfinished", "does not define learn, rank, score"),
        ("a_shop.ranking:Mine:speed=3", "a_shop.ranking:Mine has no setting 'speed': choose from rate"),
        ("a_shop.broken:Mine", "a_shop.broken cannot be imported: ZeroDivisionError"),
        ("a_shop.wanting:Mine", "a_shop.wanting cannot be imported: No module named 'a_module_that_nobody"),
    ],
)
def test_wrong_classes_are_explained(module: str, text: str, message: str) -> None:
    with pytest.raises(SettingError, match=message):
        parse(text)


@given(
    rate=st.floats(allow_nan=False),
    greeting=st.text(st.characters(codec="ascii")),
    steps=st.lists(st.integers(), max_size=3).map(tuple),
    net=st.sampled_from([Linear(), MLP(4), MLP((2, 2), seed=1)]),
    training=st.floats(0, 1),
)
def test_settings_of_any_value_survive(**settings: Any) -> None:
    mine = Mine(**settings)
    known: dict[str, type[Policy]] = {**KNOWN, "mine": Mine}
    Mine.name = "mine"
    assert repr(parse(spell(mine, known), known)) == repr(mine)
    assert repr(build(describe(mine), known)) == repr(mine)


def test_what_cannot_be_found_again_is_refused() -> None:
    @dataclass(kw_only=True, eq=False)
    class Inner(Random):
        pass

    with pytest.raises(SettingError, match="defined inside something else"):
        spell(Inner())
