"""Interleaving: several rankers' lists shown as one, and who gets the credit for the clicks."""

from rankloop.interleaving.interleaving import Interleaved, Interleaving, credit, expected_sign
from rankloop.interleaving.probabilistic import Probabilistic
from rankloop.interleaving.team_draft import TeamDraft

__all__ = ["Interleaved", "Interleaving", "Probabilistic", "TeamDraft", "credit", "expected_sign"]
