"""Recommenders that explain themselves: one file each, with evaluation, explanations and an interview."""

from rankloop.recommend.evidence_als import EvidenceALS
from rankloop.recommend.fact import FacT
from rankloop.recommend.factorization_tree import FactorizationTree, TreeGrower
from rankloop.recommend.held_out_ranking import HeldOutLists, find_top_items, rank_held_out
from rankloop.recommend.ials import IALS
from rankloop.recommend.interview import Interview, Question, ask_next, read_answers
from rankloop.recommend.item_catalogue import Catalogue
from rankloop.recommend.item_explanations import Explanation, ExplanationPart, explain_items
from rankloop.recommend.joint_factorization import JointFactorization
from rankloop.recommend.mter import MTER
from rankloop.recommend.popularity import MostPopular
from rankloop.recommend.recommender import (
    FactorModel,
    QuestionTree,
    Recommender,
    ScoreParts,
    ScoreSource,
    UserProfile,
    learned,
)
from rankloop.recommend.recommender_file import (
    SERVED_RECOMMENDERS,
    FittedRecommender,
    load_recommender,
    save_recommender,
)

__all__ = [
    "IALS",
    "MTER",
    "SERVED_RECOMMENDERS",
    "Catalogue",
    "EvidenceALS",
    "Explanation",
    "ExplanationPart",
    "FacT",
    "FactorModel",
    "FactorizationTree",
    "FittedRecommender",
    "HeldOutLists",
    "Interview",
    "JointFactorization",
    "MostPopular",
    "Question",
    "QuestionTree",
    "Recommender",
    "ScoreParts",
    "ScoreSource",
    "TreeGrower",
    "UserProfile",
    "ask_next",
    "explain_items",
    "find_top_items",
    "learned",
    "load_recommender",
    "rank_held_out",
    "read_answers",
    "save_recommender",
]
