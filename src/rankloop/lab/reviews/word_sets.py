"""Word sets, written as text."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """The words of a text.

    >>> sorted(word_set("of the of"))
    ['of', 'the']
    """
    return frozenset(text.split())
