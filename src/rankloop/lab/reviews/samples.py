"""Sample of raw reviews, written for this package: a small shop, for documentation and tests."""

from __future__ import annotations

from pathlib import Path

from rankloop.lab.reviews.reading import read_raw_reviews
from rankloop.lab.reviews.records import RawReview

SAMPLE = Path(__file__).with_name("sample.csv")


def sample() -> list[RawReview]:
    """The reviews of the sample.

    >>> len(sample()), sample()[0].item
    (36, 'kettle')
    """
    return read_raw_reviews(SAMPLE)
