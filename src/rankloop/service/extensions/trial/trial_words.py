"""Verdict of a trial in words."""

from __future__ import annotations

from rankloop.service.extensions.trial.trial_state import TrialSettings


def sentence(
    ranker: str,
    settings: TrialSettings,
    verdict: str,
    sessions: int,
    interval: tuple[float, float, float] | None,
    level: float,
) -> str:
    """Who is better, by how much, and how sure that is; `interval` is lower bound, estimate, upper bound.

    >>> words = sentence("shop", TrialSettings(), "A better", 1200, (0.01, 0.031, 0.052), 0.95)
    >>> words.splitlines()[0]
    "Ranker 'shop' is better than the caller's order."
    >>> words.splitlines()[1]
    'By +1.0 to +5.2 percentage points of lists with a click (estimate +3.1), after 1,200 sessions.'
    """
    names = {"A better": f"Ranker {ranker!r} is better than {settings.against}."}
    names["B better"] = f"Ranker {ranker!r} is worse than {settings.against}."
    head = names.get(verdict, f"Undecided whether ranker {ranker!r} is better than {settings.against}.")
    if interval is None:
        return f"{head}\nNo session is over yet."
    return "\n".join((head, _measured(settings, sessions, interval), HOLDS.format(level=level)))


HOLDS = "The truth is in this interval with a probability of {level:.0%}, however often it is looked at."


def _measured(settings: TrialSettings, sessions: int, interval: tuple[float, float, float]) -> str:
    lower, estimate, upper = interval
    after = f"after {sessions:,} {'session' if sessions == 1 else 'sessions'}"
    valued = bool(settings.action)
    if settings.kind == "interleave" and not valued:
        return (
            f"It wins {lower:.1%} to {upper:.1%} of the sessions that one of the two wins (estimate "
            f"{estimate:.1%}), {after}."
        )
    low, middle, high = (
        f"{each:+.2f}" if valued else f"{100 * each:+.1f}" for each in (lower, estimate, upper)
    )
    unit = f"of {settings.action} per list" if valued else "percentage points of lists with a click"
    owed = " more owed to it" if settings.kind == "interleave" else ""
    return f"By {low} to {high} {unit}{owed} (estimate {middle}), {after}."
