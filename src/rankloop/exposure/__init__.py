"""Fair exposure: lists in which every group gets the looks it is due, at the least cost in certain orders."""

from rankloop.explorers.fair.choice import Ties
from rankloop.explorers.fair.entitlements import entitlements
from rankloop.explorers.fair.looks import LOOK, attainable, discounted_looks, least_tolerance, whole_looks
from rankloop.explorers.fair.merge import FairList, Method, fair_list
from rankloop.explorers.fair.queues import deep_draw
from rankloop.explorers.fair.swap import count_violations, fair_swap, swap_list

__all__ = [
    "LOOK",
    "FairList",
    "Method",
    "Ties",
    "attainable",
    "count_violations",
    "deep_draw",
    "discounted_looks",
    "entitlements",
    "fair_list",
    "fair_swap",
    "least_tolerance",
    "swap_list",
    "whole_looks",
]
