"""Policies: algorithms of online learning to rank, one file each."""

from rankloop.learning.blocks import Live, Planned, Schedule
from rankloop.learning.certainty import Belief, Certainty, DiagonalWidth, Sure, Theory, Width
from rankloop.learning.covariance import Covariance, Diagonal, Full, Projected
from rankloop.learning.list_weights import APWeights, ListWeights, NDCGWeights
from rankloop.learning.objectives import (
    AdditiveObjective,
    APGain,
    AUCLoss,
    DCGGain,
    NDCGGain,
    Objective,
    PairwiseLoss,
    PrecisionGain,
    SumLoss,
)
from rankloop.learning.projection import DocumentSpace, Projection, TrueDocumentSpace
from rankloop.learning.schedules import Batch, Exact, ReplayMemory, Training
from rankloop.learning.step_sizes import Constant, InverseRoot, StepSize
from rankloop.learning.thresholds import BestF1, Platt, Threshold
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
from rankloop.learning.trust import OrderPrior, Trust, order_prior
from rankloop.policies.ad_forest import AdForest
from rankloop.policies.ad_logistic import AdLogistic
from rankloop.policies.auc_ranker import AUCRanker
from rankloop.policies.base import EvidenceAbout, FeaturesOf, KnowsBy, Policy, score_all
from rankloop.policies.batch_selection import BatchSelection
from rankloop.policies.belief_selection import BeliefSelection
from rankloop.policies.by_id import KnowsItems
from rankloop.policies.counterfactual import CounterfactualPolicy
from rankloop.policies.dbgd import DBGD
from rankloop.policies.dla import DLA
from rankloop.policies.epsilon_greedy import EpsilonGreedy
from rankloop.policies.fair_exposure import FairExposure
from rankloop.policies.fairco import FairCo
from rankloop.policies.fairexp_pairrank import FairExpPairRank
from rankloop.policies.fairexp_toprank import FairExpTopRank
from rankloop.policies.fixed_items import FixedItems
from rankloop.policies.from_base import ScoredFromBase, StartsFromBase
from rankloop.policies.graded import GradedPolicy
from rankloop.policies.ips import IPS
from rankloop.policies.ips_ranknet import IPSRankNet
from rankloop.policies.item_means import ItemMeans
from rankloop.policies.labelled import LearnsFromGrades
from rankloop.policies.lambdamart import LambdaMART
from rankloop.policies.linear_selection import LinearSelection
from rankloop.policies.linucb import LinUCB
from rankloop.policies.listnet import ListNet
from rankloop.policies.logistic_beliefs import LogisticBeliefs
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
from rankloop.policies.race import Race
from rankloop.policies.random import Random
from rankloop.policies.ranknet import RankNet
from rankloop.policies.rtopk import RTopK
from rankloop.policies.rtopk_items import RTopKItems
from rankloop.policies.scored import ScoredPolicy
from rankloop.policies.selection import SelectionPolicy
from rankloop.policies.slam import Slam
from rankloop.policies.squarecb import SquareCB
from rankloop.policies.state_fields import state
from rankloop.policies.thompson_items import ThompsonItems
from rankloop.policies.thompson_logistic import ThompsonLogistic
from rankloop.policies.toprank import TopRank
from rankloop.policies.ucb_items import UCBItems
from rankloop.policies.uncertain import ExploresUncertain

__all__ = [
    "DBGD",
    "DLA",
    "IPS",
    "MGD",
    "NSGD",
    "PDGD",
    "APGain",
    "APWeights",
    "AUCLoss",
    "AUCRanker",
    "AdForest",
    "AdLogistic",
    "AdaGrad",
    "AdditiveObjective",
    "Batch",
    "BatchSelection",
    "Belief",
    "BeliefSelection",
    "BestF1",
    "Certainty",
    "Constant",
    "CounterfactualPolicy",
    "Covariance",
    "DCGGain",
    "Diagonal",
    "DiagonalWidth",
    "DocumentSchedule",
    "DocumentSpace",
    "EpsilonGreedy",
    "EvidenceAbout",
    "Exact",
    "ExploresUncertain",
    "FairCo",
    "FairExpPairRank",
    "FairExpTopRank",
    "FairExposure",
    "FeaturesOf",
    "FixedItems",
    "Full",
    "GradedPolicy",
    "IPSRankNet",
    "InverseRoot",
    "ItemMeans",
    "KnowsBy",
    "KnowsItems",
    "LambdaMART",
    "LearnsFromGrades",
    "LinUCB",
    "LinearSelection",
    "ListNet",
    "ListWeights",
    "Live",
    "LogisticBeliefs",
    "Minimax",
    "NDCGGain",
    "NDCGWeights",
    "NeuralPairwise",
    "NormalisedListNet",
    "Objective",
    "ObservedSquared",
    "OfflineLambdaRank",
    "OfflineRankNet",
    "OlLambdaRank",
    "OlLambdaRankGT",
    "OlRankNet",
    "OrderPrior",
    "P2NeurRank",
    "PairRank",
    "PairwiseLogistic",
    "PairwiseLoss",
    "PePairRank",
    "Planned",
    "Platt",
    "Policy",
    "PrecisionGain",
    "Projected",
    "Projection",
    "RTopK",
    "RTopKItems",
    "Race",
    "Random",
    "RankNet",
    "RankSVM",
    "ReplayMemory",
    "Schedule",
    "ScoredFromBase",
    "ScoredPolicy",
    "SelectionPolicy",
    "Slam",
    "SmoothDCG",
    "SquareCB",
    "Squared",
    "StartsFromBase",
    "Step",
    "StepSize",
    "SumLoss",
    "Sure",
    "Theory",
    "ThompsonItems",
    "ThompsonLogistic",
    "Threshold",
    "TopKLoss",
    "TopRank",
    "Training",
    "TrueDocumentSpace",
    "Trust",
    "UCBItems",
    "UnnormalisedKL",
    "Width",
    "order_prior",
    "score_all",
    "state",
]
