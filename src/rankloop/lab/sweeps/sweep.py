"""Sweep: a grid of cells, in which every policy meets every user on every dataset with the same seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TypeAlias, TypeVar

from rankloop.bounds import Count, check_settings
from rankloop.errors import SettingError
from rankloop.lab.data import Dataset, FeatureGroups, change_name, list_folds, load
from rankloop.lab.simulation.measured_examination import fit_examination
from rankloop.lab.simulation.measures import Measure, index_by_name
from rankloop.lab.simulation.probes import Probe
from rankloop.lab.simulation.protocol import Protocol
from rankloop.lab.users import LabelJudge, PresetUser, UserModel
from rankloop.policies import Policy
from rankloop.types import Signal

T = TypeVar("T")
UserChoice: TypeAlias = UserModel | PresetUser
WHOLE_QUERY_JUDGE = LabelJudge(whole_query=True)  # teaches policies that learn from grades, where users click


@dataclass(frozen=True, slots=True)
class Cell:
    """One policy meets one user on one dataset with one seed."""

    data: str  # as it was asked for
    fold: str  # the part of it that is loaded
    user: str
    policy: str
    seed: int

    @property
    def needs(self) -> str:
        """What an engine loads for it: its fold."""
        return self.fold


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """A grid of cells over data × users × policies × seeds.

    Data are names, see `load`, or datasets at hand; a name with folds stands for all of them. Users and
    policies are values with names of your choice. A policy is a pattern: each run starts from a copy of it.
    Probes, named likewise, read from policies on the way. `main_metrics` answer the question; the report
    shows them first, and draws only them. `compare_with` names, for policies that vary another or claim to be
    better, which one they are compared with. `groups` divides the documents of data that are named by a
    feature; datasets at hand have the groups that they have. Of the training queries the first
    `train_queries` are asked, or all.

    Policies that learn from grades alone meet users who click, too: they are taught by the true labels
    instead, run once for all these users, and shown beside the others for reference only. A policy that
    accepts both signals learns from what its user gives, unless `judges` has a judge for it: then the judge
    teaches it in place of the user, and it competes, for questions about what grades are worth.

    >>> from rankloop.policies import PDGD, Random
    >>> sweep = Sweep(
    ...     data=["linear"],
    ...     users={"perfect": PresetUser("perfect")},
    ...     policies={"PDGD": PDGD(), "random": Random()},
    ...     seeds=range(2),
    ... )
    >>> len(sweep.cells())
    4
    """

    data: Sequence[str | Dataset]
    users: Mapping[str, UserChoice]
    policies: Mapping[str, Policy]
    seeds: Sequence[int] = field(default_factory=lambda: range(5))
    protocol: Protocol = field(default_factory=Protocol)
    probes: Mapping[str, Probe] = field(default_factory=dict)
    main_metrics: Sequence[str] = ()
    compare_with: Mapping[str, str] = field(default_factory=dict)
    judges: Mapping[str, LabelJudge] = field(default_factory=dict)
    groups: FeatureGroups | None = None
    train_queries: Count | None = None

    def __post_init__(self) -> None:
        """Refuse sweeps in which nothing would happen."""
        for name in ("data", "users", "policies", "seeds"):
            if not len(getattr(self, name)):
                raise SettingError(f"{name} must name at least one, found none")
        check_settings(self)
        labels = [label(data) for data in self.data]
        if len(set(labels)) != len(labels):
            raise SettingError(f"each dataset needs a name of its own, found {', '.join(labels)}")
        pairs = self.compare_with.items()
        if unknown := [name for pair in pairs for name in pair if name not in self.policies]:
            raise SettingError(f"compare_with must name policies of the sweep, found {', '.join(unknown)}")
        self._check_judges()
        self._check_signals()
        if self.groups and any(isinstance(data, Dataset) for data in self.data):
            raise SettingError(
                "groups by a feature are made when data is loaded by its name: give a dataset at hand "
                "groups of its own, as in groups.apply(dataset)"
            )
        kinds = [probe.kind.name for probe in self.probes.values()]
        if len(set(kinds)) != len(kinds):
            raise SettingError(f"two probes of a kind would give the same metrics, found {', '.join(kinds)}")
        if len(set(self.seeds)) != len(self.seeds) or min(self.seeds) < 0:
            raise SettingError(
                f"seeds must be different whole numbers of 0 or more, found {list(self.seeds)}"
            )

    def cells(self) -> list[Cell]:
        """List every cell, in the order of the results."""
        return [
            Cell(label(data), fold, user, policy, seed)
            for data in self.data
            for fold in folds(data)
            for user in self.users
            for policy in self.policies
            for seed in self.seeds
        ]

    def representative(self, cell: Cell) -> Cell:
        """Find the cell that is run for this one.

        Who is taught by labels is run for the first user alone, and who ignores the caller's order on the
        data without one alone, if it is there.
        """
        cell = self._without_caller_order(cell)
        if cell.policy in self.judges:
            return replace(cell, user=next(iter(self.users)))
        if self._is_judged(cell.policy, cell.user):
            return replace(cell, user=self._clicking[0])
        return cell

    def _without_caller_order(self, cell: Cell) -> Cell:
        if self.policies[cell.policy].layout.extra:
            return cell
        if cell.data not in self.data:  # a dataset at hand
            return cell
        plain, fold = (change_name(name, caller_order=None) for name in (cell.data, cell.fold))
        return replace(cell, data=plain, fold=fold) if plain in self.data else cell

    @property
    def reference_policies(self) -> tuple[str, ...]:
        """The policies shown for reference only: they learn from grades alone, and users click."""
        return tuple(
            name for name in self.policies if any(self._is_judged(name, user) for user in self.users)
        )

    @property
    def measures(self) -> dict[str, Measure]:
        """All that is measured, by name."""
        seen = (measure for probe in self.probes.values() for measure in probe.measures.values())
        return index_by_name((*self.protocol.measured(), *seen))

    def dataset(self, fold: str) -> Dataset:
        """Load the dataset that a cell's fold names, or give the one at hand."""
        at_hand = {data.name: data for data in self.data if isinstance(data, Dataset)}
        whole = at_hand[fold] if fold in at_hand else _load(fold, self.groups)
        return whole if self.train_queries is None else _with_few(whole, self.train_queries)

    def user(self, name: str, dataset: Dataset) -> UserModel:
        """Give the user of that name, with the tables that fit the dataset's grades."""
        choice = self.users[name]
        grades = max(dataset.train.grades, dataset.test.grades)
        return choice.for_grades(grades) if isinstance(choice, PresetUser) else choice

    def user_of(self, cell: Cell, dataset: Dataset) -> UserModel:
        """Find whom the policy of a cell learns from: its user or, where that one clicks, a judge."""
        if cell.policy in self.judges:
            return self.judges[cell.policy]
        if self._is_judged(cell.policy, cell.user):
            return WHOLE_QUERY_JUDGE
        return self.user(cell.user, dataset)

    def policy_of(self, cell: Cell, dataset: Dataset) -> Policy:
        """Copy the policy of a cell as it is before its first round, fitted to whom it meets."""
        pattern = self.policies[cell.policy]
        return self._fit(pattern, cell, dataset).from_state(pattern.state())

    def probes_of(self, cell: Cell, dataset: Dataset) -> tuple[Probe, ...]:
        """Give the probes of a cell, fitted to whom its policy meets."""
        return tuple(self._fit(probe, cell, dataset) for probe in self.probes.values())

    def _fit(self, value: T, cell: Cell, dataset: Dataset) -> T:
        return fit_examination(value, self.user(cell.user, dataset), dataset.train, self.protocol.k)

    @property
    def _clicking(self) -> list[str]:
        return [name for name, choice in self.users.items() if _gives(choice) == "clicks"]

    def _is_judged(self, policy: str, user: str) -> bool:
        """Whether a policy that learns from grades alone meets a user who clicks."""
        return "clicks" not in self.policies[policy].signals and user in self._clicking

    def _check_judges(self) -> None:
        for name in self.judges:
            if name not in self.policies:
                raise SettingError(f"judges must name policies of the sweep, found {name}")
            if "grades" not in self.policies[name].signals:
                raise SettingError(f"{name} learns from clicks: nobody can teach it by grades")

    def _check_signals(self) -> None:
        for user, choice in self.users.items():
            if _gives(choice) == "grades" and (
                deaf := [name for name, policy in self.policies.items() if "grades" not in policy.signals]
            ):
                raise SettingError(
                    f"{', '.join(deaf)} learn from clicks, but the user {user!r} gives grades: "
                    "compare them under users who click, such as perfect, or leave them out"
                )


def _gives(choice: UserChoice) -> Signal:
    return "clicks" if isinstance(choice, PresetUser) else choice.gives


def label(data: str | Dataset) -> str:
    """Say what a dataset is called in the results."""
    return data if isinstance(data, str) else data.name


def folds(data: str | Dataset) -> Sequence[str]:
    """List the parts of a dataset that are run one by one."""
    if isinstance(data, Dataset):
        return (data.name,)
    return list_folds(data)


@lru_cache(maxsize=2)
def _load(name: str, groups: FeatureGroups | None) -> Dataset:
    return load(name, groups=groups)


@lru_cache(maxsize=2)  # one object for all runs, so that examination is measured once
def _with_few(dataset: Dataset, count: int) -> Dataset:
    """Keep a dataset's first training queries only."""
    return dataset.at_most(count)
