"""Review records: a review as it was written, and as it was read."""

from __future__ import annotations

from dataclasses import dataclass

from rankloop.errors import DataError


@dataclass(frozen=True, slots=True, kw_only=True)
class RawReview:
    """What somebody wrote about an item, with the stars they gave it."""

    user: str
    item: str
    rating: float
    text: str
    time: int | None = None  # seconds since 1970
    title: str = ""  # of the item


@dataclass(frozen=True, slots=True)
class Mention:
    """An aspect of an item, the word that praises it (1) or complains of it (-1), and where that is said."""

    aspect: str
    opinion: str
    sentiment: int
    sentence: str

    def __post_init__(self) -> None:
        """Refuse a mention without an opinion."""
        if self.sentiment not in (-1, 1):
            raise DataError(f"a sentiment must be 1 or -1, found {self.sentiment!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadReview:
    """A review with what it mentions instead of its text."""

    user: str
    item: str
    rating: float
    time: int | None = None
    title: str = ""
    mentions: tuple[Mention, ...] = ()
