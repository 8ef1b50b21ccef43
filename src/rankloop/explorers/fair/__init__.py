"""Fair exposure: lists in which every group gets the looks it is due, at the least cost in certain orders."""

from rankloop.explorers.fair.choice import Ties
from rankloop.explorers.fair.entitlements import entitlements
from rankloop.explorers.fair.looks import LOOK, attainable, discounted_looks, least_tolerance, whole_looks
from rankloop.explorers.fair.merge import FairList, Method, fair_list
from rankloop.explorers.fair.queues import deep_draw

__all__ = [
    "LOOK",
    "FairList",
    "Method",
    "Ties",
    "attainable",
    "deep_draw",
    "discounted_looks",
    "entitlements",
    "fair_list",
    "least_tolerance",
    "whole_looks",
]
