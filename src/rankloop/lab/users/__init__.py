"""Simulated users: who looks at a ranking, and what they click."""

from rankloop.lab.users.ad_clicks import AdClicks
from rankloop.lab.users.click_models import Cascade, Stop
from rankloop.lab.users.combinators import MaxClicks, RandomClicks
from rankloop.lab.users.label_judge import Labels
from rankloop.lab.users.position import PositionBased
from rankloop.lab.users.user_presets import CASCADE_TABLES, Preset

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
