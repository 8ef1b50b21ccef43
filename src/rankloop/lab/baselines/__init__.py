"""Baselines of other papers, and skylines that train on labels: the lab runs them, no service does."""

from rankloop.lab.baselines.counterfactual import CounterfactualPolicy
from rankloop.lab.baselines.dla import DLA
from rankloop.lab.baselines.fairco import FairCo
from rankloop.lab.baselines.fairswap import FairSwapPairRank, FairSwapTopRank
from rankloop.lab.baselines.ips import IPS
from rankloop.lab.baselines.ips_ranknet import IPSRankNet
from rankloop.lab.baselines.label_trained import LearnsFromGrades
from rankloop.lab.baselines.lambdamart import LambdaMART
from rankloop.lab.baselines.offline_lambdarank import OfflineLambdaRank
from rankloop.lab.baselines.offline_ranknet import OfflineRankNet
from rankloop.lab.baselines.ollambdarank_gt import OlLambdaRankGT
from rankloop.policies.policy_names import POLICIES, PolicyKinds, list_policies

LAB_POLICIES: PolicyKinds = dict(sorted(list_policies(globals().copy().values()).items()))
ALL_POLICIES: PolicyKinds = {**POLICIES, **LAB_POLICIES}

__all__ = [
    "ALL_POLICIES",
    "DLA",
    "IPS",
    "LAB_POLICIES",
    "CounterfactualPolicy",
    "FairCo",
    "FairSwapPairRank",
    "FairSwapTopRank",
    "IPSRankNet",
    "LambdaMART",
    "LearnsFromGrades",
    "OfflineLambdaRank",
    "OfflineRankNet",
    "OlLambdaRankGT",
]
