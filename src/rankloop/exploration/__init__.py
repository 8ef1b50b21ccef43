"""Explorers: from scores to a list, by score alone or with chance."""

from rankloop.explorers.certain import certain_orders, ordered_blocks, random_topological, shuffle_blocks
from rankloop.explorers.epsilon import epsilon_greedy
from rankloop.explorers.greedy import greedy
from rankloop.explorers.plackett_luce import plackett_luce
from rankloop.explorers.propensities import (
    draw,
    epsilon_greedy_propensities,
    highest_of_normals,
    inverse_gap_propensities,
)

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
