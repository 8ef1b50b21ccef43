"""Reports of trials: what has come of each so far, from the log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any, Literal, TypeAlias

import msgspec
import numpy as np

from rankloop.service.core.ranker import Ranker
from rankloop.service.core.ranker_settings import BaseRankerSettings
from rankloop.service.core.settings_record import read_settings
from rankloop.service.extensions.settings import RankerSettings
from rankloop.service.extensions.trial.trial_sessions import (
    Sessions,
    bound_of,
    sequence_of,
    sessions_of,
    wait_of,
    wins_of,
)
from rankloop.service.extensions.trial.trial_state import Outcome, Trial, trial_after
from rankloop.service.extensions.trial.trial_words import sentence
from rankloop.service.service_errors import HistoryError
from rankloop.service.store import Decision, Store

TrialVerdict: TypeAlias = Literal["undecided", "A better", "B better"]
LEVEL = 0.95
PATIENCE = 60.0  # seconds: a trial is counted from the log
POINTS = 60  # of the interval over time


@dataclass(frozen=True, slots=True)
class OutcomeReport:
    """An outcome of a trial: an estimate, and between which bounds the truth is, whenever it is looked at."""

    outcome: Outcome
    sessions: int  # that say something about it
    a: float | None  # mean of arm A or, of interleaved lists, sessions that it won
    b: float | None
    estimate: float | None  # A minus B; of clicks on interleaved lists, the probability that A wins
    lower: float
    upper: float
    even: float  # what it is if neither is better

    @property
    def verdict(self) -> TrialVerdict:
        """Which arm is better, as far as the interval says."""
        if self.lower > self.even:
            return "A better"
        return "B better" if self.upper < self.even else "undecided"


@dataclass(frozen=True, slots=True)
class TrialPoint:
    """The interval when so many sessions had counted."""

    sessions: int
    at: float
    estimate: float
    lower: float
    upper: float


@dataclass(frozen=True, slots=True)
class TrialReport:
    """A trial, and what it has shown so far."""

    ranker: str
    trial: int
    settings: dict[str, Any]
    against: str
    began: float
    ended: float | None
    reason: str  # why it ended
    runs: bool
    complete: bool  # False: a part of its lists was discarded, and this is as it was when it was stopped
    lists: int  # of sessions that count
    sessions: dict[str, int]  # by arm
    waiting: int  # sessions that are not over yet
    level: float
    verdict: TrialVerdict
    sentence: str  # the same in words
    outcomes: tuple[OutcomeReport, ...]  # the first decides; the others are each for itself
    points: tuple[TrialPoint, ...] = ()  # of the outcome that decides


def reports(ranker: Ranker, store: Store) -> list[TrialReport]:
    """All trials of a ranker, the newest first."""
    return [report(ranker, store, each) for each in reversed(trials_of(store.read_decisions(ranker.name)))]


def numbered_report(ranker: Ranker, store: Store, number: int) -> TrialReport:
    """What has come of one trial."""
    trials = trials_of(store.read_decisions(ranker.name))
    found = next((each for each in trials if each.number == number), None)
    if found is None:
        raise HistoryError(f"ranker {ranker.name!r} had no trial {number}")
    return report(ranker, store, found)


def last_report(ranker: Ranker, store: Store) -> TrialReport | None:
    """What has come of the trial that runs, or of the last one."""
    last = ranker.view.configuration.extension_states.get("trial")
    return None if last is None else report(ranker, store, last)


class RecentReports:
    """Reports of the trials that run, each a minute old at most: for those who ask all the time."""

    def __init__(self) -> None:
        self._told: dict[str, tuple[float, TrialReport]] = {}  # by ranker: when, and what

    def report(self, ranker: Ranker, store: Store) -> TrialReport | None:
        """What had come of the trial that runs, a minute ago or less."""
        running, now = ranker.view.trial, ranker.now()
        if running is None:
            return None
        at, kept = self._told.get(ranker.name, (float("-inf"), None))
        if kept is None or abs(now - at) >= PATIENCE or kept.trial != running.number:
            kept = report(ranker, store, running)
            self._told[ranker.name] = now, kept
        return kept


def trials_of(decisions: Sequence[Decision]) -> list[Trial]:
    """The trials that decisions tell of, in order."""
    found: dict[int, Trial] = {}
    trial, mode = None, "explore"
    for decision in decisions:
        trial = trial_after(trial, decision, mode)
        mode = decision.body["mode"] if decision.kind == "mode" else mode
        if trial is not None:
            found[trial.number] = trial
    return list(found.values())


def report(ranker: Ranker, store: Store, trial: Trial) -> TrialReport:
    """What has come of a trial so far."""
    if trial.number < ranker.history.first_entry():
        return _kept(ranker, store, trial)
    rules = rules_of(store, ranker.name, trial)
    parts = store.read_parts("trial", ranker.name, after=trial.number)
    lists = [head for head, part, _ in parts if part.trial == trial.number]
    last = max((each.at for each in lists), default=trial.at) + wait_of(trial, rules)
    events = store.read_events(ranker.name, after=trial.number)
    sessions = sessions_of(
        trial,
        rules,
        lists,
        takewhile(lambda event: event.at <= last, events),  # later ones count for none of its lists
        now=store.time(ranker.now()),
        without=() if ranker.broken else ranker.fold.spec.without,
    )
    outcomes = tuple(_outcome(trial, sessions, each) for each in trial.settings.outcomes)
    arms = {"A": int((~sessions.second).sum()), "B": int(sessions.second.sum())}
    return TrialReport(
        **_head(ranker, trial),
        complete=True,
        lists=sessions.lists,
        sessions=arms if trial.settings.kind == "holdout" else {"AB": len(sessions)},
        waiting=sessions.waiting,
        level=LEVEL,
        verdict=outcomes[0].verdict,
        sentence=_words(ranker.name, trial, outcomes[0]),
        outcomes=outcomes,
        points=_points(trial, sessions),
    )


def rules_of(store: Store, ranker: str, trial: Trial) -> BaseRankerSettings:
    """The ranker's settings during a trial, whatever its policy is."""
    versions = store.read_decisions(ranker, kinds=("settings",), after=trial.rules - 1)
    body = next(each.body for each in versions if each.seq == trial.rules)
    return read_settings(RankerSettings, body["settings"])


def _head(ranker: Ranker, trial: Trial) -> dict[str, Any]:
    return {
        "ranker": ranker.name,
        "trial": trial.number,
        "settings": trial.settings.to_json(),
        "against": trial.settings.against,
        "began": trial.at,
        "ended": trial.ended_at,
        "reason": trial.reason,
        "runs": trial.runs,
    }


def _kept(ranker: Ranker, store: Store, trial: Trial) -> TrialReport:
    """What was known of a trial when it was stopped; nothing, if it was not."""
    stops = store.read_decisions(ranker.name, kinds=("trial_stop",), after=trial.number)
    said = next((each.body["report"] for each in stops if each.body["trial"] == trial.number), None)
    if said is not None:
        return replace(msgspec.convert(said, TrialReport), ended=trial.ended_at)
    return TrialReport(
        **_head(ranker, trial),
        complete=False,
        lists=0,
        sessions={},
        waiting=0,
        level=LEVEL,
        verdict="undecided",
        sentence="Nothing can be said any more: lists of its time were discarded.",
        outcomes=(),
    )


def _outcome(trial: Trial, sessions: Sessions, outcome: Outcome) -> OutcomeReport:
    wins = trial.settings.kind == "interleave" and outcome == "clicked"
    widest = (0.0, 1.0) if wins else (-bound_of(trial, outcome), bound_of(trial, outcome))
    sequence, _ = sequence_of(trial, sessions, outcome, LEVEL)
    last = len(sequence) - 1
    a, b = _means(trial, sessions, outcome, wins)
    return OutcomeReport(
        outcome=outcome,
        sessions=len(sequence),
        a=a,
        b=b,
        estimate=float(sequence.estimate[last]) if len(sequence) else None,
        lower=float(sequence.lower[last]) if len(sequence) else widest[0],
        upper=float(sequence.upper[last]) if len(sequence) else widest[1],
        even=0.5 if wins else 0.0,
    )


def _words(ranker: str, trial: Trial, found: OutcomeReport) -> str:
    interval = None if found.estimate is None else (found.lower, found.estimate, found.upper)
    return sentence(ranker, trial.settings, found.verdict, found.sessions, interval, LEVEL)


def _means(
    trial: Trial, sessions: Sessions, outcome: Outcome, wins: bool
) -> tuple[float | None, float | None]:
    if wins:
        won = wins_of(sessions)
        return float(won.sum()), float((~won).sum())
    scores = sessions.scores[outcome]
    if trial.settings.kind == "interleave":
        return None, None
    parts = scores[~sessions.second], scores[sessions.second]
    first, second = (float(each.mean()) if each.size else None for each in parts)
    return first, second


def _points(trial: Trial, sessions: Sessions) -> tuple[TrialPoint, ...]:
    sequence, moments = sequence_of(trial, sessions, trial.settings.outcomes[0], LEVEL)
    if not len(sequence):
        return ()
    chosen = np.unique(np.linspace(0, len(sequence) - 1, POINTS).round().astype(int))
    columns = (moments, sequence.estimate, sequence.lower, sequence.upper)
    rows = zip(chosen.tolist(), *(each[chosen].tolist() for each in columns), strict=True)
    return tuple(TrialPoint(number + 1, *rest) for number, *rest in rows)
