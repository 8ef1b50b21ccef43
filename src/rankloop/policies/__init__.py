"""Policies: algorithms of online learning to rank, one file each."""

from rankloop.learning.certainty import Belief, Certainty, DiagonalWidth, Sure, Theory, Width
from rankloop.learning.covariance import Covariance, Diagonal, Full, Projected
from rankloop.learning.list_weights import APWeights, ListWeights, NDCGWeights
from rankloop.learning.projection import DocumentSpace, Projection, TrueDocumentSpace
from rankloop.learning.schedules import Batch, Exact, ReplayMemory, Training
from rankloop.learning.step_sizes import Constant, InverseRoot, StepSize
from rankloop.learning.topk_losses import (
    NormalisedListNet,
    ObservedSquared,
    RankSVM,
    SmoothDCG,
    Squared,
    TopKLoss,
    UnnormalisedKL,
)
from rankloop.learning.topk_steps import AdaGrad, DocumentSchedule, Step
from rankloop.policies.base import EvidenceAbout, Policy, score_all
from rankloop.policies.dbgd import DBGD
from rankloop.policies.epsilon_greedy import EpsilonGreedy
from rankloop.policies.graded import GradedPolicy
from rankloop.policies.labelled import LearnsFromGrades
from rankloop.policies.listnet import ListNet
from rankloop.policies.mgd import MGD
from rankloop.policies.minimax import Minimax
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
from rankloop.policies.rtopk import RTopK
from rankloop.policies.scored import ScoredPolicy
from rankloop.policies.slam import Slam
from rankloop.policies.state_fields import state
from rankloop.policies.uncertain import ExploresUncertain

__all__ = [
    "DBGD",
    "MGD",
    "NSGD",
    "PDGD",
    "APWeights",
    "AdaGrad",
    "Batch",
    "Belief",
    "Certainty",
    "Constant",
    "Covariance",
    "Diagonal",
    "DiagonalWidth",
    "DocumentSchedule",
    "DocumentSpace",
    "EpsilonGreedy",
    "EvidenceAbout",
    "Exact",
    "ExploresUncertain",
    "Full",
    "GradedPolicy",
    "InverseRoot",
    "LearnsFromGrades",
    "ListNet",
    "ListWeights",
    "Minimax",
    "NDCGWeights",
    "NeuralPairwise",
    "NormalisedListNet",
    "ObservedSquared",
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
    "RTopK",
    "Random",
    "RankNet",
    "RankSVM",
    "ReplayMemory",
    "ScoredPolicy",
    "Slam",
    "SmoothDCG",
    "Squared",
    "Step",
    "StepSize",
    "Sure",
    "Theory",
    "TopKLoss",
    "Training",
    "TrueDocumentSpace",
    "UnnormalisedKL",
    "Width",
    "score_all",
    "state",
]
