"""Interview of a newcomer: the answers so far lead to the next question, and nothing is kept in between."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from rankloop.errors import RequestError
from rankloop.recommend.factorization_tree import BRANCHES, STAYS, FactorizationTree
from rankloop.recommend.item_explanations import About, describe_answer, name_question
from rankloop.recommend.recommender import QuestionTree
from rankloop.recommend.recommender_file import FittedRecommender

Answer: TypeAlias = Literal["much", "little", "skip"]
NUMBERS: Mapping[str, int] = {"much": 1, "little": -1, "skip": 0}


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and how to answer it: `{question: "much"}` is an answer."""

    question: str  # its id, such as feature:fit
    about: About
    name: str
    text: str
    choices: tuple[str, ...] = tuple(NUMBERS)


@dataclass(frozen=True, slots=True)
class Interview:
    """Where an interview stands; `done` if there is nothing more to ask."""

    digest: str  # of the recommender
    done: bool
    question: Question | None
    answered: int  # questions so far
    questions_left: int  # that may still come
    taste: tuple[str, ...]  # what the answers say, in words
    similar_users: int  # of those learned from, how many stand there or beyond


class _Way(NamedTuple):
    """How far answers lead."""

    counted: dict[int, int]  # answers by column: 1, -1 or 0
    node: int
    question: Question | None  # None: nothing more to ask


def ask_next(fitted: FittedRecommender, answers: Mapping[str, str]) -> Interview:
    """Return the next question after these answers, by question: much, little or skip.

    >>> from rankloop.lab.data.review_data import AccessoryShop
    >>> from rankloop.recommend import Catalogue, FacT
    >>> reviews = AccessoryShop(users=80, items=24).reviews()
    >>> model = FacT(d=6, depth=3, min_leaf=5, attributes=False).fit(reviews, np.random.default_rng(0))
    >>> fitted = FittedRecommender.of(model, Catalogue.of(reviews))
    >>> ask_next(fitted, {}).question.text
    'How important is button to you?'
    >>> ask_next(fitted, {"feature:button": "much"}).taste
    ('button means much to you',)
    """
    questions, way = _get_tree(fitted), _follow(fitted, answers)
    told = [
        describe_answer(about, name, answer)
        for (about, _, name), answer in ((name_question(fitted, at), way.counted[at]) for at in way.counted)
        if answer
    ]
    return Interview(
        digest=fitted.digest,
        done=way.question is None,
        question=way.question,
        answered=len(answers),
        questions_left=_count_questions(questions.tree, way.node, way.counted) if way.question else 0,
        taste=tuple(told),
        similar_users=_count_users(questions, way.node),
    )


def read_answers(fitted: FittedRecommender, answers: Mapping[str, str]) -> dict[int, int]:
    """Return answers by column of the tree: 1 much, -1 little, 0 skipped; each must have been asked for."""
    return _follow(fitted, answers).counted


def _follow(fitted: FittedRecommender, answers: Mapping[str, str]) -> _Way:
    """Walk the tree by answers until one is missing, or a branch has nothing more to ask."""
    tree = _get_tree(fitted).tree
    _check_words(answers)
    node, left, counted = 0, dict(answers), dict[int, int]()
    question: Question | None = None
    while (column := int(tree.feature[node])) >= 0:
        question = None
        if column not in counted:  # a feature that is asked about twice has its answer
            question = _make_question(fitted, column)
            if question.question not in left:
                break
            counted[column] = NUMBERS[left.pop(question.question)]
        child = int(tree.children[node, BRANCHES[counted[column]]])
        question = None
        if child == STAYS:
            break
        node = child
    if left:
        raise RequestError(_refuse(next(iter(left)), question, len(answers) - len(left)))
    return _Way(counted, node, question)


def _check_words(answers: Mapping[str, str]) -> None:
    given: object = answers
    if not isinstance(given, Mapping):
        raise RequestError(f"answers stand by question, such as {{'feature:fit': 'much'}}, found {answers!r}")
    for question, answer in given.items():
        if not isinstance(answer, str) or answer not in NUMBERS:
            raise RequestError(f"an answer is {', '.join(NUMBERS)}, found {answer!r} to {question!r}")


def _get_tree(fitted: FittedRecommender) -> QuestionTree:
    questions = fitted.model.question_tree()
    if questions is None:
        raise RequestError(
            f"an interview needs a tree of questions (FacT or FMF), found {type(fitted.model).__name__}"
        )
    return questions


def _make_question(fitted: FittedRecommender, column: int) -> Question:
    about, key, name = name_question(fitted, column)
    text = {
        "item": f"How do you like {name}?",
        "feature": f"How important is {name} to you?",
        "attribute": f"Are you looking for something for, or with, {name}?",
    }[about]
    return Question(f"{about}:{key}", about, name, text)


def _refuse(question: str, following: Question | None, counted: int) -> str:
    after = f"after {counted} answer{'s' if counted != 1 else ''}"
    if following is None:
        return f"{question!r} was not asked: {after} the interview is over; leave that answer out"
    return f"{question!r} was not asked: {after} the question is {following.question!r}; answer that one"


def _count_questions(tree: FactorizationTree, node: int, counted: Mapping[int, int]) -> int:
    """Count the questions that may still come on the longest way, without those that have their answer."""
    column = int(tree.feature[node])
    if column < 0:
        return 0
    if column in counted:
        child = int(tree.children[node, BRANCHES[counted[column]]])
        return 0 if child == STAYS else _count_questions(tree, child, counted)
    return 1 + max(
        (
            _count_questions(tree, int(child), {**counted, column: answer})
            for answer, branch in BRANCHES.items()
            if (child := tree.children[node, branch]) != STAYS
        ),
        default=0,
    )


def _count_users(questions: QuestionTree, node: int) -> int:
    """Count the users who were led to a node, or beyond it."""
    below = np.zeros(len(questions.tree.feature), bool)
    below[node] = True
    for each in range(node + 1, len(below)):  # a node comes after its parent
        below[each] = below[questions.tree.parent[each]]
    return int(below[questions.leaves].sum())
