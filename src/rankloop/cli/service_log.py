"""Logged rounds of a service: its lists of one ad, with their propensities and clicks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rankloop.errors import DataError
from rankloop.lab.data.logged_rounds import LoggedRounds
from rankloop.policies import AdPolicy
from rankloop.policies.policy_names import POLICIES
from rankloop.types import BoolArray, FloatArray

if TYPE_CHECKING:
    from rankloop.service.core.ranker_settings import BaseRankerSettings
    from rankloop.service.service_facade import ServiceFacade
    from rankloop.service.store import Impression, Store

PINNED, FAIR, GUARDED = "with pins", "under fair exposure", "under guardrails"
TRIED = "by the other arm of a trial"
PROMISED = "in the caller's order, for the promise"
REPEATED = "drawn before"


@dataclass(frozen=True, slots=True, eq=False)
class ServiceLog:
    """The rounds of a ranker, and how many lists are none, by the reason."""

    rounds: LoggedRounds
    left_out: Mapping[str, int]


def log_in(data_dir: Path, ranker: str) -> ServiceLog:
    """The log in the folder of a service that is not running."""
    from rankloop.service.operations.data_directory import DataDirectory  # noqa: PLC0415
    from rankloop.service.service_facade import ServiceFacade  # noqa: PLC0415

    with DataDirectory(data_dir).open() as store:
        return log_of(ServiceFacade(store), ranker)


def log_of(service: ServiceFacade, ranker: str) -> ServiceLog:
    """The lists of one result that a policy drew and that were shown so, once their windows have closed.

    Whoever asks again gets what was drawn before: a draw counts once.
    """
    from rankloop.service.core.lists.list_seeds import visitor_key  # noqa: PLC0415
    from rankloop.service.reports.policy_evaluation import unguarded_versions  # noqa: PLC0415

    rules, store = service.settings(ranker), service.store
    closed, unguarded = store.time(service.clock()) - rules.window, unguarded_versions(store, ranker)
    lists: list[Impression] = []
    left_out: Counter[str] = Counter()
    drawn: set[tuple[str, str]] = set()
    for each in store.read_impressions(ranker):
        if each.at <= closed and _one_ad(each):
            draw = visitor_key(each.session_id, each.client_id, each.query_id), each.user_query
            if reason := _changed(each, unguarded) or (REPEATED if draw in drawn else ""):
                left_out[reason] += 1
            else:
                drawn.add(draw)
                lists.append(each)
    if not lists:
        raise DataError(_nothing(ranker, left_out))
    return ServiceLog(_rounds(lists, rules, store, ranker), left_out)


def told(left_out: Mapping[str, int]) -> str:
    """How many lists were left out and why, in words.

    >>> told({PINNED: 1, FAIR: 1200})
    '1 with pins, 1,200 under fair exposure'
    """
    return ", ".join(f"{count:,} {reason}" for reason, count in left_out.items())


def _rounds(lists: list[Impression], rules: BaseRankerSettings, store: Store, ranker: str) -> LoggedRounds:
    done: dict[str, dict[str, float | None]] = {}
    for event in store.read_events(ranker):
        if event.verdict == "accepted":
            done.setdefault(event.query_id, {})[event.action] = event.value
    ads = tuple(dict.fromkeys(name for each in lists for name in each.object_ids))
    chances, offered = _chances(lists, ads)
    shown = np.array([ads.index(each.shown[0]) for each in lists])
    rewards = [float(rules.clicked(done.get(each.query_id, {}))) for each in lists]
    mine = chances[np.arange(len(lists)), shown]
    return LoggedRounds(_contexts(lists), ads, shown, np.array(rewards), mine, offered, chances)


def _one_ad(shown: Impression) -> bool:
    """Whether it is a list of one result by a policy for ads; what others do with one is no round."""
    one = shown.mode == "explore" and not shown.fallback and len(shown.order) == 1
    return one and ("propensities" in shown.evidence or shown.policy in _ad_policies())


@cache
def _ad_policies() -> frozenset[str]:
    return frozenset(name for name, kind in POLICIES.items() if issubclass(kind, AdPolicy))


def _changed(shown: Impression, unguarded: frozenset[int]) -> str:
    """Why what is shown may not be what was drawn; also of lists that stayed so, which are no fair sample."""
    exposure, trial, promise = (shown.parts.get(name) for name in ("fair", "trial", "promise"))
    if trial is not None and trial.arm != "A":
        return TRIED
    if promise is not None and promise.arm != "learned":
        return PROMISED
    if shown.pinned_at.any():
        return PINNED
    if exposure is not None and exposure.within is not None and len(exposure.groups) > 1:
        return FAIR
    return "" if shown.settings in unguarded else GUARDED


def _nothing(ranker: str, left_out: Mapping[str, int]) -> str:
    if left_out:
        return (
            f"ranker {ranker!r} has no closed list whose ad was surely shown as it was drawn: left out were "
            f"{told(left_out)}, whose propensities are not those of what was shown. Log without these"
        )
    return (
        f"ranker {ranker!r} has no closed list of one ad that a policy for ads drew: ask it for k = 1, "
        "under auc-ranker, squarecb or another of its kind"
    )


def _chances(lists: list[Impression], ads: tuple[str, ...]) -> tuple[FloatArray, BoolArray]:
    number = {name: column for column, name in enumerate(ads)}
    chances, offered = np.zeros((len(lists), len(ads))), np.zeros((len(lists), len(ads)), dtype=np.bool_)
    for row, each in enumerate(lists):
        columns = [number[name] for name in each.object_ids]
        chances[row, columns], offered[row, columns] = each.evidence["propensities"], True
    return chances, offered


def _contexts(lists: list[Impression]) -> FloatArray:
    """Features that came later were missing before, and what is missing is 0."""
    table = np.zeros((len(lists), max(each.context.size for each in lists)))
    for row, each in enumerate(lists):
        table[row, : each.context.size] = np.nan_to_num(each.context, nan=0.0)
    return table
