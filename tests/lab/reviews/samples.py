"""A sample of raw reviews, written for these tests: a small shop."""

from __future__ import annotations

from pathlib import Path

from rankloop.lab.reviews import RawReview, read_raw_reviews

SAMPLE = Path(__file__).with_name("sample.csv")


def sample() -> list[RawReview]:
    """The 36 reviews of the sample."""
    return read_raw_reviews(SAMPLE)
