"""What a suite is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import altair as alt
import numpy as np
import polars as pl

from rankloop.errors import SettingError
from rankloop.lab.baselines import ALL_POLICIES
from rankloop.lab.data import Dataset, FeatureGroups, concatenate, load
from rankloop.lab.report.chart_files import write_chart
from rankloop.lab.simulation.measures import read_measure
from rankloop.lab.simulation.probes import Probe
from rankloop.lab.simulation.protocol import Protocol
from rankloop.lab.sweeps.engines import Engine
from rankloop.lab.sweeps.sweep import Sweep, UserChoice
from rankloop.lab.users import CASCADE_TABLES, LabelJudge, PresetUser, Stop
from rankloop.naming import split_names
from rankloop.policies.policy_names import read_policy
from rankloop.query_set import QuerySet


@dataclass(frozen=True, kw_only=True)
class Suite:
    """A question, and the sweep that answers it.

    A suite that repeats a figure says which metrics the figure is `about`, and what the `paper` shows;
    one about variants of policies, or about an order of them, says which each is to be held `against`.
    Policies are texts that `read_policy` reads, and are called by them in the results. Users and probes
    have names that the command line understands: a suite can be run again from its `spec.json`. `measures`
    are names, too, of what is measured instead of the usual; `taught` are policies that someone teaches by
    grades. `groups` are those of documents in data that one names; `own_groups` those in the suite's own.
    Of the training queries the first `train_queries` are asked, or all.
    """

    title: str
    policies: Sequence[str]
    users: Mapping[str, UserChoice]
    about: tuple[str, ...] = ()
    paper: str = ""
    probes: Mapping[str, Probe] = field(default_factory=dict)
    against: Mapping[str, str] = field(default_factory=dict)
    taught: Mapping[str, LabelJudge] = field(default_factory=dict)
    measures: tuple[str, ...] = ()
    groups: FeatureGroups | None = None
    own_groups: FeatureGroups | None = None
    train_queries: int | None = None
    data: Sequence[str | Dataset] = ("nonlinear",)
    rounds: int = 5000
    quick: int = 200  # rounds of a small version
    k: int = 10
    seeds: int = 5
    checkpoints: int = 50

    def sweep(
        self,
        *,
        data: Sequence[str | Dataset] = (),
        rounds: int | None = None,
        seeds: int | None = None,
        groups: FeatureGroups | None = None,
    ) -> Sweep:
        """The sweep, on other data, in other groups or of another size if wanted."""
        return Sweep(
            data=data or self.data,
            users=self.users,
            policies={text: read_policy(text, ALL_POLICIES) for text in self.policies},
            seeds=range(seeds or self.seeds),
            protocol=Protocol(
                rounds=rounds or self.rounds,
                k=self.k,
                checkpoints=self.checkpoints,
                measures=tuple(read_measure(name) for name in self.measures),
            ),
            probes=self.probes,
            main_metrics=self.about,
            compare_with=self.against,
            judges=self.taught,
            train_queries=self.train_queries,
            groups=groups or (self.groups if data else self.own_groups),
        )


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A figure of a paper that shows data, and no policy."""

    title: str
    paper: str
    draw: Callable[[QuerySet, np.random.Generator], alt.TopLevelMixin]
    data: str = "nonlinear"

    def write(self, dataset: Dataset, folder: Path, name: str) -> list[Path]:
        """Draw all queries of the data, those for training and the others; the PNG and the SVG."""
        return write_chart(self.draw(concatenate(*dataset.parts), np.random.default_rng(0)), folder, name)


@dataclass(frozen=True, kw_only=True)
class ComputedTable(ABC):
    """A table of a paper that is computed, exactly or on data, without a policy that learns online."""

    title: str
    paper: str
    notes: tuple[str, ...] = ()
    data: str = ""  # none: it is about no data

    @abstractmethod
    def frames(self, data: str = "", *, quick: bool = False) -> Mapping[str, pl.DataFrame]:
        """The parts of the table, each with its name."""

    def write(self, frames: Mapping[str, pl.DataFrame], folder: Path, name: str) -> list[Path]:
        """The parts as CSV files."""
        folder.mkdir(parents=True, exist_ok=True)
        files = {part: folder / f"{name} {part}.csv".replace("/", "-").replace(" ", "-") for part in frames}
        for part, file in files.items():
            frames[part].write_csv(file)
        return list(files.values())


@dataclass(frozen=True, kw_only=True)
class PaperTable(ComputedTable):
    """A table that is about one dataset, or about none."""

    make: Callable[..., Mapping[str, pl.DataFrame]]  # from what was loaded, or from nothing, and `quick`
    load: Callable[[str], object] = load
    fits: bool = False  # its models are fitted by an engine, which `make` takes, too

    def frames(
        self, data: str = "", *, quick: bool = False, engine: Engine | None = None
    ) -> Mapping[str, pl.DataFrame]:
        """The parts of the table, each with its name; of those that fit models, by an engine."""
        if data and not self.data:
            raise SettingError(f"this table is computed from nothing but its definition, found data {data!r}")
        if engine is not None and not self.fits:
            raise SettingError("this table is computed in one process: leave --engine out")
        loaded = self.load(data or self.data) if self.data else None
        return self.make(loaded, quick) if engine is None else self.make(loaded, quick, engine)


@dataclass(frozen=True, kw_only=True)
class SetsTable(ComputedTable):
    """A table over several datasets, named with commas, each of which it loads as often as it needs."""

    over: Callable[[Sequence[str], bool], Mapping[str, pl.DataFrame]]

    def frames(self, data: str = "", *, quick: bool = False) -> Mapping[str, pl.DataFrame]:
        """The parts of the table, each with its name."""
        return self.over(split_names(data or self.data), quick)


def preset_users(*readings: Stop) -> dict[str, PresetUser]:
    """The three classic users under each reading of *stop*; only the unusual reading is named.

    Who never stops is there once.

    >>> list(preset_users("click", "every"))[2:4]
    ['informational', 'navigational(stop_at=every)']
    """
    return {
        user if stop == "click" else f"{user}(stop_at={stop})": PresetUser(user, stop)
        for stop in readings
        for user in CASCADE_TABLES
        if stop == readings[0] or not PresetUser(user).never_stops
    }
