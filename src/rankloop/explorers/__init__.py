"""From scores to a list, with more or less curiosity."""

from rankloop.explorers.epsilon import epsilon_greedy
from rankloop.explorers.greedy import greedy
from rankloop.explorers.plackett_luce import plackett_luce

__all__ = ["epsilon_greedy", "greedy", "plackett_luce"]
