"""Recommendation request: for whom, from what is known of them, and how many; checked where it is born."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import get_args

from rankloop.errors import RequestError
from rankloop.recommend.interview import Answer
from rankloop.service.core.lists.candidate_columns import Candidates
from rankloop.service.core.lists.rank_request import RankRequest
from rankloop.service.extensions.recommend.part import RecommendPart
from rankloop.short_text import LONGEST_NAME, check_text, check_texts

MOST_ITEMS = 1000  # past items, or answers
MOST_EXCLUDED = 10_000
ANSWERS: tuple[str, ...] = get_args(Answer)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RecommendRequest:
    """Who wants a list, and what they have and say; a user whom the recommender does not know is a newcomer.

    >>> RecommendRequest(ranker="shop", items=["item 3"], answers={"feature:fit": "much"}).n_candidates
    100
    """

    ranker: str = "default"
    user: str = ""
    items: Sequence[str] = ()  # past items, by id, beside those that the recommender has of the user
    answers: Mapping[str, str] = field(default_factory=dict)  # by question: much, little or skip
    k: int = 10
    n_candidates: int = 100  # that the recommender gives to the ranker
    exclude: Sequence[str] = ()  # not to be recommended
    user_query: str = ""
    client_id: str = ""
    session_id: str = ""
    query_id: str | None = None

    def __post_init__(self) -> None:
        """Refuse what nobody could recommend for; the rest is checked by the rank request."""
        n: object = self.n_candidates
        if not isinstance(n, int) or isinstance(n, bool) or n < 1:
            raise RequestError(f"n_candidates must be a whole number of at least 1, found {n!r}")
        _check_ids("items", self.items, MOST_ITEMS)
        _check_ids("exclude", self.exclude, MOST_EXCLUDED)
        check_answers(self.answers)

    def rank_request(self, candidates: Candidates, recommended: RecommendPart | None) -> RankRequest:
        """The request to rank what was recommended, in the recommender's order."""
        return RankRequest(
            ranker=self.ranker,
            candidates=candidates,
            k=self.k,
            user_query=self.user_query,
            client_id=self.client_id,
            session_id=self.session_id,
            query_id=self.query_id,
            user=self.user,
            recommended=recommended,
        )


def check_answers(answers: Mapping[str, str]) -> None:
    """Refuse answers that are none.

    >>> check_answers({"feature:fit": "perhaps"})
    Traceback (most recent call last):
    ...
    rankloop.errors.RequestError: an answer is much, little or skip, found 'perhaps' to 'feature:fit'
    """
    given: object = answers
    if not isinstance(given, Mapping) or len(given) > MOST_ITEMS:
        raise RequestError(f"answers must map up to {MOST_ITEMS} questions to much, little or skip")
    for question, answer in answers.items():
        check_text("a question", question, longest=LONGEST_NAME + 20)  # with what it is about
        if answer not in ANSWERS:
            raise RequestError(f"an answer is much, little or skip, found {answer!r} to {question!r}")


def _check_ids(name: str, ids: Sequence[str], most: int) -> None:
    given: object = ids
    if isinstance(given, str) or not isinstance(given, Sequence) or len(given) > most:
        raise RequestError(f"{name} must be up to {most} ids of items, found {repr(ids)[:50]}")
    check_texts(name, ids)
