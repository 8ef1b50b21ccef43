"""Settings of a ranker: what can be decided about it, checked and tried out before it is in force."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final, Literal, Self, TypeAlias, get_args

import numpy as np

from rankloop.errors import RankloopError, SettingError, suggest_name
from rankloop.naming import given_settings, write_name
from rankloop.policies import CallerOrderPolicy, PairRank, Policy
from rankloop.policies.policy_names import POLICIES, PolicyKinds, read_policy
from rankloop.service.extensions.fair.settings import FairSettings
from rankloop.service.extensions.promise.settings import PromiseSettings
from rankloop.service.store import GradeScale
from rankloop.short_text import check_text
from rankloop.types import Feedback, Query, Signal

Mode: TypeAlias = Literal["explore", "exploit", "frozen", "passthrough", "shadow"]
Scaling: TypeAlias = Literal["query", "running"]
Reading: TypeAlias = Literal["implicit", "explicit"]  # what was looked at and not rated is a 0, or unknown

CALLER_ORDER: Final = "decent"  # how good the caller's own order is, where nobody says it
SOURCES = ("source_lists", "source_repeats")
MOST = 1e100  # beyond, sums are no numbers any more
MODES: tuple[Mode, ...] = get_args(Mode)
LEARNS: tuple[Mode, ...] = ("explore", "exploit", "shadow")


def check_mode(mode: str) -> None:
    """Refuse what is no mode."""
    if mode not in MODES:
        raise SettingError(f"no mode is called {mode!r}: {suggest_name(str(mode), MODES)}")


def default_policy() -> Policy:
    """What ranks if nobody says otherwise: it starts from the caller's own order."""
    return PairRank(caller_order=CALLER_ORDER)


def trusting(policy: Policy) -> Policy:
    """The policy, starting from the caller's own order if it can and nothing was said about that.

    A paper's settings, by name, are what the paper says and are left alone by those who read them.

    >>> trusting(PairRank()).caller_order, trusting(PairRank(caller_order=0)).caller_order
    ('decent', 0)
    """
    if not isinstance(policy, CallerOrderPolicy) or policy.caller_order is not None:
        return policy
    try:
        return replace(policy, caller_order=CALLER_ORDER)
    except SettingError:  # its other settings leave no room for an order
        return policy


@dataclass(frozen=True, kw_only=True, eq=False)
class RankerSettings:
    """A policy, and the rules under which it may rank and learn.

    >>> RankerSettings(window=60).window
    60
    """

    policy: Policy = field(default_factory=default_policy)
    scaling: Scaling = "query"  # of features: within each list, or by what was learned so far
    window: float = 600.0  # seconds in which a list takes clicks
    actions: Mapping[str, float] = field(
        default_factory=lambda: {"click": 1.0}
    )  # how much of a click each is
    grades: Mapping[str, float] | None = None  # what a value of 1 of each action adds to a result's grade
    highest_grade: float = 1.0  # more is cut off
    reading: Reading = "implicit"  # of results that were not rated
    learn_late: bool = False  # whether clicks after the window teach, too
    max_displacement: int | None = None  # positions from where the caller put a result
    promise: PromiseSettings | None = None  # of clicks, against the caller's order; None: nothing is promised
    fair: FairSettings | None = None  # how exposure is shared between groups; None: it is not counted
    max_candidates: int = 1000
    max_features: int = 256
    max_open: int = 100_000  # lists with clicks that wait for their window to close
    snapshot_every: int = 200  # versions
    source_lists: int | None = 20  # lists that one address or client may teach by within `source_window`
    source_repeats: int | None = 5  # of them, how many by choosing the same object
    source_window: float = 86_400.0  # seconds

    def __post_init__(self) -> None:
        """Refuse rules that nobody could follow."""
        if self.scaling not in get_args(Scaling):
            raise SettingError(f"scaling must be query or running, found {self.scaling!r}")
        _number("window", self.window, low=0.0)
        for name in ("max_candidates", "max_features", "max_open", "snapshot_every"):
            _whole(name, getattr(self, name), low=1)
        _number("source_window", self.source_window, low=1.0)
        for name in ("max_displacement", *SOURCES):
            if getattr(self, name) is not None:
                _whole(name, getattr(self, name), low=0)
        if not isinstance(self.learn_late, bool):
            raise SettingError(f"learn_late must be true or false, found {self.learn_late!r}")
        actions: object = self.actions
        if not (isinstance(actions, Mapping) and actions):
            raise SettingError('actions must say how much of a click each one is, as in {"click": 1}')
        for action, weight in self.actions.items():
            _number(f"the weight of action {action!r}", weight, low=0.0)
        fair: object = self.fair
        if fair is not None and not isinstance(fair, FairSettings):
            raise SettingError(f"fair must be FairSettings or None, found {type(fair).__name__}")
        promise: object = self.promise
        if promise is not None and not isinstance(promise, PromiseSettings):
            raise SettingError(f"promise must be PromiseSettings or None, found {type(promise).__name__}")
        self._check_grades()

    def _check_grades(self) -> None:
        _number("highest_grade", self.highest_grade, low=1e-9, high=MOST)
        if self.reading not in get_args(Reading):
            raise SettingError(f"reading must be implicit or explicit, found {self.reading!r}")
        grades: object = self.grades
        if grades is not None and not (isinstance(grades, Mapping) and grades):
            raise SettingError('grades must say what each action adds, as in {"star": 1}, or be left out')
        for action, weight in (self.grades or {}).items():
            _number(f"the grade of action {action!r}", weight, low=-MOST, high=MOST)

    def to_json(self) -> dict[str, Any]:
        """As JSON, with every default."""
        plain = {each.name: getattr(self, each.name) for each in fields(self)}
        grades = None if self.grades is None else dict(self.grades)
        fair = None if self.fair is None else self.fair.to_json()
        promise = None if self.promise is None else self.promise.to_json()
        parts = {"actions": dict(self.actions), "grades": grades, "fair": fair, "promise": promise}
        return plain | {"policy": write_name(self.policy, defaults=True)} | parts

    @classmethod
    def from_json(cls, data: Mapping[str, Any], policy_kinds: PolicyKinds) -> Self:
        """Read settings from JSON; what is missing has its default."""
        names = [each.name for each in fields(cls)]
        for name in data:
            if name not in names:
                raise SettingError(f"a ranker has no setting {name!r}: {suggest_name(str(name), names)}")
        values = dict(data)
        if "policy" in values:
            values["policy"] = read_policy(values["policy"], policy_kinds)
        if values.get("fair") is not None:
            values["fair"] = FairSettings.from_json(values["fair"])
        if values.get("promise") is not None:
            values["promise"] = PromiseSettings.from_json(values["promise"])
        return cls(**values)

    def with_policy(self, policy: Policy) -> Self:
        """The same rules for another policy."""
        return replace(self, policy=policy)

    @property
    def unguarded(self) -> bool:
        """Whether no guardrail changes a list that was drawn."""
        return self.max_displacement is None

    @property
    def signal(self) -> Signal:
        """What the policy is taught: grades, if there are any and it accepts them, or else clicks."""
        return "grades" if self.grades and "grades" in self.policy.signals else "clicks"

    @property
    def grade_scale(self) -> GradeScale:
        """How what was done with a result adds up to its grade."""
        return GradeScale(weights=self.grades or {}, highest=self.highest_grade)

    def counts(self, action: str) -> bool:
        """Whether an action says anything: of a click, or of a grade, which may be 0.

        >>> rules = RankerSettings(actions={"click": 1, "hover": 0}, grades={"thumb": 1, "flag": 0})
        >>> [rules.counts(action) for action in ("click", "hover", "thumb", "flag", "zoom")]
        [True, False, True, True, False]
        """
        return bool(self.actions.get(action)) or action in (self.grades or {})

    def clicked(self, actions: Iterable[str]) -> bool:
        """Whether a result on which these were done counts as clicked: the weights add up to 1.

        >>> rules = RankerSettings(actions={"click": 1, "hover": 0.5, "zoom": 0.5})
        >>> rules.clicked({"hover"}), rules.clicked({"hover", "zoom"})
        (False, True)
        """
        return sum(self.actions.get(action, 0.0) for action in sorted(actions)) >= 1 - 1e-9


def settings_from_json(data: Mapping[str, Any], policy_kinds: PolicyKinds) -> RankerSettings:
    """Settings under which a policy can rank and learn; tried on a small list before anything is changed.

    A policy of which nobody says otherwise starts from the caller's own order, if it can.

    >>> from rankloop.policies.policy_names import POLICIES
    >>> settings_from_json({"window": 60}, POLICIES).window
    60
    >>> settings_from_json({"policy": "MGD(interleaving=5)"}, POLICIES)
    Traceback (most recent call last):
    ...
    rankloop.errors.SettingError: MGD: interleaving must be Probabilistic or TeamDraft, found 5
    """
    policy = data.get("policy", "PairRank()")
    for action in (*(data.get("actions") or ()), *(data.get("grades") or ())):
        check_text("an action", action)
    try:
        rules = RankerSettings.from_json(data, policy_kinds)
        if "caller_order" not in given_settings(policy) and "@" not in policy:
            rules = rules.with_policy(trusting(rules.policy))
        check_served(rules, policy_kinds)
        _try_out(rules)
    except RankloopError:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"[:200]
        raise SettingError(f"policy {policy} does not work with these settings: {reason}") from error
    return rules


def check_served(rules: RankerSettings, policy_kinds: PolicyKinds = POLICIES) -> None:
    """Refuse policies that a service cannot teach, or does not know by the name that its log keeps.

    Without `grades` it gives clicks; it counts no exposure.

    >>> from rankloop.policies import PDGD
    >>> check_served(RankerSettings(policy=PDGD()))
    """
    policy, kind = rules.policy, type(rules.policy)
    if rules.signal not in policy.signals:
        raise SettingError(
            f"{kind.__name__} learns from grades, and this ranker has only clicks: say in grades what each "
            'action adds to a grade, as in {"star": 1}, or choose a policy that learns from clicks'
        )
    if kind.refused_in_service:
        raise SettingError(f"{kind.__name__} cannot be served: it {kind.refused_in_service}")
    if kind.shown is not Policy.shown:
        raise SettingError(
            f"{kind.__name__} learns from lists that are shown, clicked or not, which the log of a service "
            "does not hold yet: choose a policy that learns from clicks alone"
        )
    if policy_kinds.get(kind.__name__) is not kind:
        raise SettingError(
            f"{kind.__name__} is no policy of this service: expected one of rankloop.policies, or one that "
            f"it was given, as in RankingService(policies=[{kind.__name__}])"
        )
    policy.check_installed()
    if rules.signal == "grades":
        try:
            _try_out(rules)
        except RankloopError as error:
            raise SettingError(f"{kind.__name__} cannot learn the grades of this ranker: {error}") from error


def _try_out(rules: RankerSettings) -> None:
    """Rank and learn once, on a copy."""
    pupil = copy.deepcopy(rules.policy)
    query = Query("trial", np.array([[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]]))
    ranking = pupil.rank(query, k=2, rng=np.random.default_rng(0))
    if rules.signal == "grades":
        graded = np.array([0.0, rules.highest_grade])
        pupil.learn(Feedback(ranking, graded, np.array([True, True]), signal="grades"))
    else:
        pupil.learn(Feedback(ranking, np.array([False, True])))
    pupil.score(query)


def _number(name: str, value: object, *, low: float, high: float = math.inf) -> None:
    fits = isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high
    if not fits or value == math.inf:
        limit = f"between {low:g} and {high:g}" if high < math.inf else f"of {low:g} or more"
        raise SettingError(f"{name} must be a number {limit}, found {value!r}")


def _whole(name: str, value: object, *, low: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < low:
        raise SettingError(f"{name} must be a whole number of at least {low}, found {value!r}")
