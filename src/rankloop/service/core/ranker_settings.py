"""Settings of a ranker: what can be decided about it, checked before it is in force."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Annotated, Any, Final, Literal, Self, TypeAlias, TypeVar, cast, get_args, get_type_hints

import msgspec
import numpy as np
from msgspec import Meta, structs

from rankloop.errors import RankloopError, SettingError, suggest_name
from rankloop.naming import given_settings, write_name
from rankloop.policies import CallerOrderPolicy, PairRank, Policy
from rankloop.policies.policy_names import POLICIES, PolicyKinds, read_policy, write_policy
from rankloop.service.core.grades import GradeSettings
from rankloop.service.core.settings_record import Settings, check_names, describe, read_settings
from rankloop.service.store import GradeScale
from rankloop.types import Feedback, Query, Signal

Mode: TypeAlias = Literal["explore", "exploit", "frozen", "passthrough", "shadow"]
Scaling: TypeAlias = Literal["query", "running"]
Weight: TypeAlias = Annotated[float, Meta(ge=0)]
S = TypeVar("S", bound=Settings)
R = TypeVar("R", bound="BaseRankerSettings")

CALLER_ORDER: Final = "decent"  # how good the caller's order is, where nothing else is said
DEFAULT_POLICY: Final = f"PairRank(caller_order={CALLER_ORDER!r})"
MODES: tuple[Mode, ...] = get_args(Mode)
LEARNS: tuple[Mode, ...] = ("explore", "exploit", "shadow")


def default_policy() -> Policy:
    """Make the policy of a ranker for which none was chosen: it starts from the caller's order.

    >>> repr(default_policy()) == repr(read_policy(DEFAULT_POLICY))
    True
    """
    return PairRank(caller_order=CALLER_ORDER)


def check_mode(mode: str) -> None:
    """Refuse what is no mode."""
    if mode not in MODES:
        raise SettingError(f"no mode is called {mode!r}: {suggest_name(str(mode), MODES)}")


class ClientLimit(Settings, frozen=True, kw_only=True):
    """How much one address or client may teach a ranker."""

    lists: Annotated[
        Annotated[int, Meta(ge=0)] | None,
        describe(
            "Lists per client",
            "Lists per address or client from which the ranker learns in one period; "
            "lower it against click fraud.",
            values={"null": "no limit"},
        ),
    ] = 20
    repeats: Annotated[
        Annotated[int, Meta(ge=0)] | None,
        describe(
            "Repeats per client",
            "Clicks on the same result that count per address or client; "
            "lower it against sellers who click their own products.",
            values={"null": "no limit"},
        ),
    ] = 5
    seconds: Annotated[
        float,
        Meta(ge=1),
        describe("Limit period", "Period over which both limits count.", unit="seconds"),
    ] = 86_400.0


class BaseRankerSettings(Settings, frozen=True, kw_only=True):
    """A policy, and the rules under which it may rank and learn; extensions add a field each.

    The policy is a text of the one grammar; a policy is taken, too, and kept as its text. It is built when
    the settings come into force, so that settings can be read without its class.

    >>> from rankloop.policies import PairRank
    >>> BaseRankerSettings(policy=PairRank(prior=0.3), window=60).policy
    "PairRank(exploration='conservative', caller_order=None, ... prior=0.3, ...)"
    """

    policy: Annotated[
        str,
        describe(
            "Ranking policy",
            "Algorithm that ranks and learns; another kind of policy starts from zero unless you relearn.",
            group="Ranking method",
        ),
    ] = DEFAULT_POLICY
    scaling: Annotated[
        Scaling,
        describe(
            "Feature scaling",
            "How features become comparable; another choice starts from zero unless you relearn.",
            group="Ranking method",
            values={
                "query": "0 to 1 within each list, missing is 0",
                "running": "standard deviations from the mean of learned lists, missing is the mean",
            },
        ),
    ] = "query"
    window: Annotated[
        float,
        Meta(ge=0),
        describe(
            "Click window",
            "How long a list waits for clicks before the ranker learns from it; "
            "raise it if many clicks arrive late.",
            unit="seconds",
            group="What counts as a click",
        ),
    ] = 600.0
    actions: Annotated[
        Mapping[str, Weight],
        Meta(min_length=1),
        describe(
            "Action weights",
            "How much of a click each action is; "
            "a result counts as clicked when its distinct actions add up to 1.",
            group="What counts as a click",
            values={"0 or missing": "ignored, unless `grades` names the action"},
        ),
    ] = msgspec.field(default_factory=lambda: {"click": 1.0})
    grades: Annotated[GradeSettings | None, GradeSettings.about] = None
    learn_late: Annotated[
        bool,
        describe(
            "Learn late clicks",
            "Also learns from clicks after the window; turn it on if shoppers often return later.",
            group="What counts as a click",
            values={"on": "the ranker learns from late clicks", "off": "it only counts them"},
        ),
    ] = False
    max_candidates: Annotated[
        int,
        Meta(ge=1),
        describe(
            "Maximum candidates",
            "Refuses requests with more candidates; raise it if your search returns more.",
            unit="per request",
            group="Limits",
        ),
    ] = 1000
    max_features: Annotated[
        int,
        Meta(ge=1),
        describe(
            "Maximum features",
            "Refuses a new feature name beyond this number; raise it if you need more names.",
            unit="names (candidates and context each)",
            group="Limits",
        ),
    ] = 256
    client_limit: Annotated[
        ClientLimit,
        describe(
            "Limit per client",
            "How much one address or client may teach the ranker.",
            group="Who may teach",
        ),
    ] = ClientLimit()

    def __post_init__(self) -> None:
        """Keep a policy as its text, and refuse values that a field does not take."""
        policy: object = self.policy
        if isinstance(policy, Policy):
            _check_is_for_services(type(policy))
            structs.force_setattr(self, "policy", write_policy(policy, defaults=True))
        super().__post_init__()

    def check(self) -> None:
        """Refuse names of actions that no store can keep."""
        check_names("actions", self.actions)

    def of(self, kind: type[S]) -> S | None:
        """Find the settings of an extension; None if it is off, or this service does without it."""
        name = _extension_fields(type(self)).get(kind)
        found: S | None = None if name is None else getattr(self, name)
        return found

    def extension(self, name: str) -> Any:
        """Find the settings of an extension by its name, without its type; None as in `of`."""
        return getattr(self, name, None)

    def with_policy(self, policy: Policy | str) -> Self:
        """The same settings for another policy."""
        return structs.replace(self, policy=policy)

    def to_log(self) -> dict[str, Any]:
        """As JSON for the log, with every default; extensions that are off are left out.

        So a service that does without an extension can read the log of one that has it, and does not use it.
        """
        own = BaseRankerSettings.__struct_fields__
        return {name: value for name, value in self.to_json().items() if name in own or value is not None}

    @property
    def grade_scale(self) -> GradeScale:
        """How what was done with a result adds up to its grade."""
        return GradeScale(weights={}) if self.grades is None else self.grades.scale

    def counts(self, action: str) -> bool:
        """Whether an action says anything: of a click, or of a grade, which may be 0.

        >>> grades = GradeSettings(weights={"thumb": 1, "flag": 0})
        >>> settings = BaseRankerSettings(actions={"click": 1, "hover": 0}, grades=grades)
        >>> [settings.counts(action) for action in ("click", "hover", "thumb", "flag", "zoom")]
        [True, False, True, True, False]
        """
        return bool(self.actions.get(action)) or (self.grades is not None and action in self.grades.weights)

    def clicked(self, actions: Iterable[str]) -> bool:
        """Whether a result on which these were done counts as clicked: the weights add up to 1.

        >>> settings = BaseRankerSettings(actions={"click": 1, "hover": 0.5, "zoom": 0.5})
        >>> settings.clicked({"hover"}), settings.clicked({"hover", "zoom"})
        (False, True)
        """
        return sum(self.actions.get(action, 0.0) for action in sorted(actions)) >= 1 - 1e-9


@cache
def define_settings(kinds: tuple[tuple[str, type[Settings]], ...]) -> type[BaseRankerSettings]:
    """Define the settings of a ranker whose service has some extensions, by name: None is off.

    Equal extensions give the same type.
    """
    fields = [(name, Annotated[kind | None, kind.about], None) for name, kind in kinds]  # type: ignore[attr-defined]
    made = msgspec.defstruct("RankerSettings", fields, bases=(BaseRankerSettings,), frozen=True, kw_only=True)
    return cast(type[BaseRankerSettings], made)


@cache
def _extension_fields(kind: type[BaseRankerSettings]) -> Mapping[type[Settings], str]:
    own = BaseRankerSettings.__struct_fields__
    hints = get_type_hints(kind)
    return {get_args(hints[name])[0]: name for name in kind.__struct_fields__ if name not in own}


# The policy of settings


def build_policy(text: str, policy_kinds: PolicyKinds = POLICIES) -> Policy:
    """Build the policy that settings name, of those a service has.

    A class of one's own may be named by where it is, `shop.ranking.Mine()`: it is the one that the service
    was given, and no other one of that name.
    """
    address, opened, settings = text.partition("(")
    module, _, name = address.strip().rpartition(".")
    if not module:
        return read_policy(text, policy_kinds)
    kind = policy_kinds.get(name)
    if kind is None or f"{kind.__module__}.{kind.__name__}" != address.strip():
        raise SettingError(
            f"{name} is not a policy of this service: expected one of rankloop.policies, or one that "
            f"it was given, as in RankingService(policies=[{name}])"
        )
    return read_policy(f"{name}{opened}{settings}", policy_kinds)


def complete_settings(settings: R, policy_kinds: PolicyKinds = POLICIES) -> R:
    """Write out the policy of settings with all its settings, as the log keeps it.

    A policy that was given as a text without them starts from the caller's order, if it can. A paper's
    settings, by name, are what the paper says and are left alone.

    >>> from rankloop.policies import PairRank
    >>> read_policy(complete_settings(BaseRankerSettings(policy="PairRank()")).policy).caller_order
    'decent'
    >>> read_policy(complete_settings(BaseRankerSettings(policy=PairRank())).policy).caller_order
    """
    policy = build_policy(settings.policy, policy_kinds)
    if "caller_order" not in given_settings(settings.policy) and "@" not in settings.policy:
        policy = trusting(policy)
    return structs.replace(settings, policy=write_name(policy, defaults=True))


def trusting(policy: Policy) -> Policy:
    """The policy, starting from the caller's order if it can and nothing was said about that.

    >>> from rankloop.policies import PairRank
    >>> trusting(PairRank()).caller_order, trusting(PairRank(caller_order=0)).caller_order
    ('decent', 0)
    """
    if not isinstance(policy, CallerOrderPolicy) or policy.caller_order is not None:
        return policy
    try:
        return replace(policy, caller_order=CALLER_ORDER)
    except SettingError:  # its other settings leave no room for an order
        return policy


def find_signal(settings: BaseRankerSettings, policy: Policy) -> Signal:
    """Say what a policy is taught: grades, if there are any and it accepts them, or else clicks."""
    return "grades" if settings.grades is not None and "grades" in policy.signals else "clicks"


def parse_settings(data: object, kind: type[R], policy_kinds: PolicyKinds) -> R:
    """Read settings under which a policy can rank and learn, which is tried on a small list.

    >>> parse_settings({"window": 60}, BaseRankerSettings, POLICIES).window
    60.0
    >>> parse_settings({"policy": "MGD(interleaving=5)"}, BaseRankerSettings, POLICIES)
    Traceback (most recent call last):
    ...
    rankloop.errors.SettingError: MGD: interleaving must be Probabilistic or TeamDraft, found 5
    """
    settings = complete_settings(read_settings(kind, data), policy_kinds)
    check_policy_can_serve(settings, policy_kinds)
    try:
        try_policy(settings, policy_kinds)
    except RankloopError:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"[:200]
        raise SettingError(f"policy {settings.policy} does not work with these settings: {reason}") from error
    return settings


def check_policy_can_serve(settings: BaseRankerSettings, policy_kinds: PolicyKinds = POLICIES) -> None:
    """Refuse policies that a service cannot teach, or does not know by the name that its log keeps.

    Without `grades` it gives clicks; it counts no exposure.

    >>> from rankloop.policies import PDGD
    >>> check_policy_can_serve(BaseRankerSettings(policy=PDGD()))
    """
    policy = build_policy(settings.policy, policy_kinds)
    kind, signal = type(policy), find_signal(settings, policy)
    if signal not in policy.signals:
        raise SettingError(
            f"{kind.__name__} learns from grades, and this ranker has only clicks: say in grades what each "
            'action adds to a grade, as in {"weights": {"star": 1}}, or choose a policy that learns from '
            "clicks"
        )
    _check_is_for_services(kind)
    if kind.shown is not Policy.shown:
        raise SettingError(
            f"{kind.__name__} learns from lists that are shown, clicked or not, which the log of a service "
            "does not hold yet: choose a policy that learns from clicks alone"
        )
    policy.check_installed()
    if signal == "grades":
        try:
            try_policy(settings, policy_kinds)
        except RankloopError as error:
            raise SettingError(f"{kind.__name__} cannot learn the grades of this ranker: {error}") from error


def _check_is_for_services(kind: type[Policy]) -> None:
    if kind.refused_in_service:
        raise SettingError(f"{kind.__name__} cannot be served: it {kind.refused_in_service}")


def try_policy(settings: BaseRankerSettings, policy_kinds: PolicyKinds = POLICIES) -> None:
    """Rank and learn once by the policy of settings, on a small list."""
    pupil = build_policy(settings.policy, policy_kinds)
    query = Query("trial", np.array([[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]]))
    ranking = pupil.rank(query, k=2, rng=np.random.default_rng(0))
    if settings.grades is not None and find_signal(settings, pupil) == "grades":
        graded = np.array([0.0, settings.grades.highest])
        pupil.learn(Feedback(ranking, graded, np.array([True, True]), signal="grades"))
    else:
        pupil.learn(Feedback(ranking, np.array([False, True])))
    pupil.score(query)
