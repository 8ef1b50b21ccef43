"""Experiments by name: each answers one question, on any data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rankloop.data import Dataset
from rankloop.experiments.protocol import Protocol
from rankloop.experiments.sweep import Sweep, UserChoice
from rankloop.interleaving import Probabilistic
from rankloop.policies import DBGD, MGD, PDGD, EpsilonGreedy, Policy, Random, RankNet
from rankloop.users import CASCADE_TABLES, Preset, Stop


@dataclass(frozen=True, kw_only=True)
class Suite:
    """A question, and the sweep that answers it."""

    title: str
    policies: Callable[[], Mapping[str, Policy]]
    users: Mapping[str, UserChoice]
    data: Sequence[str | Dataset] = ("synthetic:nonlinear",)
    rounds: int = 5000
    seeds: int = 5

    def sweep(
        self, *, data: Sequence[str | Dataset] = (), rounds: int | None = None, seeds: int | None = None
    ) -> Sweep:
        """The sweep, on other data or of another size if wanted."""
        return Sweep(
            data=data or self.data,
            users=self.users,
            policies=self.policies(),
            seeds=range(seeds or self.seeds),
            protocol=Protocol(rounds=rounds or self.rounds),
        )


def preset_users(*readings: Stop) -> dict[str, Preset]:
    """The three classic users under each reading of *stop*; only the unusual reading is named.

    >>> list(preset_users("click", "every"))[2:4]
    ['informational', 'perfect:stop=every']
    """
    return {
        user if stop == "click" else f"{user}:stop={stop}": Preset(user, stop)
        for stop in readings
        for user in CASCADE_TABLES
    }


def classic_policies() -> dict[str, Policy]:
    """The baselines of every paper of the field."""
    return {
        "pdgd": PDGD(),
        "mgd": MGD(),
        "dbgd": DBGD(),
        "epsilon-greedy": EpsilonGreedy(),
        "ranknet": RankNet(),
        "random": Random(),
    }


def interleaved_policies() -> dict[str, Policy]:
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
        policies=classic_policies,
        users=preset_users("click"),
    ),
    "classic/stop": Suite(
        title="How much does it matter whether users stop only after a click, or anywhere?",
        policies=classic_policies,
        users=preset_users("click", "every"),
    ),
    "classic/interleaving": Suite(
        title="Team draft or probabilistic interleaving, with few or many candidates?",
        policies=interleaved_policies,
        users=preset_users("click"),
    ),
}
