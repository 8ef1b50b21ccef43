"""Stateless interview: the answers so far lead to the next question, or to a taste in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

import msgspec
import numpy as np

from rankloop.errors import RequestError, SettingError
from rankloop.recommend import FMF, FacT, Recommender, Saved, Tree
from rankloop.recommend.factorization_tree import AT_LEAST, BELOW, STAYS
from rankloop.recommend.interview import NUMBERS, next_question

About: TypeAlias = Literal["feature", "attribute", "item"]
CHOICES = ("much", "little", "skip")


class AskedQuestion(msgspec.Struct, frozen=True):
    """A question, and how to answer it: `{question: "much"}` is an answer."""

    question: str  # its id, such as feature:fit
    about: About
    name: str
    text: str
    choices: tuple[str, ...] = CHOICES


class Interview(msgspec.Struct, frozen=True):
    """Where an interview stands; `done` if there is nothing more to ask."""

    ranker: str
    digest: str
    done: bool
    question: AskedQuestion | None
    asked: int  # questions answered so far
    at_most: int  # that may still come
    taste: tuple[str, ...]  # what the answers say, in words
    people: int  # of those learned from, how many answer so


class _Way(msgspec.Struct, frozen=True):
    """How far answers lead: those that count, by column, and the question after them."""

    counted: Mapping[int, int]
    question: AskedQuestion | None
    skipped: bool


def interviewed(ranker: str, saved: Saved, answers: Mapping[str, str]) -> Interview:
    """The next question after these answers; to skip one is to stop there."""
    way = _way(saved, answers)
    tree, node = _position(saved.model, way.counted)
    done = way.skipped or way.question is None
    return Interview(
        ranker=ranker,
        digest=saved.digest,
        done=done,
        question=None if done else way.question,
        asked=len(answers),
        at_most=0 if done else _questions_left(tree, node),
        taste=tuple(_described(saved, column, answer) for column, answer in way.counted.items()),
        people=_people(saved.model, tree, node),
    )


def understood(saved: Saved, answers: Mapping[str, str]) -> dict[int, int]:
    """Answers by column of the tree (1 much, -1 little); each must be to a question that was asked."""
    return dict(_way(saved, answers).counted)


def _way(saved: Saved, answers: Mapping[str, str]) -> _Way:
    counted: dict[int, int] = {}
    question, skipped, left = _next(saved, counted), False, dict(answers)
    while question is not None and not skipped and question[1].question in left:
        column, asked = question
        answer = left.pop(asked.question)
        skipped = answer == "skip"
        if not skipped:
            counted[column] = NUMBERS[answer]
            question = _next(saved, counted)
    following = None if question is None else question[1]
    if left:
        raise RequestError(
            _unasked(next(iter(left)), None if skipped else following, len(answers) - len(left))
        )
    return _Way(counted, following, skipped)


def _next(saved: Saved, counted: Mapping[int, int]) -> tuple[int, AskedQuestion] | None:
    try:
        found = next_question(saved.model, saved.catalogue, counted)
    except SettingError as error:  # it has no questions
        raise RequestError(str(error)) from error
    if found is None:
        return None
    about, key, name = subject(saved, found.column)
    return found.column, AskedQuestion(f"{about}:{key}", about, name, found.text)


def subject(saved: Saved, column: int) -> tuple[About, str, str]:
    """What a column of a tree's profiles is about: its kind, its id, and its name for people."""
    shop = saved.catalogue
    if isinstance(saved.model, FMF):
        return "item", shop.items[column], shop.titles[column]
    if column < len(shop.features):
        return "feature", shop.features[column], shop.features[column]
    token = shop.tokens[column - len(shop.features)]
    return "attribute", token, token


def _unasked(question: str, following: AskedQuestion | None, counted: int) -> str:
    after = f"after {counted} answer{'s' if counted != 1 else ''}"
    if following is None:
        return f"{question!r} was not asked: {after} the interview is over; leave that answer out"
    return f"{question!r} was not asked: {after} the question is {following.question!r}; answer that one"


def _described(saved: Saved, column: int, answer: int) -> str:
    about, _, name = subject(saved, column)
    if about == "item":
        return f"you {'liked' if answer > 0 else 'disliked'} {name}"
    if about == "feature":
        return f"{name} means {'much' if answer > 0 else 'little'} to you"
    return f"you are {'' if answer > 0 else 'not '}looking for {name}"


def _position(model: Recommender, counted: Mapping[int, int]) -> tuple[Tree, int]:
    assert isinstance(model, FacT | FMF)  # others were refused when they were asked for a question
    tree = model.tree
    return tree, tree.walk({column: AT_LEAST if answer > 0 else BELOW for column, answer in counted.items()})


def _questions_left(tree: Tree, node: int) -> int:
    if tree.feature[node] < 0:
        return 0
    following = [int(child) for child in tree.children[node, [AT_LEAST, BELOW]] if child != STAYS]
    return 1 + max((_questions_left(tree, child) for child in following), default=0)


def _people(model: Recommender, tree: Tree, node: int) -> int:
    """How many users were led to a node, or beyond it."""
    assert isinstance(model, FacT | FMF)
    below = np.zeros(len(tree.feature), bool)
    below[node] = True
    for each in range(node + 1, len(below)):  # a node comes after its parent
        below[each] = below[tree.parent[each]]
    return int(below[model.leaf].sum())
