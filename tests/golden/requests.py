"""What the golden records of the service ask for, in values of our own, and the covers that carry it out.

The first half holds no name of rankloop: requests, rankers and what came of them are plain numbers, and
every id is a number. The second half is the only place where today's names stand. Whoever renames, moves or
splits something in the service edits the second half, and no record.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankloop.candidate import Candidate
from rankloop.learning.certainty import Width
from rankloop.naming import write_name
from rankloop.policies import (
    DBGD,
    MGD,
    NSGD,
    PDGD,
    AdLogistic,
    AUCRanker,
    EpsilonGreedy,
    LinUCB,
    ListNet,
    Minimax,
    OlLambdaRank,
    OlRankNet,
    P2NeurRank,
    PairRank,
    PePairRank,
    Policy,
    Race,
    Random,
    RankNet,
    RTopK,
    RTopKItems,
    Slam,
    SquareCB,
    ThompsonItems,
    ThompsonLogistic,
    UCBItems,
)
from rankloop.scorers import MLP
from rankloop.service import (
    ClientLimit,
    GradeSettings,
    GuardrailSettings,
    RankerSettings,
    RankRequest,
    RankResponse,
    TrialSettings,
    columns,
)
from rankloop.service.core.configuration import Configuration
from rankloop.service.core.feature_schema import FeatureSchema
from rankloop.service.core.lists.list_inputs import prepare_inputs
from rankloop.service.core.lists.make_list import MadeList
from rankloop.service.core.lists.make_list import make_list as make_one
from rankloop.service.core.lists.rank_request import context_by_column
from rankloop.service.core.model import Model, asker_of, width_of
from rankloop.service.core.scaling import scale_of
from rankloop.service.core.view import View
from rankloop.service.extensions.fair.fair_account import FairAccount
from rankloop.service.extensions.fair.part import FairPart
from rankloop.service.extensions.fair.settings import FairSettings
from rankloop.service.extensions.promise.part import PromisePart
from rankloop.service.extensions.promise.settings import PromiseSettings
from rankloop.service.extensions.registry import load_registry
from rankloop.service.extensions.trial.arm_b import Opponent
from rankloop.service.extensions.trial.extension import RunningTrial
from rankloop.service.extensions.trial.trial_state import Trial
from rankloop.service.store import Impression
from rankloop.types import Feedback

Floats: TypeAlias = NDArray[np.float64]
Mode: TypeAlias = Literal["learning", "best", "frozen", "caller", "shadow"]
Certainty: TypeAlias = Literal["none", "leaning", "likely", "settled"]

MODES: tuple[Mode, ...] = ("learning", "best", "frozen", "caller", "shadow")
RANKING_MODES: tuple[Mode, ...] = ("learning", "best", "frozen")  # in which lists are the ranker's
VIEW = 1_000_000  # views are counted in millionths
WIDTH = 5  # features that a taught learner knows


# What is asked for, in numbers


@dataclass(frozen=True)
class Row:
    """A candidate: its number, its features by column (None: sent and missing), its pin and its group."""

    id: int
    values: Mapping[int, float | None] = field(default_factory=dict)
    pin: int = 0  # a position from 1; 0: free
    group: int = 0  # 0: none


@dataclass(frozen=True)
class Asked:
    """A request; None is left out."""

    number: int
    rows: tuple[Row, ...]
    k: int = 10
    words: int | None = None  # the query, as one of a few
    client: int | None = None
    session: int | None = None
    user: int | None = None
    context: Mapping[int, float | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Sharing:
    """How groups share views."""

    shares: Literal["candidates", "equal"] | Mapping[int, float] = "candidates"
    floors: Mapping[int, float] = field(default_factory=dict)
    tolerance: float = 5.0
    cap: float = 50.0
    examination: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Promising:
    """What is promised of the caller's clicks."""

    share: float = 0.9
    confidence: float = 0.9
    compared: float = 0.3  # share of free searches in the caller's order
    allowed: float = 5.0  # clicks that may be lost


@dataclass(frozen=True)
class Comparing:
    """A trial: against the caller's order, or a learner (as another policy) or another ranker."""

    mixed: bool = False  # interleaved; otherwise a share gets arm B
    share: float = 0.5
    learner: str = ""
    ranker: str = ""
    seconds: float | None = None  # in which an outcome counts
    worth: str = ""  # an action whose value decides
    most: float = 0.0


@dataclass(frozen=True)
class World:
    """A ranker as decided: what learns, in which mode, by which rules."""

    learner: str
    mode: Mode = "learning"
    scaling: Literal["query", "running"] = "query"
    displacement: int | None = None
    sharing: Sharing | None = None
    promise: Promising | None = None
    window: float = 60.0
    actions: Mapping[str, float] = field(default_factory=lambda: {"click": 1.0})
    grades: Mapping[str, float] | None = None
    top_grade: float = 1.0
    unrated_is_zero: bool = True
    learn_late: bool = False


@dataclass(frozen=True)
class Given:
    """What a list depends on besides its request and what was decided and learned."""

    seed: int = 0
    failed: bool = False
    width: int = WIDTH  # features in the schema
    ahead: Mapping[int, int] = field(default_factory=dict)  # millionths of a view, by group
    now_ahead: Mapping[int, int] | None = None  # where that differs from what the list is held to
    arm: int | None = None  # under a promise: 0 caller, 1 comparison, 2 policy
    trial: tuple[int, Comparing] | None = None  # its number


@dataclass(frozen=True)
class Act:
    """Something a user did: with which list, which candidate, and when it was sent."""

    list: int
    id: int
    action: str = "click"
    value: float | None = None
    number: int = 0  # two acts of one number are one


@dataclass(frozen=True, kw_only=True)
class Made:
    """A list as numbers. Parts of the extensions are None where there is none."""

    order: list[int]  # rows of the request
    scores: list[float]
    certainty: list[list[float | None]]  # by result: level from 0 to 2, probability, whether it may be tried
    pairs: list[int | None]  # of shown results; of them, settled
    explored: list[float]  # pairs against the scores, and what they cost
    flags: list[bool]  # it teaches; it is the caller's order after a fault; each result is pinned
    evidence: list[Any]  # arrays, in the order in which the policy declares them
    fair: list[Any] | None
    trial: list[Any] | None
    promise: list[Any] | None


# Today's names

LEARNERS: Mapping[str, Callable[[], Policy]] = {
    "pair": lambda: PairRank(caller_order="decent"),
    "pair plain": PairRank,
    "pair paper": lambda: PairRank(
        pairing="adjacent", update="exact", regularisation=0.01, certainty=Width(0.01)
    ),
    "pair perturbed": PePairRank,
    "net perturbed": lambda: P2NeurRank(scorer=MLP(8), learning_rate=0.01),
    "net": lambda: OlRankNet(scorer=MLP(8), learning_rate=0.01),
    "net lambda": lambda: OlLambdaRank(scorer=MLP(8), learning_rate=0.01),
    "race": Race,
    "logistic": RankNet,
    "greedy": EpsilonGreedy,
    "draw": PDGD,
    "draw trusting": lambda: PDGD(caller_order="decent"),
    "draw net": lambda: PDGD(scorer=MLP(8)),
    "duel": DBGD,
    "multi": MGD,
    "null space": NSGD,
    "list": ListNet,
    "minimax": Minimax,
    "top": RTopK,
    "slam": Slam,
    "coin": Random,
    "items top": RTopKItems,
    "items thompson": ThompsonItems,
    "items bound": UCBItems,
    "ad bound": LinUCB,
    "ad thompson": ThompsonLogistic,
    "ad inverse gap": SquareCB,
    "ad logistic": AdLogistic,
    "ad auc": AUCRanker,
}
ITEM_LEARNERS = ("items top", "items thompson", "items bound")
AD_LEARNERS = ("ad bound", "ad thompson", "ad inverse gap", "ad logistic", "ad auc")
MODE_NAMES: Mapping[Mode, Any] = dict(
    zip(MODES, ("explore", "exploit", "frozen", "passthrough", "shadow"), strict=True)
)
ARMS = ("held", "owned", "learned")
TRIAL_ARMS = ("A", "B", "AB")
LEVELS = ("leaning", "likely", "settled")
STARTED = 5  # the entry with which an account or a promise began


def word(prefix: str, number: int | None) -> str:
    """An id of a number; empty for none."""
    return "" if number is None else f"{prefix}{number}"


def rank_request(asked: Asked, ranker: str = "shop") -> RankRequest:
    """Write a request as today's objects."""
    return RankRequest(
        ranker=ranker,
        candidates=columns(
            [
                Candidate(
                    f"d{row.id}",
                    {f"f{column}": value for column, value in row.values.items()},
                    row.pin or None,
                    word("g", row.group or None),
                )
                for row in asked.rows
            ]
        ),
        k=asked.k,
        user_query=word("words ", asked.words),
        client_id=word("c", asked.client),
        session_id=word("s", asked.session),
        query_id=f"q{asked.number}",
        user=word("u", asked.user),
        context={f"x{column}": value for column, value in asked.context.items()},
    )


def ranker_settings(world: World) -> RankerSettings:
    """Write what was decided as today's settings."""
    fair, promise = world.sharing, world.promise
    policy = LEARNERS[world.learner]()
    if isinstance(policy, ThompsonItems):
        policy.top_grade = world.top_grade
    return RankerSettings(
        policy=policy,
        scaling=world.scaling,
        window=world.window,
        actions=world.actions,
        grades=None
        if world.grades is None
        else GradeSettings(
            weights=world.grades,
            highest=world.top_grade,
            unrated="zero" if world.unrated_is_zero else "unknown",
        ),
        learn_late=world.learn_late,
        guardrails=GuardrailSettings(max_displacement=world.displacement),
        client_limit=ClientLimit(lists=None, repeats=None),
        fair=None if fair is None else fair_settings(fair),
        promise=None
        if promise is None
        else PromiseSettings(
            share=promise.share,
            confidence=promise.confidence,
            comparison_share=promise.compared,
            allowed_loss=promise.allowed,
        ),
    )


def fair_settings(sharing: Sharing) -> FairSettings:
    """Write fair exposure as today's settings."""
    return FairSettings(
        shares=sharing.shares if isinstance(sharing.shares, str) else by_group(sharing.shares),
        at_least=by_group(sharing.floors),
        tolerance=sharing.tolerance,
        cap=sharing.cap,
        examination=sharing.examination,
    )


def trial_settings(comparing: Comparing) -> TrialSettings:
    """Write a trial as today's settings."""
    policy = write_name(LEARNERS[comparing.learner]()) if comparing.learner else None
    return TrialSettings(
        kind="interleave" if comparing.mixed else "holdout",
        share=comparing.share,
        policy=policy,
        ranker=comparing.ranker,
        outcome_seconds=comparing.seconds,
        action=comparing.worth,
        max_value=comparing.most or None,
    )


def by_group(values: Mapping[int, Any]) -> dict[str, Any]:
    """Values by the group's name; 0 are the others."""
    return {f"g{group}" if group else "others": value for group, value in values.items()}


# One list, made by a pure function


def make_list(world: World, asked: Asked, given: Given) -> Made:
    """Make the list of a request, and read it as numbers."""
    made = make_draft(world, asked, given)
    return numbers_of(made.response, made.impression)


def make_draft(world: World, asked: Asked, given: Given) -> MadeList:
    """Make the list of a request by a learner that was taught beforehand."""
    request = rank_request(asked)
    schema = {f"f{column}": column for column in range(given.width)}
    asking = {f"x{column}": column for column in range(2)}
    running = trial = account = None
    if given.trial is not None:
        number, comparing = given.trial
        trial = Trial(number=number, at=0.0, settings=trial_settings(comparing), rules=1)
        arm_b = Opponent(number, taught(comparing.learner) if comparing.learner else None)
        running = RunningTrial(trial, lambda: arm_b)
    states = {
        "promise": STARTED if world.promise else None,
        "trial": trial,
        "fair": STARTED if world.sharing else None,
    }
    configuration = Configuration(
        settings=ranker_settings(world),
        settings_version=1,
        mode=MODE_NAMES[world.mode],
        schema=FeatureSchema(schema, tuple(schema)),
        context_schema=FeatureSchema(asking, tuple(asking)),
        extension_states=states,
    )
    promised = None
    if given.arm is not None:
        promised = PromisePart(promise=STARTED, arm=ARMS[given.arm], search=f"q{asked.number}")  # type: ignore[arg-type]
    if world.sharing is not None:
        now = given.ahead if given.now_ahead is None else given.now_ahead
        account = FairAccount(
            settings=fair_settings(world.sharing),
            number=STARTED,
            ahead=by_group(given.ahead),
            current=by_group(now),
        )
    inputs = prepare_inputs(
        View(configuration=configuration, model=taught(world.learner)),
        request,
        request.candidates.by_column(schema, given.width),
        query_id=f"q{asked.number}",
        seed=given.seed,
        fallback="it failed" if given.failed else "",
        context=context_by_column(request.context, asking),
    )
    to_extensions = {"promise": promised, "trial": running, "fair": account}
    return make_one(inputs, to_extensions, load_registry().extensions, at=1000.0)


@cache
def taught(learner: str) -> Model:
    """Teach a learner forty lists, of users who like the second feature."""
    rng = np.random.default_rng(11)
    model = Model(version=7, policy=LEARNERS[learner](), scale=scale_of("query"))
    for number in range(40):
        raw, context = rng.random((8, WIDTH)), asker_of(f"u{number % 5}", rng.random(2))
        names = [f"d{each}" for each in rng.permutation(20)[:8].tolist()]
        groups = ["g1", "g2"] * 4
        pupil = copy.deepcopy(model.policy)
        policy, query = replace(model, policy=pupil).asked(f"lesson {number}", raw, names, groups, context)
        ranking = policy.rank(query, k=6, rng=np.random.default_rng(number))
        best = int(raw[ranking.order, 1].argmax()) if rng.random() < 0.8 else int(rng.integers(6))
        policy.learn(Feedback(ranking, np.arange(len(ranking.order)) == best))
        model = replace(model, policy=policy, lists=number + 1, width=width_of(policy, query))
    return model


def numbers_of(response: RankResponse, shown: Impression) -> Made:
    """Read a list as numbers."""
    exposure, trial, promised = (shown.parts.get(name) for name in ("fair", "trial", "promise"))
    rows = {name: row for row, name in enumerate(shown.object_ids)}
    results = response.ranking
    assert [rows[each.object_id] for each in results] == shown.order.tolist()
    return Made(
        order=shown.order.tolist(),
        scores=[each.score for each in results],
        certainty=[
            [None if each.certainty is None else LEVELS.index(each.certainty), each.probability, each.open]
            for each in results
        ],
        pairs=[shown.pairs, shown.settled],
        explored=[shown.explored, shown.cost],
        flags=[shown.teaches, bool(shown.fallback), *(each.pinned for each in results)],
        evidence=list(shown.evidence.values()),
        fair=None if exposure is None else fair_numbers(exposure),
        trial=None if trial is None else [TRIAL_ARMS.index(trial.arm), trial.owners],
        promise=None if promised is None else [ARMS.index(promised.arm), int(promised.search[1:])],
    )


def fair_numbers(part: FairPart) -> list[Any]:
    """Read what a list gave to its groups: by group, by position, and of the list."""
    return [
        [0 if name == "others" else int(name[1:]) for name in part.groups],
        part.candidates,
        part.ahead,
        part.due,
        part.granted,
        part.lapsed,
        part.shown,
        part.turned,
        part.violated,
        part.within,
    ]
