"""Trial: a live comparison of a ranker with something else, as its log tells of it.

Arm A is the ranker as it is, learning as it goes; arm B is the caller's own order, or a list that stays as it
is: of another ranker, or of another policy. A trial begins and ends with decisions in the ranker's log, so
what is tried is a fold of the log, too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal, Self, TypeAlias

from msgspec import Meta

from rankloop.errors import SettingError
from rankloop.service.core.settings_record import Settings, check_names, describe, read_settings
from rankloop.service.store import Decision

TrialKind: TypeAlias = Literal["holdout", "interleave"]
Outcome: TypeAlias = Literal["clicked", "value"]
Text: TypeAlias = Annotated[str, Meta(max_length=200)]
LONGEST = 366 * 86_400.0  # seconds
KINDS = ("trial", "trial_stop", "settings", "mode", "rollback", "forget", "retain")  # that begin or end one


class TrialSettings(Settings, frozen=True, kw_only=True):
    """What is compared with a ranker, how, and by which outcome.

    Clicks decide or, if an `action` is named, the sum of its values.

    >>> TrialSettings(kind="holdout", share=0.1).against
    "the caller's order"
    """

    about: ClassVar[Meta] = describe("Trial", "Compares a ranker with something else, live.")
    kind: Annotated[
        TrialKind,
        describe(
            "Trial type",
            "How the ranker and arm B are compared; choose `holdout` if `fair` or `max_displacement` is set.",
            values={
                "holdout": "a share of sessions gets arm B",
                "interleave": "each list mixes both",
            },
        ),
    ] = "holdout"
    share: Annotated[
        float,
        Meta(ge=0.01, le=0.99),
        describe(
            "Share of arm B",
            "Share of sessions that get arm B in a holdout; lower it if arm B may be worse.",
        ),
    ] = 0.5
    ranker: Annotated[
        Text,
        describe(
            "Other ranker",
            "Another ranker's model, as it is now, as arm B; with `policy` also empty, your order.",
        ),
    ] = ""
    policy: Annotated[
        str | None,
        describe(
            "Other policy",
            "What another policy would have learned from the log so far, as arm B; "
            "not together with `ranker`.",
        ),
    ] = None
    action: Annotated[
        Text,
        describe(
            "Value action",
            "Decides the trial by the value of this action, such as `purchase`, instead of clicks.",
        ),
    ] = ""
    max_value: Annotated[
        Annotated[float, Meta(gt=0, le=1e9)] | None,
        describe(
            "Maximum value per list",
            "Counts at most this value per list; set it slightly above a large order.",
            values={"null": "no value is counted; it is required with `action`"},
        ),
    ] = None
    outcome_seconds: Annotated[
        Annotated[float, Meta(ge=0, le=LONGEST)] | None,
        describe(
            "Outcome window",
            "Time after a list in which clicks and values count; raise it if purchases come hours later.",
            unit="seconds",
            values={"null": "the ranker's window"},
        ),
    ] = None

    session_seconds: Annotated[
        float,
        Meta(ge=0, le=LONGEST),
        describe(
            "Session length",
            "Time after its first list in which the lists of a session count; "
            "a session is judged when it is over.",
            unit="seconds",
        ),
    ] = 1800.0

    def check(self) -> None:
        """Refuse two arms B, a value without its bound, and a bound without its value."""
        for field, name in {"ranker": self.ranker, "action": self.action}.items():
            if name:
                check_names(field, [name], f"the {field} of a trial")
        if self.ranker and self.policy is not None:
            raise SettingError(
                f"policy: Expected another ranker or another policy, found both, {self.ranker!r} and "
                f"{self.policy!r}: choose one"
            )
        if self.action and self.max_value is None:
            raise SettingError(
                f"max_value: Expected a number above 0 beside the action {self.action!r}, found null: "
                "larger values of a list are counted as this one"
            )
        if self.max_value is not None and not self.action:
            raise SettingError(
                f"action: Expected the name of an action beside max_value, found none: "
                f"set both, or leave out max_value={self.max_value:g}"
            )

    @property
    def against(self) -> str:
        """Arm B, in words."""
        if self.ranker:
            return f"ranker {self.ranker!r} as it was"
        return f"policy {self.policy.partition('(')[0]}" if self.policy is not None else "the caller's order"

    @property
    def value_bound(self) -> float:
        """The most that the value of a list counts; 0: no value is counted."""
        return self.max_value or 0.0

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """What is measured, that by which it is decided first."""
        return ("value", "clicked") if self.action else ("clicked",)


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
            settings=read_settings(TrialSettings, body["settings"]),
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
