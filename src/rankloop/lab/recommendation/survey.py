"""Survey of people: a page that interviews them with two trees, and the sum of what they liked.

The page is one file without a server: it asks the questions of both trees, shows one list in which both
have drafted items in turn, each with its reasons, and lets whoever answers keep their answers as a file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binomtest

from rankloop.charts import json_element
from rankloop.errors import DataError, SettingError
from rankloop.recommend import Saved, best_items
from rankloop.recommend.interview import NUMBERS, next_question
from rankloop.recommend.item_explanations import explanation
from rankloop.recommend.phrases import Phrases

QUESTIONS = 5  # at most, of each tree
MARK = "<!-- data -->"


def survey_page(first: Saved, second: Saved, *, k: int = 10, questions: int = QUESTIONS) -> str:
    """The page, as HTML; it is blind: it does not say which list is whose."""
    if first.catalogue.items != second.catalogue.items:
        raise SettingError("both recommenders must know the same items; fit them to the same reviews")
    data = {
        "survey": survey_id(first, second),
        "k": k,
        "items": list(first.catalogue.items),
        "titles": list(first.catalogue.titles),
        "trees": [_node(each, {}, k, questions, Phrases.of(each.catalogue)) for each in (first, second)],
    }
    page = files("rankloop.lab.recommendation").joinpath("survey.html").read_text("utf-8")
    return page.replace(MARK, json_element("data", data))


def survey_id(first: Saved, second: Saved) -> str:
    """The id of a survey: whoever has both recommenders can tell that answers belong to them."""
    return hashlib.sha256(f"{first.digest} {second.digest}".encode()).hexdigest()


def _node(saved: Saved, answers: Mapping[int, int], k: int, left: int, phrases: Phrases) -> dict[str, Any]:
    """What is recommended after these answers and why, and the next question with what follows it."""
    question = next_question(saved.model, saved.catalogue, answers) if left else None
    found = _listed(saved, answers, k, phrases)
    if question is None:
        return found
    following = {
        name: _node(saved, {**answers, question.column: NUMBERS[name]}, k, left - 1, phrases)
        for name in question.leads_on
    }
    return {**found, "question": question.text, "after": following}


def _listed(saved: Saved, answers: Mapping[int, int], k: int, phrases: Phrases) -> dict[str, Any]:
    taste = saved.model.taste(answers=answers)
    items = best_items(np.asarray(saved.model.score_taste(taste))[None], None, k)[0]
    reasons = (saved.model.reasons(taste, int(item)) for item in items)
    why = [
        explanation(each, taste, saved.catalogue, phrases=phrases, features=saved.features)
        for each in reasons
    ]
    return {"list": [int(item) for item in items], "why": why}


@dataclass(frozen=True, slots=True)
class Votes:
    """Who liked more of whose items, and the sign test of it."""

    first: int
    second: int
    ties: int
    p: float  # two-sided, of equal chances among those who prefer one

    @classmethod
    def of(cls, likes: Iterable[tuple[int, int]]) -> Votes:
        """From the numbers of items of each that people liked.

        >>> Votes.of([(2, 0), (1, 0), (3, 1), (1, 1), (0, 2)])
        Votes(first=3, second=1, ties=1, p=0.625)
        """
        signs = [int(np.sign(one - other)) for one, other in likes]
        first, second = signs.count(1), signs.count(-1)
        chance = float(binomtest(first, first + second).pvalue) if first + second else 1.0
        return cls(first, second, signs.count(0), chance)


def read_answers(paths: Sequence[Path], *, survey: str | None = None) -> list[tuple[int, int]]:
    """How many items of each recommender every person liked, from the files that the page gave them.

    Answers of two surveys are not summed up: all must be of one, and of `survey` if that is given.
    """
    read = {path: _answers(path) for path in paths}
    if not read:
        raise DataError("expected files with answers, found none")
    surveys = {each["survey"] for each in read.values()} | ({survey} if survey else set())
    if len(surveys) > 1:
        raise DataError(f"expected answers to one survey, found {len(surveys)}; sum each up by itself")
    return [_likes(each) for each in read.values()]


def _answers(path: Path) -> dict[str, Any]:
    try:
        read = json.loads(path.read_text("utf-8"))
        teams = {each["item"]: each["team"] for each in read["shown"]}
        sound = (
            isinstance(read["survey"], str)
            and len(teams) == len(read["shown"])
            and set(teams.values()) <= {0, 1, None}
            and set(read["liked"]) <= set(teams)
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path}: expected answers that the survey's page gave, found {error!r}") from None
    if not sound:
        raise DataError(f"{path}: expected answers that the survey's page gave; something does not fit")
    return dict(read)


def _likes(answers: Mapping[str, Any]) -> tuple[int, int]:
    teams = {each["item"]: each["team"] for each in answers["shown"]}
    liked = [teams[item] for item in set(answers["liked"])]
    return liked.count(0), liked.count(1)
