"""Warm-up: judged lists that a policy learns from before its first round."""

from __future__ import annotations

from typing import Protocol, runtime_checkable


@runtime_checkable
class WarmsUp(Protocol):
    """Policy that learns from judged lists before its first round."""

    @property
    def warm_up(self) -> int:
        """How many judged lists it learns from."""
        ...

    @property
    def warm_up_batch(self) -> int:
        """How many of them are drawn at a time."""
        ...
