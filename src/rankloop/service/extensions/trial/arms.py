"""Arms of a trial: which one a list belongs to, and lists that are made of both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from rankloop.interleaving import Interleaved, TeamDraft
from rankloop.service.core.lists.list_seeds import generator, sticky_seed
from rankloop.service.extensions.trial.trial_state import Trial

TEAM_DRAFT: Final = TeamDraft()
BITS = 63  # of a seed


def unit_of(session_id: str, client_id: str, query_id: str) -> str:
    """Who stays in an arm: the session or, if none is known, the client; otherwise each list by itself.

    >>> unit_of("", "anna", "q1"), unit_of("", "", "q1") == unit_of("q1", "", "q2")
    ('client anna', False)
    """
    if session_id:
        return f"session {session_id}"
    return f"client {client_id}" if client_id else f"list {query_id}"


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


def interleaved(trial: Trial, a: Sequence[int], b: Sequence[int], k: int, seed: int) -> Interleaved:
    """One list of the arms' lists, which are of the same candidates, by coins that belong to its seed."""
    lists = np.array([a, b], dtype=np.int64)
    coins = generator(sticky_seed("interleave", str(trial.number), str(seed)))
    return TEAM_DRAFT.combine(lists, k=k, rng=coins)
