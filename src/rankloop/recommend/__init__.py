"""Recommenders that explain themselves: one file each, with evaluation, reasons and an interview."""

from rankloop.recommend.base import FactorModel, Recommender, Taste, learned
from rankloop.recommend.catalogue import Catalogue
from rankloop.recommend.evaluation import Lists, best_items, top_lists
from rankloop.recommend.evidence import EvidenceALS
from rankloop.recommend.fact import FacT
from rankloop.recommend.ials import IALS
from rankloop.recommend.popular import MostPopular
from rankloop.recommend.reasons import Part, Reasons
from rankloop.recommend.storage import Saved
from rankloop.recommend.tree import Grower, Tree

__all__ = [
    "IALS",
    "Catalogue",
    "EvidenceALS",
    "FacT",
    "FactorModel",
    "Grower",
    "Lists",
    "MostPopular",
    "Part",
    "Reasons",
    "Recommender",
    "Saved",
    "Taste",
    "Tree",
    "best_items",
    "learned",
    "top_lists",
]
