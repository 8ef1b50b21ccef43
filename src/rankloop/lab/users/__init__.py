"""Simulated users: who looks at a ranking, and what they click."""

from rankloop.users.ad_clicks import AdClicks
from rankloop.users.cascade import Cascade, Stop
from rankloop.users.combinators import MaxClicks, RandomClicks
from rankloop.users.labels import Labels
from rankloop.users.position import PositionBased
from rankloop.users.presets import CASCADE_TABLES, Preset

__all__ = [
    "CASCADE_TABLES",
    "AdClicks",
    "Cascade",
    "Labels",
    "MaxClicks",
    "PositionBased",
    "Preset",
    "RandomClicks",
    "Stop",
]
