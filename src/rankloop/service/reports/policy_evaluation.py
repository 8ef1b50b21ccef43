"""What another policy would have got, from the lists of a ranker whose chances are known exactly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from rankloop.errors import DataError, RequestError, SettingError
from rankloop.evaluation import (
    Estimate,
    LoggedList,
    NextProbabilities,
    draw_probabilities,
    estimate_rewards,
    greedy_probabilities,
    weigh_lists,
)
from rankloop.naming import write_name
from rankloop.policies import Policy
from rankloop.service.core.configuration import Configuration
from rankloop.service.core.feature_schema import rename_columns
from rankloop.service.core.history import History
from rankloop.service.core.lists.list_seeds import visitor_key
from rankloop.service.core.model import Model, asker_of
from rankloop.service.core.ranker import Ranker
from rankloop.service.core.ranker_settings import BaseRankerSettings
from rankloop.service.store import Impression, Store
from rankloop.types import Query

Asking: TypeAlias = Callable[[Policy, Query], NextProbabilities]


@dataclass(frozen=True, slots=True)
class WhatIf:
    """Clicks per list on the first results: as it was, and as it would have been."""

    policy: str
    depth: int  # results from the top
    lists: int  # that it is judged by
    learned: int  # lists that the policy learned from, all of them before
    logged: float  # clicks per list as it was
    estimates: tuple[Estimate, ...]
    effective: float  # so many lists of its own would say as much
    left_out: Mapping[str, int]  # lists by the reason why they say nothing


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """The lists that can judge, each with the model that drew it, and those that cannot."""

    lists: list[Impression]
    left_out: Counter[str]


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """The policy that is asked about, as it was when the lists were shown that judge it."""

    name: str
    model: Model
    configuration: Configuration | None = None  # of another ranker, whose columns the model knows

    def asked(self, shown: Impression, own: Configuration) -> tuple[Policy, Query]:
        """The policy and the query of a list, as the policy sees it."""
        if self.configuration is None:
            return _asked(self.model, shown)
        ever = {name: column for column, name in enumerate(own.schema.names)}  # retired ones, too
        raw = rename_columns(shown.features, ever, self.configuration.schema.columns)
        context = rename_columns(
            shown.context[None], own.context_schema.columns, self.configuration.context_schema.columns
        )[0]
        return _asked(self.model, replace(shown, features=raw, context=context))


def one_target(policy: Policy | None, other: Ranker | None) -> Policy | Ranker:
    """What is asked about: a policy or another ranker, and not both."""
    found = [each for each in (policy, other) if each is not None]
    if len(found) != 1:
        raise RequestError("what if: name a policy, or another ranker, one of them")
    return found[0]


def what_if(
    ranker: Ranker,
    store: Store,
    target: Policy | Ranker,
    *,
    depth: int,
    share: float,
    explore: bool,
    level: float,
) -> WhatIf:
    """A policy learns from the first part of the log, and the rest judges it; another ranker, all of it."""
    if depth < 1:
        raise SettingError(f"depth must be a whole number of results, at least 1, found {depth!r}")
    if not 0 < share < 1:
        raise SettingError(f"share must leave lists for both parts, above 0 and below 1, found {share}")
    judged = usable(ranker, store, depth)
    cut = 0 if isinstance(target, Ranker) else round(share * len(judged.lists))
    if not judged.lists[cut:] or (cut == 0 and isinstance(target, Policy)):
        raise DataError(_nothing(ranker.name, judged))
    rest = judged.lists[cut:]
    asked = _target(ranker, target, rest[0].seq)
    asking = draw_probabilities if explore else greedy_probabilities
    log = weigh_lists(_logged(rest, ranker, store, asked, depth, asking))
    return WhatIf(
        policy=asked.name,
        depth=depth,
        lists=len(rest),
        learned=asked.model.lists,
        logged=log.logged,
        estimates=tuple(each for each in estimate_rewards(log, level) if not each.any_time),
        effective=log.effective,
        left_out=dict(judged.left_out),
    )


def _target(ranker: Ranker, target: Policy | Ranker, until: int) -> Target:
    if isinstance(target, Ranker):
        return Target(f"ranker {target.name}", target.view.model, target.view.configuration)
    history, name = ranker.history, type(target).__name__
    if history.policy_kinds.get(name) is not type(target):  # one's own, which the service was not given
        kinds = {**history.policy_kinds, name: type(target)}
        history = History(ranker.name, history.store, history.registry, kinds)
    wanted = ranker.settings.with_policy(target)
    fold = history.rebuild(history.spec(until - 1, settings=wanted), until - 1)
    return Target(write_name(target), fold.model)


def usable(ranker: Ranker, store: Store, depth: int) -> Judged:
    """The closed lists that were shown as a policy drew them, each draw once."""
    closed, unguarded = (
        store.time(ranker.now()) - ranker.settings.window,
        unguarded_versions(store, ranker.name),
    )
    found, left_out, seen = list[Impression](), Counter[str](), set[tuple[str, str]]()
    for each in store.read_impressions(ranker.name):
        key = visitor_key(each.session_id, each.client_id, each.query_id), each.user_query
        if reason := _unusable(each, closed, unguarded, depth) or ("drawn before" if key in seen else ""):
            left_out[reason] += 1
        else:
            seen.add(key)
            found.append(each)
    return Judged(found, left_out)


def clicked(store: Store, ranker: str, rules: BaseRankerSettings) -> dict[str, set[int]]:
    """By list, the positions that were clicked, from 1."""
    done: dict[tuple[str, int], set[str]] = {}
    for event in store.read_events(ranker):
        if event.verdict == "accepted" and event.position is not None:
            done.setdefault((event.query_id, event.position), set()).add(event.action)
    found: dict[str, set[int]] = {}
    for (query_id, position), actions in done.items():
        if rules.clicked(actions):
            found.setdefault(query_id, set()).add(position)
    return found


def _logged(
    lists: list[Impression], ranker: Ranker, store: Store, target: Target, depth: int, asking: Asking
) -> Iterator[LoggedList]:
    clicks, own = clicked(store, ranker.name, ranker.settings), ranker.view.configuration
    for each in lists:
        hits = clicks.get(each.query_id, set())
        policy, query = target.asked(each, own)
        yield LoggedList(
            each.order[:depth],
            np.array([float(position in hits) for position in range(1, depth + 1)]),
            draw_probabilities(*_asked(ranker.history.model(each.model), each)),
            asking(policy, query),
            policy.score(query),
        )


def _asked(model: Model, shown: Impression) -> tuple[Policy, Query]:
    asker = asker_of(shown.user, shown.context)
    return model.asked(shown.query_id, shown.features, shown.object_ids, shown.groups, asker)


def _unusable(shown: Impression, closed: float, unguarded: frozenset[int], depth: int) -> str:
    """Why a list says nothing about another policy."""
    exposure, trial, promise = (shown.parts.get(name) for name in ("fair", "trial", "promise"))
    reasons = {
        "not closed yet": shown.at > closed,
        "not explored": shown.mode != "explore" or bool(shown.fallback),
        "by the other arm of a trial": trial is not None and trial.arm != "A",
        "in the caller's order, for the promise": promise is not None and promise.arm != "learned",
        "with pins": bool(shown.pinned_at.any()),
        "under fair exposure": exposure is not None and exposure.within is not None,
        "under guardrails": shown.settings not in unguarded,
        "too short": len(shown.order) < depth,
    }
    return next((reason for reason, there in reasons.items() if there), "")


def unguarded_versions(store: Store, ranker: str) -> frozenset[int]:
    """The versions of settings without guardrails, whatever their policy is."""
    decisions = store.read_decisions(ranker, kinds=("settings",))
    guards = {each.seq: each.body["settings"].get("guardrails") or {} for each in decisions}
    return frozenset(seq for seq, guard in guards.items() if guard.get("max_displacement") is None)


def _nothing(ranker: str, judged: Judged) -> str:
    told = ", ".join(f"{count:,} {reason}" for reason, count in judged.left_out.items()) or "none"
    return (
        f"ranker {ranker!r} has {len(judged.lists)} closed lists that were shown as they were drawn, which "
        f"is too few for two parts; others say nothing: {told}"
    )
