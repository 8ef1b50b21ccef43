"""Extraction: from the text of reviews to aspects with opinions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rankloop.lab.reviews.aspect_nouns import WEAK
from rankloop.lab.reviews.aspect_opinions import pairs
from rankloop.lab.reviews.clauses import clauses
from rankloop.lab.reviews.frequency import LEAST, frequent
from rankloop.lab.reviews.records import Mention, RawReview, ReadReview
from rankloop.lab.reviews.review_tokens import sentences, token, words


def extract(
    reviews: Iterable[RawReview], *, least: int = LEAST, ignored: Iterable[str] = ()
) -> list[ReadReview]:
    """Read reviews, and keep the aspects that at least so many of them mention.

    `ignored` are nouns of your own that are no aspects, such as the name of what you sell. What is found in a
    review follows from its text alone; which aspects are kept, from all reviews in any order.

    >>> text = "Nice shade, but the switch isn't reliable."
    >>> read, = extract([RawReview(user="ada", item="lamp", rating=2, text=text)], least=1)
    >>> [(each.aspect, each.opinion, each.sentiment) for each in read.mentions]
    [('shade', 'nice', 1), ('switch', 'reliable', -1)]
    """
    weak = WEAK.union(word.lower() for word in ignored)
    return frequent([read(review, weak=weak) for review in reviews], least=least)


def read(review: RawReview, *, weak: frozenset[str] = WEAK) -> ReadReview:
    """A review with everything that it mentions, however rare."""
    return ReadReview(
        user=review.user,
        item=review.item,
        rating=review.rating,
        time=review.time,
        title=review.title,
        mentions=tuple(mentions(review.text, weak=weak)),
    )


def mentions(text: str, *, weak: frozenset[str] = WEAK) -> Iterator[Mention]:
    """What a text mentions, in the order of its sentences.

    >>> next(mentions("I love it. The battery life is not great!"))
    Mention(aspect='battery life', opinion='great', sentiment=-1, sentence='The battery life is not great!')
    """
    for sentence in sentences(text):
        tokens = [token(word) for word in words(sentence)]
        for clause in clauses(tokens):
            inside = tokens[clause.start : clause.stop]
            for aspect, opinion in pairs(inside, weak=weak):
                name, said = (
                    " ".join(each.lower for each in inside[start:stop])
                    for start, stop in (aspect, (opinion.word, opinion.stop))
                )
                yield Mention(name, said, opinion.sentiment, sentence)
