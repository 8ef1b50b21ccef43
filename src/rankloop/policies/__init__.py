"""Online-learning-to-rank policies, one file per algorithm."""

from rankloop.policies.base import Policy
from rankloop.policies.dbgd import DBGD
from rankloop.policies.epsilon_greedy import EpsilonGreedy
from rankloop.policies.mgd import MGD
from rankloop.policies.pdgd import PDGD
from rankloop.policies.random import Random
from rankloop.policies.ranknet import RankNet
from rankloop.policies.scored import ScoredPolicy

__all__ = ["DBGD", "MGD", "PDGD", "EpsilonGreedy", "Policy", "Random", "RankNet", "ScoredPolicy"]
