"""Trial: a live comparison of a ranker with something else, as its log tells of it.

Arm A is the ranker as it is, learning as it goes; arm B is the caller's own order, or a list that stays as it
is: of another ranker, or of another policy. A trial begins and ends with decisions in the ranker's log, so
what is tried is a fold of the log, too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, Self, TypeAlias, get_args

from rankloop.errors import SettingError, suggest_name
from rankloop.service.store import Decision
from rankloop.short_text import check_text

TrialKind: TypeAlias = Literal["holdout", "interleave"]
Outcome: TypeAlias = Literal["clicked", "value"]
LARGEST = 1e9  # of a value that can be bounded
LONGEST = 366 * 86_400.0  # seconds
KINDS = ("trial", "trial_stop", "settings", "mode", "rollback", "forget", "retain")  # that begin or end one


@dataclass(frozen=True, kw_only=True)
class TrialSettings:
    """What is compared with a ranker, how, and by which outcome.

    `holdout`: a share of the sessions gets arm B. `interleave`: every list is made of both arms' lists.
    Clicks decide or, if an `action` is named, the sum of its values.

    >>> TrialSettings(kind="holdout", share=0.1).against
    "the caller's order"
    """

    kind: TrialKind = "holdout"
    share: float = 0.5  # of sessions in arm B; of a holdout
    ranker: str = ""  # arm B: the model of another ranker, as it is when the trial begins
    policy: str | None = None  # or what another policy would have learned from the log by then
    action: str = ""  # whose values decide, such as purchase; without one, clicks do
    highest: float = 0.0  # what a list's value is cut to: the interval needs a bound
    wait: float | None = None  # seconds after a list in which what is done counts; None: the ranker's window
    session: float = 1800.0  # seconds after its first list in which a session's lists count

    def __post_init__(self) -> None:
        """Refuse what could not be compared."""
        _one_of("kind", self.kind, get_args(TrialKind))
        _number("share", self.share, low=0.01, high=0.99)
        _number("session", self.session, low=0.0, high=LONGEST)
        if self.wait is not None:
            _number("wait", self.wait, low=0.0, high=LONGEST)
        check_text("the ranker of arm B", self.ranker, empty=True)
        check_text("the action of a trial", self.action, empty=True)
        if self.ranker and self.policy is not None:
            raise SettingError("arm B is another ranker or another policy: name one of them, or none")
        _number("highest", self.highest, low=0.0, high=LARGEST)
        if bool(self.action) != (self.highest > 0):
            raise SettingError(
                "a value needs an action, and the highest value of a list, to which larger ones are cut: "
                f'as in action="purchase", highest=200; found {self.action!r} and {self.highest:g}'
            )

    @property
    def against(self) -> str:
        """Arm B, in words."""
        if self.ranker:
            return f"ranker {self.ranker!r} as it was"
        return f"policy {self.policy.partition('(')[0]}" if self.policy is not None else "the caller's order"

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """What is measured, that by which it is decided first."""
        return ("value", "clicked") if self.action else ("clicked",)

    def to_json(self) -> dict[str, Any]:
        """As JSON, with every default."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """From JSON; what is missing has its default."""
        names = [each.name for each in fields(cls)]
        for name in data:
            if name not in names:
                raise SettingError(f"a trial has no setting {name!r}: {suggest_name(str(name), names)}")
        return cls(**data)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A trial that was begun, and whether it has ended."""

    number: int  # the entry that began it
    at: float
    settings: TrialSettings
    rules: int  # the version of the ranker's settings
    model: int = 0  # the version of the other ranker's model
    ended: int = 0  # the entry that ended it; 0: it runs
    ended_at: float | None = None
    reason: str = ""  # why it ended

    @property
    def runs(self) -> bool:
        """Whether lists belong to its arms."""
        return not self.ended

    @classmethod
    def begun(cls, decision: Decision) -> Self:
        """The trial that a decision begins."""
        body = decision.body
        return cls(
            number=decision.seq,
            at=decision.at,
            settings=TrialSettings.from_json(body["settings"]),
            rules=body["rules"],
            model=body["model"],
        )


def trial_after(trial: Trial | None, decision: Decision, mode: str) -> Trial | None:
    """The last trial after one more decision, made in a mode: whatever changes an arm ends it."""
    if decision.kind == "trial":
        return Trial.begun(decision)
    if trial is None or not trial.runs or not (reason := _end(trial, decision, mode)):
        return trial
    return replace(trial, ended=decision.seq, ended_at=decision.at, reason=reason)


def _end(trial: Trial, decision: Decision, mode: str) -> str:
    """Why a decision ends a trial; empty: it does not."""
    body = decision.body
    if decision.kind == "trial_stop" and body["trial"] == trial.number:
        return str(body["reason"])
    if decision.kind == "mode" and body["mode"] != mode:
        return f"the mode was changed to {body['mode']}"
    if decision.kind == "retain" and trial.number < body["base"]:
        return "lists of its time were discarded"
    changes = {
        "settings": "the settings were changed",
        "rollback": "the model was rolled back",
        "forget": "events were forgotten",
        "retire": "features were retired",
    }
    return changes.get(decision.kind, "")


def _one_of(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise SettingError(
            f"{name} of a trial: no such choice, {value!r}: {suggest_name(str(value), choices)}"
        )


def _number(name: str, value: object, *, low: float, high: float) -> None:
    fits = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not fits or not low <= value <= high:  # type: ignore[operator]
        raise SettingError(
            f"{name} of a trial must be a number between {low:g} and {high:g}, found {value!r}"
        )
