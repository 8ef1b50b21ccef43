"""Fair exposure: lists in which every group gets the looks it is due, at the least cost in certain orders."""

from rankloop.exposure.deep_draw import deep_draw
from rankloop.exposure.entitlements import entitlements
from rankloop.exposure.fair_merge import FairList, Method, fair_list
from rankloop.exposure.position_views import (
    LOOK,
    attainable,
    discounted_looks,
    least_tolerance,
    whole_looks,
)
from rankloop.exposure.template_choice import Ties
from rankloop.exposure.template_swap import count_violations, fair_swap, swap_list

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
