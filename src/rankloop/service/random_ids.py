"""Ids that nobody can guess, drawn many at a time: asking the system for each takes longer than using it."""

from __future__ import annotations

import os

POOL = 256


class RandomIds:
    """128 random bits as 32 digits, each time others; any number of threads.

    >>> fresh = RandomIds()
    >>> len(fresh()), fresh() == fresh()
    (32, False)
    """

    def __init__(self) -> None:
        self._pool: list[str] = []
        if hasattr(os, "register_at_fork"):  # two processes must not draw from one pool
            os.register_at_fork(after_in_child=self._pool.clear)

    def __call__(self) -> str:
        """The next id."""
        try:
            return self._pool.pop()
        except IndexError:
            digits = os.urandom(16 * POOL).hex()
            self._pool.extend(digits[start : start + 32] for start in range(32, len(digits), 32))
            return digits[:32]


random_id = RandomIds()
