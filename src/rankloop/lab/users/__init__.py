"""Simulated users: who looks at a ranking, and what they click."""

from rankloop.lab.users.click_models import AdUser, Cascade, PositionBased, Stop
from rankloop.lab.users.label_judge import LabelJudge
from rankloop.lab.users.user_model import UserModel
from rankloop.lab.users.user_names import USERS, NamedUser, read_user, write_user
from rankloop.lab.users.user_presets import CASCADE_TABLES, PresetUser

__all__ = [
    "CASCADE_TABLES",
    "USERS",
    "AdUser",
    "Cascade",
    "LabelJudge",
    "NamedUser",
    "PositionBased",
    "PresetUser",
    "Stop",
    "UserModel",
    "read_user",
    "write_user",
]
