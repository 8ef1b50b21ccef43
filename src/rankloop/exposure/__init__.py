"""Fair exposure: lists in which every group gets the views it is due, at the least cost in certain orders."""

from rankloop.exposure.deep_draw import draw_deep, split_by_group
from rankloop.exposure.entitlements import due_views
from rankloop.exposure.fair_merge import (
    PAGE,
    AccountRule,
    FairList,
    Ties,
    choose_template,
    merge_fairly,
    split_into_pages,
    split_page,
)
from rankloop.exposure.position_views import (
    VIEW,
    Examination,
    attainable_views,
    check_examination,
    discounted_views,
    least_tolerance,
    measured_views,
    views_at,
)
from rankloop.exposure.template_costs import count_violations

__all__ = [
    "PAGE",
    "VIEW",
    "AccountRule",
    "Examination",
    "FairList",
    "Ties",
    "attainable_views",
    "check_examination",
    "choose_template",
    "count_violations",
    "discounted_views",
    "draw_deep",
    "due_views",
    "least_tolerance",
    "measured_views",
    "merge_fairly",
    "split_by_group",
    "split_into_pages",
    "split_page",
    "views_at",
]
