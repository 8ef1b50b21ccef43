"""Scoring functions: pure, differentiable, higher is better."""

from rankloop.scorers.base import Scorer
from rankloop.scorers.linear import Linear

__all__ = ["Linear", "Scorer"]
