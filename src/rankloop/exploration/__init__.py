"""Explorers: from scores to a list, by score alone or with chance."""

from rankloop.exploration.certain_orders import (
    certain_orders,
    ordered_blocks,
    random_topological,
    shuffle_blocks,
)
from rankloop.exploration.epsilon import epsilon_greedy
from rankloop.exploration.plackett_luce import plackett_luce
from rankloop.exploration.propensities import (
    draw,
    epsilon_greedy_propensities,
    highest_of_normals,
    inverse_gap_propensities,
)
from rankloop.exploration.score_lists import greedy

__all__ = [
    "certain_orders",
    "draw",
    "epsilon_greedy",
    "epsilon_greedy_propensities",
    "greedy",
    "highest_of_normals",
    "inverse_gap_propensities",
    "ordered_blocks",
    "plackett_luce",
    "random_topological",
    "shuffle_blocks",
]
