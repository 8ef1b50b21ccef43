"""Words for settings: what each is called on the page, what it does, and what it is grouped with."""

from __future__ import annotations

CHOICES = {
    "scaling": ("query", "running"),
    "reading": ("implicit", "explicit"),
    "learn_late": ("no", "yes"),
}
WORDS = {
    "policy": ("Policy", "What ranks and learns, with its settings; another name begins anew."),
    "scaling": ("Scaling of features", "Within each list, or by what was learned so far."),
    "window": ("Window", "Seconds in which a list takes clicks."),
    "actions": ("Actions", "How much of a click each action is; 0 ignores it."),
    "learn_late": ("Learn from late clicks", "Whether clicks after the window teach, too."),
    "grades": ("Grades", "What a value of 1 of each action adds to a grade; empty: there are none."),
    "highest_grade": ("Highest grade", "More is cut off."),
    "reading": ("Results that were not rated", "Implicit: looked at and not rated is a 0."),
    "max_displacement": ("Farthest move", "Positions from where you put a result; empty: no limit."),
    "promise": ("Promise of clicks", "Against your own order; empty: nothing is promised."),
    "fair": ("Fair exposure", "How exposure is shared between groups; empty: it is not counted."),
    "max_candidates": ("Most candidates", "In one request."),
    "max_features": ("Most features", "Of all requests."),
    "max_open": ("Most open lists", "With clicks, that wait for their window to close."),
    "snapshot_every": ("Snapshot every", "Versions."),
    "source_lists": ("Lists of one source", "By which one address or client may teach; empty: no limit."),
    "source_repeats": ("Repeats of one source", "Of them, by choosing the same object; empty: no limit."),
    "source_window": ("Time of one source", "Seconds within which these two are counted."),
}
GROUPS = {
    "What counts as a click": ("window", "actions", "learn_late", "grades", "highest_grade", "reading"),
    "How far a list may go": ("max_displacement",),
    "Promises": ("promise", "fair"),
    "Who may teach how much": ("source_lists", "source_repeats", "source_window"),
    "What ranks": ("policy", "scaling"),
    "Limits": ("max_candidates", "max_features", "max_open", "snapshot_every"),
}
