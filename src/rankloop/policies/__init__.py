"""Policies: algorithms of online learning to rank, one file each."""

from rankloop.learning.certainty import Posterior, Theory, Width
from rankloop.learning.projection import DocumentSpace
from rankloop.learning.training import Exact, ReplayMemory
from rankloop.policies.ads.ad_forest import AdForest
from rankloop.policies.ads.ad_logistic import AdLogistic
from rankloop.policies.ads.ad_policy import AdPolicy
from rankloop.policies.ads.auc_ranker import AUCRanker
from rankloop.policies.ads.batch_ad_policy import BatchAdPolicy, LinearAdPolicy
from rankloop.policies.ads.belief_ad_policy import BeliefAdPolicy, LogisticAdPolicy
from rankloop.policies.ads.linucb import LinUCB
from rankloop.policies.ads.squarecb import SquareCB
from rankloop.policies.ads.thompson_logistic import ThompsonLogistic
from rankloop.policies.caller_order_policy import CallerOrderPolicy
from rankloop.policies.dueling.dbgd import DBGD
from rankloop.policies.dueling.mgd import MGD
from rankloop.policies.dueling.nsgd import NSGD
from rankloop.policies.explores_uncertain import ExploresUncertain
from rankloop.policies.fair.fair_exposure_policy import FairExposurePolicy
from rankloop.policies.fair.fairexp_pairrank import FairExpPairRank
from rankloop.policies.fair.fairexp_toprank import FairExpTopRank
from rankloop.policies.graded.graded_policy import GradedPolicy
from rankloop.policies.graded.listnet import ListNet
from rankloop.policies.graded.minimax import Minimax
from rankloop.policies.graded.rtopk import RTopK
from rankloop.policies.graded.slam import Slam
from rankloop.policies.gradient.epsilon_greedy import EpsilonGreedy
from rankloop.policies.gradient.pdgd import PDGD
from rankloop.policies.gradient.ranknet import RankNet
from rankloop.policies.items.item_policy import GradedItemPolicy, ItemPolicy, MeanGradePolicy
from rankloop.policies.items.rtopk_items import RTopKItems
from rankloop.policies.items.thompson_items import ThompsonItems
from rankloop.policies.items.toprank import TopRank
from rankloop.policies.items.ucb_items import UCBItems
from rankloop.policies.neural.neural_pairwise import NeuralPairwise
from rankloop.policies.neural.ollambdarank import OlLambdaRank
from rankloop.policies.neural.olranknet import OlRankNet
from rankloop.policies.neural.p2neurrank import P2NeurRank
from rankloop.policies.order_scorer_policy import OrderScorerPolicy
from rankloop.policies.pairwise.pairrank import PairRank
from rankloop.policies.pairwise.pairwise_logistic import PairwiseLogistic
from rankloop.policies.pairwise.pepairrank import PePairRank
from rankloop.policies.pairwise.race import Race
from rankloop.policies.random import Random
from rankloop.policies.scorer_policy import ScorerPolicy
from rankloop.policy import Policy
from rankloop.state_fields import state

__all__ = [
    "DBGD",
    "MGD",
    "NSGD",
    "PDGD",
    "AUCRanker",
    "AdForest",
    "AdLogistic",
    "AdPolicy",
    "BatchAdPolicy",
    "BeliefAdPolicy",
    "CallerOrderPolicy",
    "DocumentSpace",
    "EpsilonGreedy",
    "Exact",
    "ExploresUncertain",
    "FairExpPairRank",
    "FairExpTopRank",
    "FairExposurePolicy",
    "GradedItemPolicy",
    "GradedPolicy",
    "ItemPolicy",
    "LinUCB",
    "LinearAdPolicy",
    "ListNet",
    "LogisticAdPolicy",
    "MeanGradePolicy",
    "Minimax",
    "NeuralPairwise",
    "OlLambdaRank",
    "OlRankNet",
    "OrderScorerPolicy",
    "P2NeurRank",
    "PairRank",
    "PairwiseLogistic",
    "PePairRank",
    "Policy",
    "Posterior",
    "RTopK",
    "RTopKItems",
    "Race",
    "Random",
    "RankNet",
    "ReplayMemory",
    "ScorerPolicy",
    "Slam",
    "SquareCB",
    "Theory",
    "ThompsonItems",
    "ThompsonLogistic",
    "TopRank",
    "UCBItems",
    "Width",
    "state",
]
