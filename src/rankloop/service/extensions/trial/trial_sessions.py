"""Outcomes of a trial: what its sessions did, from the log.

A session counts once, with the mean over its lists: lists of one session are alike, and an interval that
took each for new evidence would be too narrow. It counts when nothing more can come of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from rankloop.evaluation import ConfidenceSequence, difference_sequence, mean_sequence, win_sequence
from rankloop.service.core.lists.list_seeds import visitor_key
from rankloop.service.core.ranker_settings import BaseRankerSettings
from rankloop.service.extensions.trial.part import TrialPart
from rankloop.service.extensions.trial.trial_state import Outcome, Trial
from rankloop.service.store import Event, ImpressionHead
from rankloop.types import BoolArray, FloatArray

UNDERSTOOD = ("accepted", "late", "ignored")  # events whose list is known, and their result was in it


@dataclass(slots=True)
class Session:
    """Lists of one visitor, from the first one on."""

    at: float
    arm: str
    lists: list[ImpressionHead] = field(default_factory=list)


@dataclass(frozen=True, slots=True, eq=False)
class Sessions:
    """The sessions of a trial that are over, in order, and how many are not."""

    at: FloatArray  # [n]
    second: BoolArray  # [n] in arm B
    scores: Mapping[Outcome, FloatArray]  # [n] mean over its lists; of interleaved ones, A minus B
    lists: int = 0
    waiting: int = 0

    def __len__(self) -> int:
        return len(self.at)


def sessions_of(
    trial: Trial,
    rules: BaseRankerSettings,
    lists: Iterable[ImpressionHead],
    events: Iterable[Event],
    *,
    now: float,
    without: Collection[str] = (),
) -> Sessions:
    """What became of the sessions that are over by now; `without` are events that were forgotten."""
    settings, wait = trial.settings, wait_of(trial, rules)
    found: dict[str, Session] = {}
    for each in lists:
        unit = visitor_key(each.session_id, each.client_id, each.query_id)
        session = found.setdefault(unit, Session(each.at, each.parts["trial"].arm))
        if each.at <= session.at + settings.session_seconds:
            session.lists.append(each)
    over = [each for each in found.values() if each.at + settings.session_seconds + wait <= now]
    done = _done((each for session in over for each in session.lists), events, wait, without)
    rows = [[_score(each, done[each.seq], trial, rules) for each in session.lists] for session in over]
    scores = {
        outcome: _means([[row[outcome] for row in lists] for lists in rows], most)
        for outcome, most in ((each, bound_of(trial, each)) for each in settings.outcomes)
    }
    return Sessions(
        at=np.array([each.at for each in over]),
        second=np.array([each.arm == "B" for each in over], dtype=np.bool_),
        scores=scores,
        lists=sum(map(len, rows)),
        waiting=len(found) - len(over),
    )


def sequence_of(
    trial: Trial, sessions: Sessions, outcome: Outcome, level: float
) -> tuple[ConfidenceSequence, FloatArray]:
    """The interval after each session that says something, and when each of them began.

    Of a holdout, how much more A gets than B. Of interleaved lists, with which probability A wins a session
    that somebody wins or, of values, how much more of a list is owed to A than to B.
    """
    scores, bound = sessions.scores[outcome], bound_of(trial, outcome)
    if trial.settings.kind == "holdout":
        share = trial.settings.share
        return (
            difference_sequence(scores, sessions.second, share=share, high=bound, level=level),
            sessions.at,
        )
    if outcome == "clicked":
        return win_sequence(wins_of(sessions), level=level), sessions.at[scores != 0]
    return mean_sequence(scores, low=-bound, high=bound, level=level), sessions.at


def wins_of(sessions: Sessions) -> BoolArray:
    """Whether A won each interleaved session that somebody won."""
    scores = sessions.scores["clicked"]
    won: BoolArray = scores[scores != 0] > 0
    return won


def bound_of(trial: Trial, outcome: Outcome) -> float:
    """The most that a list can get."""
    return trial.settings.value_bound if outcome == "value" else 1.0


def wait_of(trial: Trial, rules: BaseRankerSettings) -> float:
    """The seconds after a list in which what is done counts."""
    return rules.window if trial.settings.outcome_seconds is None else trial.settings.outcome_seconds


def _means(rows: Sequence[Sequence[float]], most: float) -> FloatArray:
    """The mean of each row; rounding must not lead beyond the bound."""
    return np.array([min(max(sum(row) / len(row), -most), most) for row in rows])


def _done(
    lists: Iterable[ImpressionHead], events: Iterable[Event], wait: float, without: Collection[str]
) -> dict[int, list[Event]]:
    """By list, what was done with its results in time."""
    shown = {each.seq: each for each in lists}
    found: dict[int, list[Event]] = {seq: [] for seq in shown}
    for event in events:
        each = shown.get(event.list_seq or 0)
        fits = event.verdict in UNDERSTOOD and event.event_id not in without
        if each is not None and fits and event.at <= each.at + wait and event.object_id in each.shown:
            found[each.seq].append(event)
    return found


def _score(
    each: ImpressionHead, events: Sequence[Event], trial: Trial, rules: BaseRankerSettings
) -> dict[Outcome, float]:
    """What became of a list; of an interleaved one, A's part of it minus B's."""
    positions = [each.shown.index(event.object_id) for event in events]
    actions: dict[int, set[str]] = {}
    values = np.zeros(len(each.shown))
    for position, event in zip(positions, events, strict=True):
        actions.setdefault(position, set()).add(event.action)
        if event.action == trial.settings.action:
            values[position] += 1.0 if event.value is None else event.value
    clicks = np.array([rules.clicked(actions.get(row, ())) for row in range(len(each.shown))], dtype=np.bool_)
    if trial.settings.kind == "interleave":
        return _owed(each, clicks, values, trial)
    return {
        "clicked": float(clicks.any()),
        "value": float(np.clip(values.sum(), 0.0, trial.settings.value_bound)),
    }


def _owed(each: ImpressionHead, clicks: BoolArray, values: FloatArray, trial: Trial) -> dict[Outcome, float]:
    """A's part of a list minus B's: 0 on average if nobody cares, so a sum is cut before it is shared."""
    part: TrialPart = each.parts["trial"]
    if not part.owners:  # a fallback is nobody's
        return {"clicked": 0.0, "value": 0.0}
    owners = np.array(part.owners)
    ahead = owners[0] - owners[1]
    return {
        "clicked": float(np.sign(ahead @ clicks)),
        "value": float(ahead @ _cut(values, trial.settings.value_bound)),
    }


def _cut(amounts: FloatArray, highest: float) -> FloatArray:
    """Amounts whose sum is cut to a bound, each by the same share.

    >>> _cut(np.array([30.0, 90.0]), 60.0).tolist()
    [15.0, 45.0]
    """
    kept = np.maximum(amounts, 0.0)
    total = float(kept.sum())
    return kept if total <= highest else kept * (highest / total)
