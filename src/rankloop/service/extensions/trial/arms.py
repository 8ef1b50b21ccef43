"""Arms of a trial: which one a list belongs to."""

from __future__ import annotations

from rankloop.service.core.lists.list_seeds import sticky_seed
from rankloop.service.extensions.trial.trial_state import Trial

BITS = 63  # of a seed


def arm_of(trial: Trial, unit: str) -> str:
    """The arm of whoever asks: the same every time, and by nothing but a coin.

    >>> from rankloop.service.extensions.trial.trial_state import TrialSettings
    >>> trial = Trial(number=7, at=0.0, settings=TrialSettings(share=0.25), rules=1)
    >>> sum(arm_of(trial, f"session {n}") == "B" for n in range(1000)) / 1000
    0.246
    """
    if trial.settings.kind == "interleave":
        return "AB"
    coin = sticky_seed("arm", str(trial.number), unit) / 2**BITS
    return "B" if coin < trial.settings.share else "A"
