"""Errors of a request, and of a past that is gone."""

from __future__ import annotations

from rankloop.types import RankloopError


class RequestError(RankloopError, ValueError):
    """A request that says something impossible; nothing was changed."""


class HistoryError(RankloopError, LookupError):
    """A past that is not kept any more, or never was."""
