"""Recommenders that explain themselves: one file each, with evaluation, reasons and an interview."""

from rankloop.recommend.bprmf import BPRMF
from rankloop.recommend.efm import EFM
from rankloop.recommend.evidence_als import EvidenceALS
from rankloop.recommend.fact import FacT
from rankloop.recommend.factorization_tree import Grower, Tree
from rankloop.recommend.fmf import FMF
from rankloop.recommend.held_out_ranking import Lists, best_items, top_lists
from rankloop.recommend.ials import IALS
from rankloop.recommend.item_catalogue import Catalogue
from rankloop.recommend.jmars import JMARS
from rankloop.recommend.joint_factorization import JointFactorization
from rankloop.recommend.mter import MTER
from rankloop.recommend.mter_s import MTERS
from rankloop.recommend.mter_sa import MTERSA
from rankloop.recommend.names import RECOMMENDERS, load, recommender
from rankloop.recommend.nmf import NMF
from rankloop.recommend.popularity import MostPopular
from rankloop.recommend.reasons import Part, Reasons
from rankloop.recommend.recommender import FactorModel, Recommender, Taste, learned
from rankloop.recommend.recommender_file import Saved, save

__all__ = [
    "BPRMF",
    "EFM",
    "FMF",
    "IALS",
    "JMARS",
    "MTER",
    "MTERS",
    "MTERSA",
    "NMF",
    "RECOMMENDERS",
    "Catalogue",
    "EvidenceALS",
    "FacT",
    "FactorModel",
    "Grower",
    "JointFactorization",
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
    "load",
    "recommender",
    "save",
    "top_lists",
]
