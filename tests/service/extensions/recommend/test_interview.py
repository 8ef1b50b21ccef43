"""Interviews: every way through the tree, walked without a memory."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rankloop.errors import RequestError
from rankloop.recommend import Interview
from rankloop.service import RecommendRequest
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import open_temporary_store
from tests.service.extensions.recommend.shop import CATALOGUE, fitted, saved


def ways(service: ServiceFacade, answers: dict[str, str]) -> Iterator[tuple[dict[str, str], Interview]]:
    """All interviews that begin with these answers, each with where it stands."""
    found = service.interview("shop", answers)
    yield answers, found
    if found.question is not None:
        for choice in found.question.choices:
            yield from ways(service, answers | {found.question.question: choice})


@pytest.mark.parametrize("name", ["fact", "fmf"])
def test_every_way_through_the_tree_ends_where_its_taste_is(name: str) -> None:
    service, model = ServiceFacade(open_temporary_store(), recommenders={"shop": saved(name)}), fitted(name)
    questions = model.question_tree()
    assert questions is not None
    tree, every = questions.tree, dict[tuple[tuple[str, str], ...], Interview]()
    for answers, found in ways(service, {}):
        every[tuple(answers.items())] = found
        assert found.done == (found.question is None) == (found.questions_left == 0)
        assert found.answered == len(answers)
        assert len(found.taste) == sum(answer != "skip" for answer in answers.values())
        profile = service.recommender("shop").find_profile("", (), answers)
        assert profile is not None
        path = tree.path(profile.node)
        leaves = questions.leaves.tolist()
        assert found.similar_users == sum(path == tree.path(each)[: len(path)] for each in leaves)
    assert every[()].similar_users == len(CATALOGUE.users)
    for way, found in every.items():  # what follows is what was promised
        following = [each for each in every if each[: len(way)] == way]
        assert max(len(each) - len(way) for each in following) == found.questions_left
    done = [found for found in every.values() if found.done]
    assert len(done) > 4
    assert len({found.digest for found in done}) == 1


def test_the_order_of_answers_is_the_trees_and_others_are_refused() -> None:
    service = ServiceFacade(open_temporary_store(), recommenders={"shop": saved()})
    first = service.interview("shop").question
    assert first is not None
    second = service.interview("shop", {first.question: "much"}).question
    assert second is not None
    both = {second.question: "little", first.question: "much"}
    assert (
        service.interview("shop", both).taste == service.interview("shop", dict(sorted(both.items()))).taste
    )
    with pytest.raises(RequestError, match=f"after 0 answers the question is '{first.question}'"):
        service.interview("shop", {second.question: "little"})
    skipped = service.interview("shop", {first.question: "skip"}).question
    assert skipped is None or skipped.question not in (first.question, second.question)
    with pytest.raises(RequestError, match="needs a tree"):
        ServiceFacade(open_temporary_store(), recommenders={"shop": saved("ials")}).interview("shop")


def test_what_is_answered_is_among_the_reasons() -> None:
    service = ServiceFacade(open_temporary_store(), recommenders={"shop": saved("fmf")})
    question = service.interview("shop").question
    assert question is not None
    assert question.about == "item"
    request = RecommendRequest(ranker="shop", answers={question.question: "much"})
    answer = service.recommend(request)
    conditions = {(part.id, part.condition) for each in answer.reasons for part in each.parts}
    assert conditions == {("", "everybody"), (question.question.removeprefix("item:"), "liked")}
    said = [text for each in answer.reasons for text in each.sentences]
    assert any(f"you liked {question.name}" in text for text in said)
