"""Decisions of operators: who decided, and why."""

from __future__ import annotations

from rankloop.short_text import check_text

LONGEST_REASON = 2000


def sign_decision(by: str, reason: str) -> dict[str, str]:
    """Return who and why, as a part of a decision's body; nothing where nothing is said.

    >>> sign_decision("anna", "")
    {'by': 'anna'}
    """
    check_text("the reason", reason, empty=True, longest=LONGEST_REASON)
    return {name: said for name, said in (("by", by), ("reason", reason)) if said}
