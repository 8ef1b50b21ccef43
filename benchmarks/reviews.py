"""Extraction from raw reviews: reviews per second on one core, beside the part-of-speech tagger alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from statistics import median
from time import process_time

from rankloop.lab.reviews import RawReview, extract
from rankloop.lab.reviews.part_of_speech import tagger
from tests.lab.reviews.samples import sample

REVIEWS = 720
PLAIN = (
    "I bought it in March for my sister, who lives in the north and often travels by train.",
    "It came in a brown box with a leaflet in four languages and two small screws in a bag.",
    "We have had three of these over the years and put the last one into the office downstairs.",
    "My neighbour asked me about it when she saw it on the table, and I told her where I had found it.",
)
"""What reviews say between opinions."""


def long_reviews(count: int) -> list[RawReview]:
    """Reviews of about 90 words: three of the sample and three sentences without an opinion, in turn."""
    written = sample()
    n, m = len(written), len(PLAIN)
    return [
        replace(
            written[row % n],
            text=" ".join(
                f"{written[(row + 7 * part + row // n) % n].text} {PLAIN[(row + part) % m]}"
                for part in range(3)
            ),
        )
        for row in range(count)
    ]


def timed(action: Callable[[], object]) -> float:
    """Seconds of this process that an action takes, whoever else is at work."""
    start = process_time()
    action()
    return process_time() - start


def result() -> dict[str, object]:
    """One row: reviews in a second, and how that compares to tagging the same texts."""
    reviews = long_reviews(REVIEWS)
    tag = tagger()
    found = extract(reviews)  # warm
    pairs = [
        (timed(lambda: extract(reviews)), timed(lambda: [tag(review.text) for review in reviews]))
        for _ in range(5)
    ]
    words = sum(len(review.text.split()) for review in reviews) / REVIEWS
    return {
        "bench": "reviews",
        "name": f"extraction, {words:.0f} words a review",
        "reviews_per_second": REVIEWS / median(seconds for seconds, _ in pairs),
        "mentions_per_review": sum(len(review.mentions) for review in found) / REVIEWS,
        "tagger_reviews_per_second": REVIEWS / median(seconds for _, seconds in pairs),
        "ratio": median(tagged / extracted for extracted, tagged in pairs),
    }
