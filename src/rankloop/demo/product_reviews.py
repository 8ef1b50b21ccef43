"""Reviewers of the demo's shop: who they are, what they buy, and what they write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rankloop.demo.goods import FEATURES, Good, Saying, goods, sayings
from rankloop.lab.data.review_data import with_titles
from rankloop.recommend.reviews import Mentions, Reviews
from rankloop.types import FloatArray

REVIEWERS = 140
SEED = 8
PERSONAS: Mapping[str, Mapping[str, float]] = {
    "walks far": {"weight": 6, "setup": 2, "dryness": 2},
    "comes with children": {"room": 5, "comfort": 3, "price": 1, "setup": 1},
    "goes out in winter": {"warmth": 6, "sturdiness": 2, "dryness": 2},
    "likes to cook": {"cleaning": 6, "sturdiness": 3, "room": 1},
    "looks at the price": {"price": 7, "setup": 2, "sturdiness": 1},
}
"""What people who shop here care for; nobody tells the recommender."""


@dataclass(frozen=True, slots=True)
class Review:
    """What somebody wrote about a good."""

    user: str
    good: str
    stars: int
    said: tuple[Saying, ...]

    @property
    def text(self) -> str:
        """The whole review."""
        return " ".join(each.sentence for each in self.said)


def qualities(items: Sequence[Good]) -> FloatArray:
    """How good each feature of each good is: 1, -1, or 0 if nothing is special about it, [n, n_features]."""
    return np.array(
        [[(name in each.good) - (name in each.bad) for name in FEATURES] for each in items], float
    )


def care(persona: str) -> FloatArray:
    """How much someone cares for each feature; sums to 1, [n_features].

    >>> care("walks far")[:2].tolist()
    [0.6, 0.0]
    """
    weights = np.array([PERSONAS[persona].get(name, 0.0) for name in FEATURES])
    return np.asarray(weights / weights.sum())


def written(seed: int = SEED) -> list[Review]:
    """All reviews; the same seed gives the same ones.

    >>> first = written()[0]
    >>> len(first.said) in (2, 3, 4), first.stars in (1, 2, 3, 4, 5)
    (True, True)
    """
    rng = np.random.default_rng(np.random.SeedSequence([seed, 47]))
    items, personas = goods(), list(PERSONAS)
    quality, popularity = qualities(items), 0.6 * rng.normal(size=len(items))
    found: list[Review] = []
    for number in range(REVIEWERS):
        mind = 0.85 * care(personas[number % len(personas)]) + 0.15 * rng.dirichlet(np.ones(len(FEATURES)))
        liking = 5 * quality @ mind + popularity + rng.gumbel(size=len(items))
        bought = np.argsort(-liking)[: rng.integers(4, 9)]
        found += [_review(f"camper {number}", items[row], mind, quality[row], rng) for row in bought]
    return found


def _review(user: str, good: Good, mind: FloatArray, quality: FloatArray, rng: np.random.Generator) -> Review:
    spoken_of = np.array([name in good.spoken_of for name in FEATURES])
    weights = (mind + 0.06) * spoken_of
    count = int(rng.integers(2, 5))
    features = rng.choice(len(FEATURES), count, replace=False, p=weights / weights.sum())
    said = []
    for feature in features:
        praises = quality[feature] + 0.4 + 0.6 * rng.normal() > 0
        choices = sayings()[FEATURES[feature], 1 if praises else -1]
        said.append(choices[int(rng.integers(len(choices)))])
    liking = 3.2 + 2 * float(mind @ quality) + 0.4 * sum(each.sentiment for each in said)
    stars = int(np.clip(np.rint(liking + 0.4 * rng.normal()), 1, 5))
    return Review(user, good.id, stars, tuple(_filled(each, good) for each in said))


def _filled(saying: Saying, good: Good) -> Saying:
    return Saying(
        saying.feature, saying.sentiment, saying.word, saying.sentence.replace("{thing}", good.kind)
    )


def as_reviews(found: Sequence[Review]) -> Reviews:
    """The reviews as data, with the features they mention, the words and the sentences."""
    items = goods()
    users = tuple(dict.fromkeys(each.user for each in found))
    words = tuple(sorted({said.word for each in found for said in each.said}))
    sentences = dict.fromkeys(said.sentence for each in found for said in each.said)
    number = {sentence: row for row, sentence in enumerate(sentences)}
    rows = [
        (row, FEATURES.index(each.feature), each.sentiment, words.index(each.word), number[each.sentence])
        for row, review in enumerate(found)
        for each in review.said
    ]
    names = {each.id: row for row, each in enumerate(items)}
    reviews = Reviews(
        user=np.array([users.index(each.user) for each in found]),
        item=np.array([names[each.good] for each in found]),
        rating=np.array([each.stars for each in found], float),
        users=users,
        items=tuple(names),
        mentions=Mentions(*np.array(rows, np.int64).T),
        features=FEATURES,
        words=words,
        sentences=tuple(sentences),
    )
    return with_titles(reviews, [each.title for each in items], least=4)
