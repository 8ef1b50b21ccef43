"""Opinions about aspects, read out of raw reviews."""

from rankloop.lab.reviews.mention_extraction import (
    LEAST,
    Mention,
    RawReview,
    ReadReview,
    check_new,
    extract,
    extract_mentions,
    keep_frequent,
    read_raw_reviews,
    read_review,
    write_extracted,
)
from rankloop.lab.reviews.review_report import ReviewReport, compute_auc, report_reviews

__all__ = [
    "LEAST",
    "Mention",
    "RawReview",
    "ReadReview",
    "ReviewReport",
    "check_new",
    "compute_auc",
    "extract",
    "extract_mentions",
    "keep_frequent",
    "read_raw_reviews",
    "read_review",
    "report_reviews",
    "write_extracted",
]
