"""Online-learning-to-rank policies, one file per algorithm."""

from rankloop.policies.base import EvidenceAbout, Policy, score_all
from rankloop.policies.certainty import Belief, Certainty, DiagonalWidth, Sure, Theory, Width
from rankloop.policies.covariance import Covariance, Diagonal, Full, Projected
from rankloop.policies.dbgd import DBGD
from rankloop.policies.epsilon_greedy import EpsilonGreedy
from rankloop.policies.mgd import MGD
from rankloop.policies.neural import NeuralPairwise
from rankloop.policies.nsgd import NSGD
from rankloop.policies.ollambdarank import OlLambdaRank
from rankloop.policies.olranknet import OlRankNet
from rankloop.policies.p2neurrank import P2NeurRank
from rankloop.policies.pairrank import PairRank
from rankloop.policies.pairwise import PairwiseLogistic
from rankloop.policies.pdgd import PDGD
from rankloop.policies.pepairrank import PePairRank
from rankloop.policies.projection import DocumentSpace, Projection, TrueDocumentSpace
from rankloop.policies.random import Random
from rankloop.policies.ranknet import RankNet
from rankloop.policies.scored import ScoredPolicy
from rankloop.policies.state_fields import state
from rankloop.policies.training import Batch, Exact, Replay, Training
from rankloop.policies.uncertain import ExploresUncertain

__all__ = [
    "DBGD",
    "MGD",
    "NSGD",
    "PDGD",
    "Batch",
    "Belief",
    "Certainty",
    "Covariance",
    "Diagonal",
    "DiagonalWidth",
    "DocumentSpace",
    "EpsilonGreedy",
    "EvidenceAbout",
    "Exact",
    "ExploresUncertain",
    "Full",
    "NeuralPairwise",
    "OlLambdaRank",
    "OlRankNet",
    "P2NeurRank",
    "PairRank",
    "PairwiseLogistic",
    "PePairRank",
    "Policy",
    "Projected",
    "Projection",
    "Random",
    "RankNet",
    "Replay",
    "ScoredPolicy",
    "Sure",
    "Theory",
    "Training",
    "TrueDocumentSpace",
    "Width",
    "score_all",
    "state",
]
