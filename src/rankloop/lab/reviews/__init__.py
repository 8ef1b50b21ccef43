"""Text: opinions about aspects, read out of raw reviews."""

from rankloop.text.doctor import Diagnosis, auc, diagnose
from rankloop.text.extraction import extract, mentions, read
from rankloop.text.frequency import LEAST, frequent
from rankloop.text.reading import read_raw_reviews
from rankloop.text.records import Mention, RawReview, ReadReview
from rankloop.text.samples import SAMPLE, sample
from rankloop.text.writing import check_new, write_reviews

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
