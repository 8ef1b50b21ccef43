"""Explanations: every sentence has support, and an interview follows its tree to the end."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from rankloop.lab.data.review_data import AccessoryShop
from rankloop.lab.recommenders import FMF
from rankloop.recommend import (
    IALS,
    MTER,
    Catalogue,
    Explanation,
    FacT,
    FactorizationTree,
    FittedRecommender,
    MostPopular,
    Recommender,
    UserProfile,
    ask_next,
    explain_items,
    read_answers,
)
from rankloop.recommend.interview import NUMBERS
from rankloop.recommend.item_explanations import choose_features, write_feature_sentences
from rankloop.recommend.reviews import Mentions, Reviews

REVIEWS = AccessoryShop(users=120, items=36).reviews()
SHOP = Catalogue.of(REVIEWS)
RNG = np.random.default_rng
PRAISE = r"(?:You often mention|Its) (\w+)[;:] (\d+) of (\d+) mentions praise it(?:, mostly as (\w+))?\."


def fit(model: Recommender) -> FittedRecommender:
    return FittedRecommender(model.fit(REVIEWS, RNG(0)), SHOP, "digest")


@pytest.fixture(scope="module")
def fitted() -> FittedRecommender:
    return fit(FacT(d=8, depth=4, min_leaf=5, leaf_weight=0.3))


def reasons_in(sentence: str) -> list[str]:
    """The reasons that a sentence gives for an item."""
    first = sentence.partition(". Against it: ")[0].removesuffix(".")
    return re.sub(r"^(Mostly b|B)ecause ", "", first).split("; also, ")


def test_what_a_sentence_says_is_among_the_parts_and_was_counted() -> None:
    told: Counter[str] = Counter()
    for weight, attributes in product((0.3, 5.0, float("inf")), (True, False)):
        fitted = fit(FacT(d=8, depth=4, min_leaf=5, leaf_weight=weight, attributes=attributes))
        for user in range(0, 120, 7):
            profile = fitted.model.profile_user(user)
            for found in explain_items(fitted, profile, np.arange(0, 36, 5)):
                told.update(check_explanation(found, profile))
    kinds = {"item", "often", "mention", "token", "general", "against", "mostly", "because"}
    assert set(told) >= kinds, told


def check_explanation(found: Explanation, profile: UserProfile) -> list[str]:
    """Compare the sentence with the parts and with the reviews; the kinds of what is told."""
    amounts = [part.amount for part in found.parts]
    assert amounts == sorted(amounts, reverse=True)
    sentence = next((text for text in found.sentences if text.startswith(("Mostly", "Because"))), "")
    speaking = {part.name: part.amount for part in found.parts if part.amount > 0}
    told = [sentence[:7].strip().lower()] if sentence else []
    for text in reasons_in(sentence) if sentence else []:
        if what := re.fullmatch(r"you reviewed (.*)", text):
            assert what[1] in [SHOP.titles[item] for item in profile.items]
            assert speaking[what[1]] > 0
            told.append("item")
        elif what := re.fullmatch(r"you (often )?mention (\w+)", text):
            count = SHOP.by_user[profile.row, SHOP.features.index(what[2])]
            assert count > 0
            assert bool(what[1]) == (count >= 2)
            told.append("often" if what[1] else "mention")
        elif what := re.fullmatch(r"(\d+) of your (\d+) items are for (\w+)", text):
            token = SHOP.tokens.index(what[3])
            with_it = sum(SHOP.attributes[item, token] > 0 for item in profile.items)
            assert (int(what[1]), int(what[2])) == (with_it, len(profile.items))
            told.append("token")
        else:
            assert text == "people like it in general"
            told.append("general")
    if against := re.search(r"Against it: (.*)\.$", " ".join(found.sentences[:1])):
        assert min(part.amount for part in found.parts if part.name == against[1]) < 0
        told.append("against")
    return told


def test_no_sentence_has_a_share_of_a_sum(fitted: FittedRecommender) -> None:
    for user in range(0, 120, 10):
        for found in explain_items(fitted, fitted.model.profile_user(user), np.arange(36)):
            assert not any("%" in text for text in found.sentences)


def test_features_are_praised_by_those_who_are_counted() -> None:
    for item in range(36):
        chosen = choose_features(SHOP, item, 3, count=3)
        for text in write_feature_sentences(item, chosen, SHOP, user=3):
            found = re.search(PRAISE, text)
            assert found, text
            mentions, feature = REVIEWS.mentions, REVIEWS.features.index(found[1])
            mine = (REVIEWS.item[mentions.review] == item) & (mentions.feature == feature)
            good = mine & (mentions.sentiment == 1)
            assert (int(found[2]), int(found[3])) == (good.sum(), mine.sum())
            counts = np.bincount(mentions.word[good], minlength=9)
            assert found[4] == REVIEWS.words[int(counts.argmax())]
            often = (REVIEWS.user[mentions.review] == 3) & (mentions.feature == feature)
            assert text.startswith("You often") == (often.sum() >= 2)


def test_a_model_without_parts_names_the_features_that_it_scores_highest() -> None:
    tensors = fit(MTER(dims=(4, 4, 3, 3), iterations=30))
    profile, items = tensors.model.profile_user(3), np.array([2, 5])
    scores = tensors.model.score_features(profile, items)
    for place, found in enumerate(explain_items(tensors, profile, items)):
        assert not found.exact
        best = np.argsort(-scores[place], kind="stable")[:2].tolist()
        expected = write_feature_sentences(int(items[place]), best, SHOP, user=3)
        assert list(found.sentences) == expected


def test_an_average_user_is_not_told_a_number_of_people() -> None:
    average, counted = fit(IALS(d=8)), fit(MostPopular())
    (found,) = explain_items(average, average.model.profile_newcomer(), [3])
    assert found.sentences[0] == "Mostly because people like it in general."
    (found,) = explain_items(counted, counted.model.profile_newcomer(), [3])
    assert found.sentences[0] == f"{int((REVIEWS.item == 3).sum())} people reviewed it."
    assert found.parts[0].name == SHOP.titles[3]


def test_the_shortest_sentence_that_praises_is_quoted() -> None:
    texts = ("A lid of good fit and form.", "A good fit.", "A bad fit.", "x" * 200)
    mentions = Mentions(
        np.array([0, 1, 2, 3]), np.zeros(4, int), np.array([1, 1, -1, 1]), sentence=np.array([0, 1, 2, 3])
    )
    reviews = Reviews(
        user=np.arange(4),
        item=np.zeros(4, int),
        rating=np.full(4, 4.0),
        users=tuple("abcd"),
        items=("lid",),
        mentions=mentions,
        features=("fit",),
        sentences=texts,
    )
    shop = Catalogue.of(reviews)
    assert shop.quotes == {(0, 0): "A good fit."}
    told = write_feature_sentences(0, [0], shop)
    assert told == ["Its fit: 3 of 4 mentions praise it.", "A reviewer: “A good fit.”"]


# interviews


@pytest.mark.parametrize("skipped", [False, True])
def test_an_interview_follows_the_tree_to_its_end(skipped: bool) -> None:
    """Whoever skips a question is led on to where others of whom nothing is known stand."""
    fitted = fit(FacT(d=8, depth=4, min_leaf=5, attributes=False))
    tree = fitted.model.question_tree()
    assert tree is not None
    answers: dict[str, str] = {}
    while (question := ask_next(fitted, answers).question) is not None:
        answers[question.question] = "skip" if skipped else "much"
    profile = fitted.model.profile_newcomer(answers=read_answers(fitted, answers))
    line = [0]
    while (child := int(tree.tree.children[line[-1], 2 if skipped else 0])) >= 0:
        line.append(child)
    assert profile.node == line[-1]
    assert len(answers) >= len(set(tree.tree.feature[line]) - {-1}) > 1
    told = [f"{question.partition(':')[2]} means much to you" for question in answers]
    assert list(ask_next(fitted, answers).taste) == ([] if skipped else told)


@pytest.mark.parametrize(
    "kind", [MostPopular(), IALS(d=6), FacT(d=6, depth=3, min_leaf=5), FMF(d=6, min_leaf=5)]
)
def test_whoever_was_learned_from_is_met_again_the_same(kind: Recommender) -> None:
    model = kind.fit(REVIEWS, RNG(0))
    again = model.with_users_of(REVIEWS)
    assert again.score_users(np.arange(9)) == pytest.approx(model.score_users(np.arange(9)))
    strangers = model.with_users_of(REVIEWS.select(np.zeros(len(REVIEWS), bool)))
    scores = strangers.score_users(np.arange(2))
    assert (scores[0] == scores[1]).all()
    assert np.ptp(scores[0]) > 0


@pytest.mark.parametrize("kind", [FacT(d=6, depth=3, min_leaf=5), FMF(d=6, depth=3, min_leaf=4)])
def test_a_past_item_leads_on_from_where_the_answers_lead(kind: FacT | FMF) -> None:
    stars = np.where(REVIEWS.item % 2, 1.0, REVIEWS.rating)  # what some items got is never below 1
    model = kind.fit(replace(REVIEWS, rating=stars), RNG(0))
    tree = model.tree
    asked = [int(column) for column in np.unique(tree.feature) if column >= 0]
    unrelated = next(
        item
        for item in range(36)
        if model.profile_newcomer([item]).node in _unknown_line(tree) and item not in asked
    )
    for signs in product(NUMBERS.values(), repeat=min(len(asked), 5)):
        answers = dict(zip(asked, signs, strict=False))
        stopped, led = model.profile_newcomer(answers=answers), model.profile_newcomer([unrelated], answers)
        path = tree.path(led.node)
        assert stopped.node in path
        for node in path[1:]:
            answer = answers.get(int(tree.feature[tree.parent[node]]))
            assert answer is None or tree.branch(node) == {1: 0, -1: 1, 0: 2}[answer]


@pytest.mark.parametrize("highest", [5.0, 100.0])
def test_a_past_item_counts_as_liked_on_any_scale(highest: float) -> None:
    scaled = replace(REVIEWS, rating=1 + (REVIEWS.rating - 1) * (highest - 1) / 4, highest=highest)
    model = FMF(d=6, depth=3, min_leaf=4).fit(scaled, RNG(0))
    item = int(model.tree.feature[0])
    assert model.profile_newcomer([item]).node == model.profile_newcomer([item], {item: 1}).node
    assert int(model.tree.children[0, 0]) in model.tree.path(model.profile_newcomer([item]).node)


def _unknown_line(tree: FactorizationTree) -> set[int]:
    """The nodes that someone of whom nothing is known passes."""
    nodes = [0]
    while tree.feature[nodes[-1]] >= 0 and tree.children[nodes[-1], 2] >= 0:
        nodes.append(int(tree.children[nodes[-1], 2]))
    return set(nodes)
