"""Decision log for people: who decided what, when and why; never a key, a hash, or whom it was about."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from rankloop.service.errors import RequestError
from rankloop.service.texts import check_text
from rankloop.store import SERVICE, Decision, Store
from rankloop.types import suggestion

KINDS = (
    "settings",
    "mode",
    "rollback",
    "forget",
    "retire",
    "trial",
    "trial_stop",
    "retain",
    "key",
    "delete",
    "backup",
)
LONGEST_REASON = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """Something that an operator decided, or a guard of a ranker in their place."""

    seq: int
    at: float
    ranker: str  # empty: the service as a whole
    kind: str
    who: str  # the name of a key; empty: nobody said
    why: str
    what: str  # in words


def signed(by: str, reason: str) -> dict[str, str]:
    """Who and why, as a part of a decision's body; nothing where nothing is said.

    >>> signed("anna", "")
    {'by': 'anna'}
    """
    check_text("the reason", reason, empty=True, longest=LONGEST_REASON)
    return {name: said for name, said in (("by", by), ("reason", reason)) if said}


def decided(
    store: Store, *, ranker: str | None = None, kind: str = "", who: str = "", last: int = 100
) -> list[Decided]:
    """What was decided, the newest first: about one ranker, or about all and the service as a whole."""
    if kind and kind not in KINDS:
        raise RequestError(f"no decision is of the kind {kind!r}: {suggestion(kind, KINDS)}")
    names = (SERVICE, *store.rankers()) if ranker is None else (ranker,)
    kinds = (kind,) if kind else KINDS
    streams = (reversed(store.decisions(name, kind=each)) for name in names for each in kinds)
    merged: Iterable[Decision] = heapq.merge(*streams, key=lambda each: -each.seq)
    told = (in_words(each) for each in merged)
    return list(islice((each for each in told if who in ("", each.who)), last))


def in_words(decision: Decision) -> Decided:
    """A decision as people read it."""
    body = decision.body
    return Decided(
        seq=decision.seq,
        at=decision.at,
        ranker=decision.ranker,
        kind=decision.kind,
        who=str(body.get("by", "")),
        why=str(body.get("reason", "")),
        what=_what(decision.kind, body),
    )


def _what(kind: str, body: Mapping[str, Any]) -> str:
    if kind == "key":
        acted = {"create": "was created", "rotate": "got new bits", "revoke": "was revoked"}[body["action"]]
        return f"the {body['scope']} key {body['name']} {acted}"
    if kind == "settings":
        policy = body["settings"].get("policy") or {}
        name = policy.get("name", "?") if isinstance(policy, Mapping) else str(policy)
        return f"settings with policy {name}" + (", the log learned again" if body.get("relearn") else "")
    sentences = {
        "mode": lambda: f"mode {body['mode']}",
        "rollback": lambda: f"back to version {body['to']:,}",
        "forget": lambda: f"learned without {len(body.get('events', ())):,} events",
        "retire": lambda: f"without the features {', '.join(body['names'])}",
        "trial": lambda: f"a trial, {body['settings'].get('kind', 'holdout')}",
        "trial_stop": lambda: f"the end of trial {body['trial']:,}",
        "delete": lambda: _deleted(body),
        "backup": lambda: f"a backup, {body['file']}",
        "retain": lambda: f"the log begins at entry {body['base']:,}",
    }
    return sentences[kind]() if kind in sentences else kind


def _deleted(body: Mapping[str, Any]) -> str:
    """What a deletion of people's data came to; of one ranker's part, that it was to learn anew."""
    if "lists" not in body:
        return f"learned anew from entry {body['first']:,} on, without what was deleted"
    return f"{body['lists']:,} lists and {body['events']:,} events were deleted on request"
