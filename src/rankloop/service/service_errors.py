"""Errors of a request that comes too late, and of a past that is gone."""

from __future__ import annotations

from rankloop.errors import RankloopError, RequestError


class ConflictError(RequestError):
    """A request that does not fit what is in force, or under way, by now; nothing was changed."""


class HistoryError(RankloopError, LookupError):
    """A past that is not kept any more, or never was."""
