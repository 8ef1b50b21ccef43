"""Interview of a newcomer: the questions of a user tree, one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rankloop.errors import SettingError
from rankloop.recommend.fact import FacT
from rankloop.recommend.factorization_tree import AT_LEAST, BELOW, STAYS
from rankloop.recommend.fmf import FMF
from rankloop.recommend.item_catalogue import Catalogue
from rankloop.recommend.recommender import Recommender

Answer: TypeAlias = Literal["much", "little", "skip"]
NUMBERS: Mapping[str, int] = {"much": 1, "little": -1}


@dataclass(frozen=True, slots=True)
class Question:
    """A question, what it is about, and which answers lead on."""

    column: int  # of the profile: a feature, then title words; an item, for FMF
    text: str
    leads_on: tuple[str, ...]  # answers after which there may be more to ask


def next_question(model: Recommender, catalogue: Catalogue, answers: Mapping[int, int]) -> Question | None:
    """What to ask next, given answers so far (1 much, -1 little); nothing, if the tree has no more to ask.

    Whoever skips a question stops there: the vector of that node is all that can be said.

    >>> import numpy as np
    >>> from rankloop.lab.data.review_data import Shop
    >>> reviews = Shop(users=80, items=24).reviews()
    >>> model = FacT(d=6, depth=3, min_leaf=5, attributes=False).fit(reviews, np.random.default_rng(0))
    >>> next_question(model, Catalogue.of(reviews), {}).text
    'How important is button to you?'
    """
    if not isinstance(model, FacT | FMF):
        raise SettingError(f"an interview needs a tree of questions (fact or fmf), found {model.name}")
    node = model.tree.walk({column: AT_LEAST if answer > 0 else BELOW for column, answer in answers.items()})
    column = int(model.tree.feature[node])
    if column < 0 or column in answers:
        return None
    children = model.tree.children[node]
    leads_on = tuple(
        name for name, branch in (("much", AT_LEAST), ("little", BELOW)) if children[branch] != STAYS
    )
    return Question(column, _text(model, catalogue, column), leads_on)


def _text(model: FacT | FMF, catalogue: Catalogue, column: int) -> str:
    if isinstance(model, FMF):
        return f"How do you like {catalogue.titles[column]}?"
    if column < len(catalogue.features):
        return f"How important is {catalogue.features[column]} to you?"
    return (
        f"Are you looking for something for, or with, {catalogue.tokens[column - len(catalogue.features)]}?"
    )
