"""Probes: functions that read values from a policy while it learns, for the sweeps that ask."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, make_dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, TypeAlias, TypeVar, get_type_hints

from rankloop.bounds import Count, check_settings
from rankloop.errors import SettingError, suggest_name
from rankloop.exploration import ordered_blocks
from rankloop.lab.simulation.measures import Measure, Measures, index_by_name
from rankloop.policies import Policy
from rankloop.policy import KnowsCertainOrders
from rankloop.query_set import JudgedQuery, QuerySet
from rankloop.types import BoolArray, Feedback, FloatArray, IntArray, Query, Ranking

Values: TypeAlias = Mapping[str, float]  # by the name of the measure; what cannot be read is left out
Described: TypeAlias = Sequence[Measure] | Callable[..., Sequence[Measure]]  # or by the probe's settings
Function = TypeVar("Function", bound=Callable[..., Values])


@dataclass(frozen=True, eq=False)
class Round:
    """A round as a probe sees it: the user has responded, and nothing has been learned from it yet.

    All probes of a round share one value, so the certain orders are worked out once.
    """

    policy: Policy
    judged: JudgedQuery
    ranking: Ranking
    feedback: Feedback
    train: QuerySet  # all queries that are asked

    @cached_property
    def certain(self) -> BoolArray:
        """The certain orders of the query's documents, [n_docs, n_docs]."""
        return read_certain_orders(self.policy, self.judged.query)

    @cached_property
    def blocks(self) -> list[IntArray]:
        """The ordered blocks of the query's documents, best first."""
        return ordered_blocks(self.scores, self.certain)

    @cached_property
    def scores(self) -> FloatArray:
        """Scores that no certain order contradicts, [n_docs]."""
        return read_list_scores(self.policy, self.judged.query)


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A moment between two rounds as a probe sees it."""

    policy: Policy
    train: QuerySet
    round: int  # how many there have been
    rounds: int  # how many there will be


@dataclass(frozen=True)
class ProbeKind:
    """A probe function, and how it is called in a run."""

    name: str
    function: Callable[..., Values]
    measures: Described
    needs: type | Callable[[Policy], bool]
    at: Literal["round", "checkpoint"]
    every: int | None
    reduce: Literal["mean", "sum", "last"]
    start: Callable[[], Any] | None
    check: Callable[..., None] | None


@dataclass(frozen=True, kw_only=True)
class Probe:
    """A probe with its settings: a value that can be compared, pickled and written as a name.

    Each decorated function has a class of its own in `PROBES`, whose fields are the function's settings.
    """

    kind: ClassVar[ProbeKind]

    def __post_init__(self) -> None:
        """Refuse settings that a function has no use for."""
        check_settings(self)
        if self.kind.check:
            self.kind.check(**self.settings)

    @property
    def every(self) -> int:
        """How many rounds there are from one call to the next."""
        return int(vars(self).get("every", 1))

    @cached_property
    def settings(self) -> dict[str, Any]:
        """What the function is given beside the round."""
        return {each.name: vars(self)[each.name] for each in fields(self) if each.name != "every"}

    @cached_property
    def measures(self) -> Measures:
        """All that it may read, by name."""
        described = self.kind.measures
        return index_by_name(described(**self.settings) if callable(described) else described)

    def applies(self, policy: Policy) -> bool:
        """Whether there is anything to read in such a policy; others are passed over."""
        needs = self.kind.needs
        return isinstance(policy, needs) if isinstance(needs, type) else needs(policy)

    def read(self, *seen: object) -> Iterator[tuple[Measure, float]]:
        """Call the function with a round or a checkpoint, and with its state if it keeps one."""
        for name, value in self.kind.function(*seen, **self.settings).items():
            if name not in self.measures:
                raise SettingError(f"the probe {self.kind.name} gave {name!r}, which it does not measure")
            yield self.measures[name], value

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (self.kind, {each.name: vars(self)[each.name] for each in fields(self)})


PROBES: dict[str, type[Probe]] = {}  # by name


def probe(
    name: str,
    *,
    measures: Described,
    needs: type | Callable[[Policy], bool],
    at: Literal["round", "checkpoint"] = "round",
    every: int | None = 10,
    reduce: Literal["mean", "sum", "last"] = "mean",
    start: Callable[[], Any] | None = None,
    check: Callable[..., None] | None = None,
) -> Callable[[Function], Function]:
    """Make a function a probe that is known by a name; the function itself stays as it is.

    It takes a `Round` and gives values by the names of its `measures`; its keyword-only parameters are its
    settings, each what its annotation says; `check` may refuse more. It is called for policies of the type
    that it `needs`, or for which `needs` is true: after a checkpoint, then at every `every`-th round (a
    setting, unless it is None: then at each). What is recorded at a checkpoint is the mean since the one
    before, the sum over all rounds so far, in which each call stands for the rounds until the next, or the
    last value. With `start` it also takes a state of the run, made anew for each. `at="checkpoint"` calls it
    with a `Checkpoint` instead.

    >>> LENGTH = Measure("length of the list", kind="length", unit="documents")
    >>> @probe("length", measures=[LENGTH], needs=Policy, every=1)
    ... def measure_length(round: Round) -> Values:
    ...     return {"length of the list": float(len(round.ranking))}
    >>> PROBES.pop("length")()
    length(every=1)
    """

    def register(function: Function) -> Function:
        own_every = every if at == "round" else None
        _register(ProbeKind(name, function, measures, needs, at, own_every, reduce, start, check))
        return function

    return register


def make_probe(name: str, **settings: Any) -> Probe:
    """Make the probe of a name, with settings.

    >>> make_probe("block-size", every=5, ranks=(1, 3))
    block-size(ranks=(1, 3), every=5)
    """
    if name not in PROBES:
        raise SettingError(f"no probe is called {name!r}: {suggest_name(name, PROBES)}")
    known = [each.name for each in fields(PROBES[name])]
    for setting in settings:
        if setting not in known:
            raise SettingError(f"{name} has no setting {setting!r}: {suggest_name(setting, known)}")
    return PROBES[name](**settings)


class Observations:
    """Calls the probes of one run when it is their turn, and keeps their values until a checkpoint."""

    def __init__(self, probes: Iterable[Probe], policy: Policy, train: QuerySet, rounds: int) -> None:
        fitting = [each for each in probes if each.applies(policy)]
        self._of_rounds = [
            (each, (each.kind.start(),) if each.kind.start else ())
            for each in fitting
            if each.kind.at == "round"
        ]
        self._of_checkpoints = [each for each in fitting if each.kind.at == "checkpoint"]
        self._policy, self._train, self._rounds = policy, train, rounds
        self._steps = 0  # rounds since the last checkpoint
        self._read: dict[Measure, list[float]] = {}  # in these rounds
        self._sums: dict[Measure, float] = {}
        self._adding: set[Measure] = set()
        self._last: dict[Measure, float] = {}

    def add(self, judged: JudgedQuery, ranking: Ranking, feedback: Feedback) -> None:
        """Call the probes whose turn it is, before the policy learns from a round."""
        due = [(each, state) for each, state in self._of_rounds if self._steps % each.every == 0]
        self._steps += 1
        if not due:
            return
        seen = Round(self._policy, judged, ranking, feedback, self._train)
        for each, state in due:
            for measure, value in each.read(seen, *state):
                if each.kind.reduce == "last":
                    self._last[measure] = value
                    continue
                self._read.setdefault(measure, []).append(value)
                if each.kind.reduce == "sum":
                    self._adding.add(measure)

    def read(self, number: int) -> Iterator[tuple[Measure, float]]:
        """Give what there is to record at the checkpoint after so many rounds."""
        for measure, values in self._read.items():
            mean = sum(values) / len(values)
            if measure in self._adding:
                self._sums[measure] = self._sums.get(measure, 0.0) + self._steps * mean
            yield measure, self._sums.get(measure, mean)
        self._steps, self._read = 0, {}
        yield from self._last.items()
        checkpoint = Checkpoint(self._policy, self._train, number, self._rounds)
        for each in self._of_checkpoints:
            yield from each.read(checkpoint)


def read_certain_orders(policy: Policy, query: Query) -> BoolArray:
    """Read the certain orders of a policy that was found to know them."""
    assert isinstance(policy, KnowsCertainOrders)
    return policy.certain_orders(query)


def read_list_scores(policy: Policy, query: Query) -> FloatArray:
    """Read the scores behind the certain orders: `list_scores` where a policy tells them from `score`."""
    scores: FloatArray = getattr(policy, "list_scores", policy.score)(query)
    return scores


def _register(kind: ProbeKind) -> type[Probe]:
    known = PROBES.get(kind.name)
    if known and _address(known.kind.function) != _address(kind.function):
        raise SettingError(f"two probes are called {kind.name!r}: {_address(known.kind.function)} is known")
    hints = get_type_hints(kind.function, include_extras=True)
    settings = [
        (name, hints[name], field() if each.default is each.empty else field(default=each.default))
        for name, each in inspect.signature(kind.function).parameters.items()
        if each.kind is each.KEYWORD_ONLY
    ]
    if kind.every is not None:
        settings.append(("every", Count, field(default=kind.every)))
    namespace = {"kind": kind, "__doc__": kind.function.__doc__}
    made = make_dataclass(kind.name, settings, bases=(Probe,), frozen=True, kw_only=True, namespace=namespace)
    PROBES[kind.name] = made
    return made


def _rebuild(kind: ProbeKind, settings: Mapping[str, Any]) -> Probe:
    """Make a probe again in another process, where the file that defines it was perhaps not read yet."""
    return (PROBES.get(kind.name) or _register(kind))(**settings)


def _address(function: Callable[..., object]) -> str:
    return f"{function.__module__}.{function.__qualname__}"
