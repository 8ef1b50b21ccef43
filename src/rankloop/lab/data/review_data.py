"""Reviews as data: readers, splits by share and by time, a made-up shop, and a catalogue of names."""

from rankloop.data.reviews.catalogue import load_reviews
from rankloop.data.reviews.shop import Shop
from rankloop.data.reviews.splits import Parts, by_share, by_time, joined, newcomers
from rankloop.data.reviews.summary import ReviewSummary, summary
from rankloop.data.reviews.tables import read_reviews, write_reviews
from rankloop.data.reviews.tidy import last_of_each, scaled_ratings
from rankloop.data.reviews.titles import with_titles
from rankloop.data.reviews.tuples import read_cellphones, read_instruments

__all__ = [
    "Parts",
    "ReviewSummary",
    "Shop",
    "by_share",
    "by_time",
    "joined",
    "last_of_each",
    "load_reviews",
    "newcomers",
    "read_cellphones",
    "read_instruments",
    "read_reviews",
    "scaled_ratings",
    "summary",
    "with_titles",
    "write_reviews",
]
