"""Users by name: `perfect`, `navigational(stop_at='every')`, `labels(top_k=2)`, `ads(match=0.04)`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from rankloop.lab.users.click_models import AdUser
from rankloop.lab.users.label_judge import LabelJudge
from rankloop.lab.users.user_presets import CASCADE_TABLES, PresetUser
from rankloop.naming import read_name, write_name

NamedUser: TypeAlias = PresetUser | LabelJudge | AdUser
USERS: Mapping[str, Callable[..., NamedUser] | str] = {
    **{name: f"PresetUser({name!r})" for name in CASCADE_TABLES},
    "labels": LabelJudge,
    "ads": AdUser,
    "PresetUser": PresetUser,
}


def read_user(text: str) -> NamedUser:
    """Make the user that a text names.

    >>> read_user("navigational(stop_at=every)")
    PresetUser(name='navigational', stop_at='every')
    >>> read_user("labels(top_k=2)")
    LabelJudge(top_k=2, whole_query=False, noise=0.0)
    """
    return read_name(text, USERS, noun="user")


def write_user(user: NamedUser) -> str:
    """Write the text that makes the user again.

    >>> write_user(PresetUser("navigational", "every")), write_user(PresetUser("perfect"))
    ("navigational(stop_at='every')", 'perfect()')
    >>> write_user(AdUser(match=0.04))
    'ads(match=0.04)'
    """
    if isinstance(user, PresetUser):
        return f"{user.name}({'' if user.stop_at == 'click' else f'stop_at={user.stop_at!r}'})"
    return write_name(user, name="labels" if isinstance(user, LabelJudge) else "ads")
