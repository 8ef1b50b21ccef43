"""Explorers: from scores to a list, by score alone or with chance."""

from rankloop.explorers.certain import certain_orders, ordered_blocks, random_topological, shuffle_blocks
from rankloop.explorers.epsilon import epsilon_greedy
from rankloop.explorers.greedy import greedy
from rankloop.explorers.plackett_luce import plackett_luce

__all__ = [
    "certain_orders",
    "epsilon_greedy",
    "greedy",
    "ordered_blocks",
    "plackett_luce",
    "random_topological",
    "shuffle_blocks",
]
