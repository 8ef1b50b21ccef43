"""What can be decided about a ranker."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, Self, TypeAlias, get_args

from rankloop.policies import PairRank, Policy
from rankloop.spelling import Catalogue, build, describe
from rankloop.types import SettingError, suggestion

Mode: TypeAlias = Literal["explore", "exploit", "frozen", "passthrough", "shadow"]
Scaling: TypeAlias = Literal["query", "running"]

MODES: tuple[Mode, ...] = get_args(Mode)
LEARNS: tuple[Mode, ...] = ("explore", "exploit", "shadow")
LADDER: tuple[Mode, ...] = ("explore", "exploit", "frozen", "passthrough")


def step_down(mode: Mode) -> Mode:
    """The next rung down: what can be switched off without switching off everything.

    >>> step_down("explore"), step_down("passthrough"), step_down("shadow")
    ('exploit', 'passthrough', 'passthrough')
    """
    return LADDER[min(LADDER.index(mode) + 1, len(LADDER) - 1)] if mode in LADDER else "passthrough"


@dataclass(frozen=True, kw_only=True, eq=False)
class RankerSettings:
    """A policy, and the rules under which it may rank and learn.

    >>> RankerSettings(window=60).window
    60
    """

    policy: Policy = field(default_factory=PairRank)
    scaling: Scaling = "query"  # of features: within each list, or by what was learned so far
    window: float = 600.0  # seconds in which a list takes clicks
    actions: Mapping[str, float] = field(
        default_factory=lambda: {"click": 1.0}
    )  # how much of a click each is
    learn_late: bool = False  # whether clicks after the window teach, too
    max_displacement: int | None = None  # places from where the caller put a result
    max_explored_pairs: int | None = None  # in one list
    freeze_top: bool = False  # the first place is never explored
    ctr_floor: float = 0.0  # share of lists with a click, below which the ranker steps down
    fallback_ceiling: float = 1.0  # share of lists that failed, above which it steps down
    guard_lists: int = 1000  # how many lists the two guards look at
    max_candidates: int = 1000
    max_features: int = 256
    max_open: int = 100_000  # lists with clicks that wait for their window to close
    snapshot_every: int = 200  # versions

    def __post_init__(self) -> None:
        """Refuse rules that nobody could follow."""
        if self.scaling not in get_args(Scaling):
            raise SettingError(f"scaling must be query or running, found {self.scaling!r}")
        _number("window", self.window, low=0.0)
        _number("ctr_floor", self.ctr_floor, low=0.0, high=1.0)
        _number("fallback_ceiling", self.fallback_ceiling, low=0.0, high=1.0)
        for name in ("guard_lists", "max_candidates", "max_features", "max_open", "snapshot_every"):
            _whole(name, getattr(self, name), low=1)
        for name in ("max_displacement", "max_explored_pairs"):
            if getattr(self, name) is not None:
                _whole(name, getattr(self, name), low=0)
        for name in ("learn_late", "freeze_top"):
            if not isinstance(getattr(self, name), bool):
                raise SettingError(f"{name} must be true or false, found {getattr(self, name)!r}")
        actions: object = self.actions
        if not (isinstance(actions, Mapping) and actions):
            raise SettingError('actions must say how much of a click each one is, as in {"click": 1}')
        for action, weight in self.actions.items():
            _number(f"the weight of action {action!r}", weight, low=0.0)

    def to_json(self) -> dict[str, Any]:
        """As JSON, with every default."""
        plain = {each.name: getattr(self, each.name) for each in fields(self)}
        return plain | {"policy": describe(self.policy), "actions": dict(self.actions)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], known: Catalogue) -> Self:
        """From JSON; what is missing has its default."""
        names = [each.name for each in fields(cls)]
        for name in data:
            if name not in names:
                raise SettingError(f"a ranker has no setting {name!r}: {suggestion(str(name), names)}")
        values = dict(data)
        if "policy" in values:
            values["policy"] = build(values["policy"], known)
        return cls(**values)

    def with_policy(self, policy: Policy) -> Self:
        """The same rules for another policy."""
        return replace(self, policy=policy)

    def clicked(self, actions: set[str]) -> bool:
        """Whether a result on which these were done counts as clicked: the weights add up to 1.

        >>> rules = RankerSettings(actions={"click": 1, "hover": 0.5, "zoom": 0.5})
        >>> rules.clicked({"hover"}), rules.clicked({"hover", "zoom"})
        (False, True)
        """
        return sum(self.actions.get(action, 0.0) for action in sorted(actions)) >= 1 - 1e-9


def _number(name: str, value: object, *, low: float, high: float = math.inf) -> None:
    fits = isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high
    if not fits or value == math.inf:
        limit = f"between {low:g} and {high:g}" if high < math.inf else f"of {low:g} or more"
        raise SettingError(f"{name} must be a number {limit}, found {value!r}")


def _whole(name: str, value: object, *, low: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < low:
        raise SettingError(f"{name} must be a whole number of at least {low}, found {value!r}")
