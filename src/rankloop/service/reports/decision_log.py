"""Decision log for people: who decided what, when and why; never a key, a hash, or whom it was about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from rankloop.errors import RequestError, suggest_name
from rankloop.service.store import Decision, Store

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
MOST_CHANGES = 3  # of settings that are named


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """Something that an operator decided."""

    seq: int
    at: float
    ranker: str  # empty: the service as a whole
    kind: str
    who: str  # the name of a key; empty: nobody said
    why: str
    what: str  # in words


def decided(
    store: Store, *, ranker: str | None = None, kind: str = "", who: str = "", last: int = 100
) -> list[Decided]:
    """What was decided, the newest first: about one ranker, or about all and the service as a whole."""
    if kind and kind not in KINDS:
        raise RequestError(f"no decision is of the kind {kind!r}: {suggest_name(kind, KINDS)}")
    former: dict[tuple[str, str], Decision] = {}
    pairs = []
    for each in store.read_decisions(ranker, kinds=(kind,) if kind else KINDS):
        pairs.append((each, former.get((each.ranker, each.kind))))
        former[each.ranker, each.kind] = each
    told = (in_words(*pair) for pair in reversed(pairs))
    return list(islice((each for each in told if who in ("", each.who)), last))


def in_words(decision: Decision, former: Decision | None = None) -> Decided:
    """A decision as people read it; with the `former` one of its kind, also what it changed."""
    body = decision.body
    return Decided(
        seq=decision.seq,
        at=decision.at,
        ranker=decision.ranker,
        kind=decision.kind,
        who=str(body.get("by", "")),
        why=str(body.get("reason", "")),
        what=_what(decision.kind, body, former.body if former else None),
    )


def _what(kind: str, body: Mapping[str, Any], former: Mapping[str, Any] | None) -> str:
    if kind == "key":
        acted = {"create": "was created", "rotate": "got new bits", "revoke": "was revoked"}[body["action"]]
        return f"the {body['scope']} key {body['name']} {acted}"
    if kind == "settings":
        said = settings_in_words(body["settings"], former["settings"] if former else None)
        return said + (", the log learned again" if body.get("relearn") else "")
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


def settings_in_words(after: Mapping[str, Any], before: Mapping[str, Any] | None) -> str:
    """What a change of settings is about.

    >>> settings_in_words({"window": 60, "fair": {"shares": "equal"}}, {"window": 30, "fair": None})
    'fair, window from 30 to 60'
    >>> settings_in_words({"window": 1_209_600.0}, {"window": 0.25})
    'window from 0.25 to 1209600'
    >>> settings_in_words({"policy": "PDGD()"}, None)
    'settings with policy PDGD()'
    """
    if before is None:
        return f"settings with policy {after.get('policy', '?')}"
    changed = sorted(name for name in {*after, *before} if after.get(name) != before.get(name))
    told = [_changed(name, before.get(name), after.get(name)) for name in changed[:MOST_CHANGES]]
    more = len(changed) - len(told)
    return (", ".join(told) or "the same settings again") + (f" and {more} more settings" if more else "")


def _changed(name: str, before: object, after: object) -> str:
    """A setting that was changed; what is more than a number or a word only by its name."""
    plain = (str, int, float, bool)
    if not all(each is None or isinstance(each, plain) for each in (before, after)):
        return name
    one, other = (
        "none" if each is None else f"{each:.15g}" if isinstance(each, float) else each
        for each in (before, after)
    )
    return f"{name} from {one} to {other}"


def _deleted(body: Mapping[str, Any]) -> str:
    """What a deletion of people's data came to; of one ranker's part, that it was to learn anew."""
    if "lists" not in body:
        return f"learned anew from entry {body['first']:,} on, without what was deleted"
    return f"{body['lists']:,} lists and {body['events']:,} events were deleted on request"
