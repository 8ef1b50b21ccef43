"""Online-learning-to-rank policies, one file per algorithm."""

from rankloop.policies.base import Policy
from rankloop.policies.certainty import Belief, Certainty, DiagonalWidth, Sure, Theory, Width
from rankloop.policies.dbgd import DBGD
from rankloop.policies.epsilon_greedy import EpsilonGreedy
from rankloop.policies.mgd import MGD
from rankloop.policies.nsgd import NSGD
from rankloop.policies.pairrank import PairRank
from rankloop.policies.pairwise import PairwiseLogistic
from rankloop.policies.pdgd import PDGD
from rankloop.policies.pepairrank import PePairRank
from rankloop.policies.projection import DocumentSpace, Projection, TrueDocumentSpace
from rankloop.policies.random import Random
from rankloop.policies.ranknet import RankNet
from rankloop.policies.scored import ScoredPolicy

__all__ = [
    "DBGD",
    "MGD",
    "NSGD",
    "PDGD",
    "Belief",
    "Certainty",
    "DiagonalWidth",
    "DocumentSpace",
    "EpsilonGreedy",
    "PairRank",
    "PairwiseLogistic",
    "PePairRank",
    "Policy",
    "Projection",
    "Random",
    "RankNet",
    "ScoredPolicy",
    "Sure",
    "Theory",
    "TrueDocumentSpace",
    "Width",
]
