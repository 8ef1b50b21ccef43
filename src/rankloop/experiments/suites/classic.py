"""Questions about the classic policies."""

from __future__ import annotations

from collections.abc import Mapping

from rankloop.experiments.suites.base import Suite, preset_users
from rankloop.interleaving import Probabilistic
from rankloop.policies import DBGD, MGD, PDGD, EpsilonGreedy, Policy, Random, RankNet


def baselines() -> dict[str, Policy]:
    """The classic policies that learn."""
    return {
        "pdgd": PDGD(),
        "mgd": MGD(),
        "dbgd": DBGD(),
        "epsilon-greedy": EpsilonGreedy(),
        "ranknet": RankNet(),
    }


def with_floor() -> dict[str, Policy]:
    """The classic policies and the floor beneath them."""
    return {**baselines(), "random": Random()}


def interleaved() -> dict[str, Policy]:
    """Dueling bandits with either way of interleaving."""
    return {
        "dbgd": DBGD(),
        "dbgd:interleaving=probabilistic": DBGD(interleaving=Probabilistic()),
        "mgd": MGD(),
        "mgd:candidates=49,interleaving=probabilistic": MGD(candidates=49, interleaving=Probabilistic()),
    }


SUITES: Mapping[str, Suite] = {
    "classic/baselines": Suite(
        title="Which classic policy learns fastest, and what do users see meanwhile?",
        policies=with_floor,
        users=preset_users("click"),
    ),
    "classic/stop": Suite(
        title="How much does it matter whether users stop only after a click, or anywhere?",
        policies=with_floor,
        users=preset_users("click", "every"),
    ),
    "classic/interleaving": Suite(
        title="Team draft or probabilistic interleaving, with few or many candidates?",
        policies=interleaved,
        users=preset_users("click"),
    ),
}
