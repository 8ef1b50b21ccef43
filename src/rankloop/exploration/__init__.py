"""Explorers: from scores to a list, by score alone or with chance."""

from rankloop.exploration.certain_orders import (
    certain_orders,
    ordered_blocks,
    random_topological,
    shuffle_blocks,
)
from rankloop.exploration.propensities import (
    draw,
    epsilon_greedy_propensities,
    highest_of_normals,
    inverse_gap_propensities,
)
from rankloop.exploration.score_lists import draw_by_score, draw_epsilon_greedy, draw_plackett_luce

__all__ = [
    "certain_orders",
    "draw",
    "draw_by_score",
    "draw_epsilon_greedy",
    "draw_plackett_luce",
    "epsilon_greedy_propensities",
    "highest_of_normals",
    "inverse_gap_propensities",
    "ordered_blocks",
    "random_topological",
    "shuffle_blocks",
]
