"""Evaluation from logs: what a policy would have got, from rounds that another one played."""

from rankloop.evaluation.rounds import LoggedRounds

__all__ = ["LoggedRounds"]
