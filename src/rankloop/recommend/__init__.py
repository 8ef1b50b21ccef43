"""Recommenders that explain themselves: one file each, with evaluation, reasons and an interview."""

from rankloop.recommend.base import FactorModel, Recommender, Taste, learned
from rankloop.recommend.bprmf import BPRMF
from rankloop.recommend.catalogue import Catalogue
from rankloop.recommend.efm import EFM
from rankloop.recommend.evaluation import Lists, best_items, top_lists
from rankloop.recommend.evidence import EvidenceALS
from rankloop.recommend.fact import FacT
from rankloop.recommend.fmf import FMF
from rankloop.recommend.ials import IALS
from rankloop.recommend.jmars import JMARS
from rankloop.recommend.joint import JointFactorization
from rankloop.recommend.mter import MTER
from rankloop.recommend.mter_s import MTERS
from rankloop.recommend.mter_sa import MTERSA
from rankloop.recommend.names import RECOMMENDERS, load, recommender
from rankloop.recommend.nmf import NMF
from rankloop.recommend.popular import MostPopular
from rankloop.recommend.reasons import Part, Reasons
from rankloop.recommend.storage import Saved, save
from rankloop.recommend.tree import Grower, Tree

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
