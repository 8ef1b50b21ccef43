"""Many runs: every policy meets every user on every dataset, with the same seeds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from typing import Any, TypeAlias, TypeVar

from rankloop.errors import SettingError
from rankloop.lab.baselines import ALL_POLICIES
from rankloop.lab.data import Dataset, FeatureGroups, change_name, list_folds, load
from rankloop.lab.simulation.loop import Record, simulate
from rankloop.lab.simulation.measured_examination import fit_examination
from rankloop.lab.simulation.measures import Measure, index_by_name
from rankloop.lab.simulation.probes import Probe
from rankloop.lab.simulation.protocol import Protocol
from rankloop.lab.users import LabelJudge, NamedUser, PresetUser, UserModel, write_user
from rankloop.naming import write_name
from rankloop.policies import Policy, StartsFromBase
from rankloop.policies.policy_names import write_policy
from rankloop.types import Signal

T = TypeVar("T")
UserChoice: TypeAlias = UserModel | PresetUser
JUDGE = LabelJudge(whole_query=True)  # who teaches policies that learn from grades, where users click
SPECIFIED = ("rounds", "k", "discount", "checkpoints", "without_relevant")  # of a protocol, in a spec


@dataclass(frozen=True, slots=True)
class Run:
    """One policy meets one user on one dataset with one seed."""

    data: str  # as it was asked for
    fold: str  # the part of it that is loaded
    user: str
    policy: str
    seed: int


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """A grid of runs over data × users × policies × seeds.

    Data are names, see `load`, or datasets at hand; a name with folds stands for all of them. Users and
    policies are values with names of your choice. A policy is a pattern: each run starts from a copy of it.
    Probes, named likewise, look into policies on the way. `about` are the metrics that answer the question;
    the report shows them first, and draws only them. `against` names, for policies that vary another or
    claim to be better, which one they are held against. `groups` divides the documents of data that are named
    by a feature; datasets at hand have the groups that they have. Of the training queries the first
    `train_queries` are asked, or all.

    Policies that learn from grades alone meet users who click, too: they are taught by the true labels
    instead, run once for all these users, and shown beside the others for reference only. A policy that
    accepts both signals learns from what its user gives, unless it is `taught`: then someone who grades
    teaches it in place of the user, and it competes, for questions about what grades are worth.

    >>> from rankloop.policies import PDGD, Random
    >>> sweep = Sweep(
    ...     data=["linear"],
    ...     users={"perfect": PresetUser("perfect")},
    ...     policies={"PDGD": PDGD(), "random": Random()},
    ...     seeds=range(2),
    ... )
    >>> len(sweep.runs())
    4
    """

    data: Sequence[str | Dataset]
    users: Mapping[str, UserChoice]
    policies: Mapping[str, Policy]
    seeds: Sequence[int] = field(default_factory=lambda: range(5))
    protocol: Protocol = field(default_factory=Protocol)
    probes: Mapping[str, Probe] = field(default_factory=dict)
    about: Sequence[str] = ()
    against: Mapping[str, str] = field(default_factory=dict)
    taught: Mapping[str, LabelJudge] = field(default_factory=dict)
    groups: FeatureGroups | None = None
    train_queries: int | None = None

    def __post_init__(self) -> None:
        """Refuse sweeps in which nothing would happen."""
        for name in ("data", "users", "policies", "seeds"):
            if not len(getattr(self, name)):
                raise SettingError(f"{name} must name at least one, found none")
        labels = [label(data) for data in self.data]
        if len(set(labels)) != len(labels):
            raise SettingError(f"each dataset needs a name of its own, found {', '.join(labels)}")
        if unknown := [name for pair in self.against.items() for name in pair if name not in self.policies]:
            raise SettingError(f"against must name policies of the sweep, found {', '.join(unknown)}")
        self._check_taught()
        self._check_signals()
        if self.train_queries is not None and self.train_queries < 1:
            raise SettingError(
                f"train_queries must be at least 1, or None for all, found {self.train_queries}"
            )
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

    def runs(self) -> list[Run]:
        """Every run, in the order of the results."""
        return [
            Run(label(data), fold, user, policy, seed)
            for data in self.data
            for fold in folds(data)
            for user in self.users
            for policy in self.policies
            for seed in self.seeds
        ]

    def source(self, run: Run) -> Run:
        """The run that a run's rows come from.

        Who is taught by labels is run for the first user alone, and who does not look at base orders on the
        data without one alone, if it is there.
        """
        run = self._without_base(run)
        if run.policy in self.taught:
            return replace(run, user=next(iter(self.users)))
        return replace(run, user=self._clicking[0]) if self._is_taught(run.policy, run.user) else run

    def _without_base(self, run: Run) -> Run:
        policy = self.policies[run.policy]
        if isinstance(policy, StartsFromBase) and policy.base_columns:
            return run
        if run.data not in self.data:  # a dataset at hand
            return run
        plain, fold = (change_name(name, caller_order=None) for name in (run.data, run.fold))
        return replace(run, data=plain, fold=fold) if plain in self.data else run

    @property
    def outside(self) -> tuple[str, ...]:
        """The policies shown for reference only: they learn from grades alone, and users click."""
        return tuple(
            name for name in self.policies if any(self._is_taught(name, user) for user in self.users)
        )

    @property
    def measures(self) -> dict[str, Measure]:
        """All that is measured, by name."""
        seen = (measure for probe in self.probes.values() for measure in probe.measures.values())
        return index_by_name((*self.protocol.measured(), *seen))

    def dataset(self, fold: str) -> Dataset:
        """The dataset that a run's fold names."""
        at_hand = {data.name: data for data in self.data if isinstance(data, Dataset)}
        whole = at_hand[fold] if fold in at_hand else _load(fold, self.groups)
        return whole if self.train_queries is None else _with_few(whole, self.train_queries)

    def user(self, name: str, dataset: Dataset) -> UserModel:
        """The user of that name, with the tables that fit the dataset's grades."""
        choice = self.users[name]
        grades = max(dataset.train.grades, dataset.test.grades)
        return choice.for_grades(grades) if isinstance(choice, PresetUser) else choice

    def teacher(self, run: Run, dataset: Dataset) -> UserModel:
        """Whom the policy of a run learns from: its user or, where that one clicks, someone who grades."""
        if run.policy in self.taught:
            return self.taught[run.policy]
        return JUDGE if self._is_taught(run.policy, run.user) else self.user(run.user, dataset)

    def learner(self, run: Run, dataset: Dataset) -> Policy:
        """The policy of a run before its first round: a copy of its own, fitted to whom it meets."""
        pattern = self.policies[run.policy]
        return self._fitted(pattern, run, dataset).from_state(pattern.state())

    def records(
        self, run: Run, dataset: Dataset | None = None, learner: Policy | None = None
    ) -> Iterator[Record]:
        """Do one run: a pure function of the sweep and the run, on its dataset if that is at hand.

        Whoever wants the policy as it is afterwards gives the `learner` of the run, which learns.
        """
        dataset = dataset or self.dataset(run.fold)
        return simulate(
            learner or self.learner(run, dataset),
            self.teacher(run, dataset),
            dataset.train,
            dataset.test,
            seed=run.seed,
            protocol=self.protocol,
            probes=tuple(self._fitted(probe, run, dataset) for probe in self.probes.values()),
        )

    def _fitted(self, value: T, run: Run, dataset: Dataset) -> T:
        return fit_examination(value, self.user(run.user, dataset), dataset.train, self.protocol.k)

    @property
    def _clicking(self) -> list[str]:
        return [name for name, choice in self.users.items() if _gives(choice) == "clicks"]

    def _is_taught(self, policy: str, user: str) -> bool:
        """Whether a policy that learns from grades alone meets a user who clicks."""
        return "clicks" not in self.policies[policy].signals and user in self._clicking

    def _check_taught(self) -> None:
        for name in self.taught:
            if name not in self.policies:
                raise SettingError(f"taught must name policies of the sweep, found {name}")
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

    def describe(self) -> dict[str, Any]:
        """The sweep as plain values, for `spec.json`."""
        return {
            "data": [label(data) for data in self.data],
            "users": {name: _user_text(user) for name, user in self.users.items()},
            "policies": {name: _text(policy) for name, policy in self.policies.items()},
            "seeds": list(self.seeds),
            **{name: getattr(self.protocol, name) for name in SPECIFIED},
            "measures": {name: measure.describe() for name, measure in self.measures.items()},
            "probes": {name: write_name(probe) for name, probe in self.probes.items()},
            "about": list(self.about),
            "against": dict(self.against),
            **(
                {"taught": {name: write_user(judge) for name, judge in self.taught.items()}}
                if self.taught
                else {}
            ),
            **({"groups": asdict(self.groups)} if self.groups else {}),
            **({"train_queries": self.train_queries} if self.train_queries else {}),
        }


def _gives(choice: UserChoice) -> Signal:
    return "clicks" if isinstance(choice, PresetUser) else choice.gives


def _user_text(user: UserChoice) -> str:
    """The user as `rankloop run` reads it; one that has no name is shown as Python does."""
    return write_user(user) if isinstance(user, NamedUser) else repr(user)


def _text(policy: Policy) -> str:
    """The policy as `rankloop run` reads it; what cannot be written so is shown as Python does."""
    try:
        return write_policy(policy, ALL_POLICIES)
    except SettingError:
        return repr(policy)


def label(data: str | Dataset) -> str:
    """What a dataset is called in the results."""
    return data if isinstance(data, str) else data.name


def folds(data: str | Dataset) -> Sequence[str]:
    """The parts of a dataset that are run one by one."""
    if isinstance(data, Dataset):
        return (data.name,)
    return list_folds(data)


@lru_cache(maxsize=2)
def _load(name: str, groups: FeatureGroups | None) -> Dataset:
    return load(name, groups=groups)


@lru_cache(maxsize=2)  # one object for all runs, so that examination is measured once
def _with_few(dataset: Dataset, count: int) -> Dataset:
    """A dataset with its first training queries only."""
    return dataset.at_most(count)
