"""Scorers: from features to scores, pure and differentiable; higher is better."""

from rankloop.scorers.base import Scorer
from rankloop.scorers.gradients import Gradients
from rankloop.scorers.linear import Linear
from rankloop.scorers.mlp import MLP
from rankloop.scorers.module import Module
from rankloop.scorers.offset import Offset

__all__ = ["MLP", "Gradients", "Linear", "Module", "Offset", "Scorer"]
