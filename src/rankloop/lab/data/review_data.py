"""Reviews as data: readers, splits by share and by time, a made-up shop, and a catalogue of names."""

from rankloop.lab.data.published_reviews import read_cellphones, read_instruments
from rankloop.lab.data.review_collections import load_reviews
from rankloop.lab.data.review_files import (
    last_of_each,
    read_reviews,
    scaled_ratings,
    with_titles,
    write_reviews,
)
from rankloop.lab.data.review_splits import Parts, by_share, by_time, joined, newcomers
from rankloop.lab.data.synthetic_reviews import AccessoryShop

__all__ = [
    "AccessoryShop",
    "Parts",
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
    "with_titles",
    "write_reviews",
]
