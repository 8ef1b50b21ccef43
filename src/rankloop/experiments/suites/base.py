"""What a suite is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import altair as alt
import numpy as np

from rankloop.data import Dataset
from rankloop.experiments.report.pictures import write_chart
from rankloop.experiments.simulation.probes import Probe
from rankloop.experiments.simulation.protocol import Protocol
from rankloop.experiments.sweeps.sweep import Sweep, UserChoice
from rankloop.spelling import parse
from rankloop.types import QuerySet
from rankloop.users import CASCADE_TABLES, Preset, Stop


@dataclass(frozen=True, kw_only=True)
class Suite:
    """A question, and the sweep that answers it.

    A suite that repeats a figure says which metrics the figure is `about`, and what the `paper` shows;
    one about variants of policies, or about an order of them, says which each is to be held `against`.
    Policies are texts that `rankloop.spelling` reads, and are called by them in the results. Users and probes
    have names that the command line understands: a suite can be run again from its `spec.json`.
    """

    title: str
    policies: Sequence[str]
    users: Mapping[str, UserChoice]
    about: tuple[str, ...] = ()
    paper: str = ""
    probes: Mapping[str, Probe] = field(default_factory=dict)
    against: Mapping[str, str] = field(default_factory=dict)
    data: Sequence[str | Dataset] = ("synthetic:nonlinear",)
    rounds: int = 5000
    seeds: int = 5
    checkpoints: int = 50

    def sweep(
        self, *, data: Sequence[str | Dataset] = (), rounds: int | None = None, seeds: int | None = None
    ) -> Sweep:
        """The sweep, on other data or of another size if wanted."""
        return Sweep(
            data=data or self.data,
            users=self.users,
            policies={text: parse(text) for text in self.policies},
            seeds=range(seeds or self.seeds),
            protocol=Protocol(rounds=rounds or self.rounds, checkpoints=self.checkpoints),
            probes=self.probes,
            about=self.about,
            against=self.against,
        )


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A figure of a paper that shows data, and no policy."""

    title: str
    paper: str
    draw: Callable[[QuerySet, np.random.Generator], alt.TopLevelMixin]
    data: str = "synthetic:nonlinear"

    def write(self, dataset: Dataset, folder: Path, name: str) -> list[Path]:
        """Draw the training queries; the PNG and the SVG."""
        return write_chart(self.draw(dataset.train, np.random.default_rng(0)), folder, name)


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
