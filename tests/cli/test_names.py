"""Names on the command line stand for the right objects, and wrong ones are explained."""

from __future__ import annotations

from dataclasses import fields

import pytest

from rankloop import policies
from rankloop.cli import names
from rankloop.experiments.simulation import probes
from rankloop.interleaving import Probabilistic
from rankloop.policies import MGD, DocumentSpace, Policy, TrueDocumentSpace
from rankloop.types import SettingError
from rankloop.users import Preset


def test_every_policy_has_a_name() -> None:
    shipped = {
        value
        for value in vars(policies).values()
        if isinstance(value, type) and issubclass(value, Policy) and not value.__abstractmethods__
    }
    assert set(names.POLICIES.values()) == shipped


def test_settings_follow_the_name() -> None:
    made = names.policy("mgd:candidates=49,step=0.02,interleaving=probabilistic")
    assert isinstance(made, MGD)
    assert (made.candidates, made.step, made.interleaving) == (49, 0.02, Probabilistic())


@pytest.mark.parametrize("name", names.POLICIES)
def test_settings_as_they_are_listed_make_the_default(name: str) -> None:
    kind = names.POLICIES[name]
    listed = names.settings_of(kind)
    assert [each.partition("=")[0] for each in listed] == [each.name for each in fields(kind) if each.init]
    written = ",".join(each for each in listed if "=" in each)
    assert repr(names.policy(f"{name}:{written}")) == repr(kind())


@pytest.mark.parametrize(
    ("name", "projection"),
    [
        ("mgd:projection=document-space", DocumentSpace()),
        ("dbgd:projection=document-space(5),step=0.1", DocumentSpace(k=5)),
        ("nsgd:projection=document-space(k=2, recent=20, trust=0.5)", DocumentSpace(2, recent=20, trust=0.5)),
        ("mgd:projection=document-space(1,unit=True)", DocumentSpace(1, unit=True)),
        ("mgd:projection=true-document-space", TrueDocumentSpace()),
    ],
)
def test_parts_have_settings_too(name: str, projection: DocumentSpace) -> None:
    made = names.policy(name)
    assert isinstance(made, MGD)
    assert made.projection == projection
    assert names.split_names(f"{name},pdgd") == [name, "pdgd"]


def test_a_user_under_either_reading() -> None:
    assert names.user("perfect") == Preset("perfect", "click")
    assert names.user("perfect:stop=every") == Preset("perfect", "every")


def test_every_probe_has_a_name() -> None:
    shipped = {
        value
        for value in vars(probes).values()
        if isinstance(value, type) and issubclass(value, probes.Probe) and not value.__abstractmethods__
    }
    assert set(names.PROBES.values()) == shipped


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pdgd", ["pdgd"]),
        ("pdgd, dbgd,", ["pdgd", "dbgd"]),
        (
            "synthetic:linear:queries=5,seed=3,mq2008:fold1",
            ["synthetic:linear:queries=5,seed=3", "mq2008:fold1"],
        ),
        ("block-size:ranks=(1,3),every=5,blocks", ["block-size:ranks=(1,3),every=5", "blocks"]),
        ("", []),
    ],
)
def test_lists_of_names(text: str, expected: list[str]) -> None:
    assert names.split_names(text) == expected


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("pdgdd", r"no policy is called 'pdgdd': did you mean 'pdgd'\? choose from dbgd, epsilon-greedy"),
        ("pdgd:rate=1", r"pdgd has no setting 'rate': choose from scorer, learning_rate, decay|did you mean"),
        ("pdgd:learning_rate", r"expected <name>:<setting>=<value>,..., found 'learning_rate'"),
        (
            "pdgd:learning_rate=fast",
            "expected learning_rate=<a number>, as in learning_rate=0.1, found 'fast'",
        ),
        ("pairrank:certainty=width(", r"expected <name> or <name>\(<value>\), found 'width\('"),
        ("pairrank:certainty=width(x)", r"expected width or width\(<number>\), found 'width\(x\)'"),
        (
            "mgd:projection=document-space(r=3)",
            "document-space has no setting 'r': choose from recent, trust",
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
def test_wrong_policies_are_explained(name: str, message: str) -> None:
    with pytest.raises(SettingError, match=message):
        names.policy(name)


@pytest.mark.parametrize("name", ["perfekt", "perfect:stop=never", "perfect:go=1"])
def test_wrong_users_are_explained(name: str) -> None:
    with pytest.raises(SettingError):
        names.user(name)
