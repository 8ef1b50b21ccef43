"""Scorers: from features to scores, pure and differentiable; higher is better."""

from rankloop.scorers.gradients import Gradients
from rankloop.scorers.linear import Linear
from rankloop.scorers.mlp import MLP
from rankloop.scorers.order_offset import Offset
from rankloop.scorers.scorer import Scorer
from rankloop.scorers.torch_module import Module

__all__ = ["MLP", "Gradients", "Linear", "Module", "Offset", "Scorer"]
