"""Sentences in which people marked triplets of aspect, opinion and sentiment, and a judge of extraction.

A line is `sentence####[([aspect token ids], [opinion token ids], 'POS'), ...]`, its tokens between blanks.
"""

from __future__ import annotations

import ast
import gzip
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from rankloop.lab.reviews.aspect_opinions import join_opinions
from rankloop.lab.reviews.review_tokens import make_token, split_clauses

Span: TypeAlias = tuple[int, ...]
Triplets: TypeAlias = dict[tuple[Span, Span], str]  # aspect and opinion, as tokens of the sentence


@dataclass(frozen=True)
class Judgement:
    """Exact matches: every token of the aspect and of the opinion, and the sentiment.

    `polarity` is the share with a matching sentiment of the pairs that match and are not marked as neutral.
    """

    precision: float
    recall: float
    polarity: float

    @property
    def f1(self) -> float:
        return 2 * self.precision * self.recall / (self.precision + self.recall)


def find(name: str) -> Path | None:
    """A file of marked sentences below the folders of RANKLOOP_DATA."""
    roots = [Path(root) for root in os.environ.get("RANKLOOP_DATA", "").split(os.pathsep) if root]
    places = (root / folder / name for root in roots for folder in ("aste", "later/aste"))
    return next((path for path in places if path.exists()), None)


def marked(path: Path) -> Iterator[tuple[list[str], Triplets]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            sentence, _, triplets = line.partition("####")
            found = ast.literal_eval(triplets)
            yield sentence.split(" "), {(tuple(a), tuple(o)): sentiment for a, o, sentiment in found}


def extracted(words: list[str]) -> Triplets:
    sentence = [make_token(word) for word in words]
    return {
        (
            tuple(range(clause.start + aspect.start, clause.start + aspect.stop)),
            tuple(range(clause.start + opinion.start, clause.start + opinion.stop)),
        ): "POS" if opinion.sentiment > 0 else "NEG"
        for clause in split_clauses(sentence)
        for aspect, opinion in join_opinions(sentence[clause.start : clause.stop])
    }


def judge(path: Path) -> Judgement:
    both = [(truth, extracted(words)) for words, truth in marked(path)]
    matched = [(truth[pair], found[pair]) for truth, found in both for pair in truth.keys() & found.keys()]
    right = sum(marked == said for marked, said in matched)
    return Judgement(
        precision=right / sum(len(found) for _, found in both),
        recall=right / sum(len(truth) for truth, _ in both),
        polarity=right / sum(marked != "NEU" for marked, _ in matched),
    )
