"""Policies: algorithms of online learning to rank, one file each."""

from rankloop.learning.certainty import Belief, Certainty, DiagonalWidth, Sure, Theory, Width
from rankloop.learning.covariance import Covariance, Diagonal, Full, Projected
from rankloop.learning.projection import DocumentSpace, Projection, TrueDocumentSpace
from rankloop.learning.schedules import Batch, Exact, ReplayMemory, Training
from rankloop.policies.base import EvidenceAbout, Policy, score_all
from rankloop.policies.dbgd import DBGD
from rankloop.policies.epsilon_greedy import EpsilonGreedy
from rankloop.policies.labelled import LearnsFromGrades
from rankloop.policies.mgd import MGD
from rankloop.policies.neural import NeuralPairwise
from rankloop.policies.nsgd import NSGD
from rankloop.policies.offline_lambdarank import OfflineLambdaRank
from rankloop.policies.offline_ranknet import OfflineRankNet
from rankloop.policies.ollambdarank import OlLambdaRank
from rankloop.policies.ollambdarank_gt import OlLambdaRankGT
from rankloop.policies.olranknet import OlRankNet
from rankloop.policies.p2neurrank import P2NeurRank
from rankloop.policies.pairrank import PairRank
from rankloop.policies.pairwise import PairwiseLogistic
from rankloop.policies.pdgd import PDGD
from rankloop.policies.pepairrank import PePairRank
from rankloop.policies.random import Random
from rankloop.policies.ranknet import RankNet
from rankloop.policies.scored import ScoredPolicy
from rankloop.policies.state_fields import state
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
    "LearnsFromGrades",
    "NeuralPairwise",
    "OfflineLambdaRank",
    "OfflineRankNet",
    "OlLambdaRank",
    "OlLambdaRankGT",
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
    "ReplayMemory",
    "ScoredPolicy",
    "Sure",
    "Theory",
    "Training",
    "TrueDocumentSpace",
    "Width",
    "score_all",
    "state",
]
