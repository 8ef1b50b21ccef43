"""Text: opinions about aspects, read out of raw reviews."""

from rankloop.lab.reviews.frequency import LEAST, frequent
from rankloop.lab.reviews.mention_extraction import extract, mentions, read
from rankloop.lab.reviews.reading import read_raw_reviews
from rankloop.lab.reviews.records import Mention, RawReview, ReadReview
from rankloop.lab.reviews.review_report import Diagnosis, auc, diagnose
from rankloop.lab.reviews.samples import SAMPLE, sample
from rankloop.lab.reviews.writing import check_new, write_reviews

__all__ = [
    "LEAST",
    "SAMPLE",
    "Diagnosis",
    "Mention",
    "RawReview",
    "ReadReview",
    "auc",
    "check_new",
    "diagnose",
    "extract",
    "frequent",
    "mentions",
    "read",
    "read_raw_reviews",
    "sample",
    "write_reviews",
]
