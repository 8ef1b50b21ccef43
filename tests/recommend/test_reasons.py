"""Reasons in words, features, phrases, interviews and their quality."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from rankloop.errors import SettingError
from rankloop.lab.data.review_data import Shop, by_share
from rankloop.lab.recommendation.quality import feature_quality, past_item_necessity
from rankloop.recommend import FMF, IALS, Catalogue, FacT, MostPopular, Recommender, Tree, load, save
from rankloop.recommend.feature_ranker import FeatureRanker, mentioned
from rankloop.recommend.interview import next_question
from rankloop.recommend.item_explanations import feature_sentences, sentences, shared_features
from rankloop.recommend.phrases import Phrases
from rankloop.recommend.reasons import Reasons
from rankloop.recommend.reviews import Mentions, Reviews
from rankloop.types import FloatArray

REVIEWS = Shop(users=120, items=36).reviews()
SHOP = Catalogue.of(REVIEWS)
RNG = np.random.default_rng
PRAISE = r"(?:You often mention|Its) (\w+)[;:] (\d+) of (\d+) mentions praise it(?:, mostly as (\w+))?\."


@pytest.fixture(scope="module")
def model() -> FacT:
    return FacT(d=8, depth=4, min_leaf=5, rho=0.3).fit(REVIEWS, RNG(0))


def test_every_number_in_a_sentence_was_counted(model: FacT) -> None:
    seen = set()
    for user in range(0, 120, 7):
        taste = model.taste_of(user)
        for item in range(0, 36, 5):
            reasons = model.reasons(taste, item)
            amounts = (
                {f"{part.amount / reasons.score:.0%}"[:-1] for part in reasons.parts}
                if reasons.score > 0
                else set()
            )
            for text in sentences(reasons, taste, SHOP, user=user):
                seen.add(re.sub(r"\d+ %|\d+ of|of your \d+|for \w+\.|reviewed .*|mention \w+", "", text)[:20])
                if found := re.match(r"(\d+) % because (?:(\d+) of your (\d+) items are for (\w+)\.)?", text):
                    assert found[1] in amounts
                    if found[2]:
                        token = SHOP.tokens.index(found[4])
                        assert int(found[2]) == sum(SHOP.attributes[each, token] > 0 for each in taste.items)
                        assert int(found[3]) == len(taste.items)
    assert len(seen) >= 2


def test_features_are_praised_by_those_who_are_counted() -> None:
    for item in range(36):
        aspects = shared_features(SHOP, item, 3)
        for text in feature_sentences(Reasons(item=item, score=1.0, parts=(), aspects=aspects), SHOP, user=3):
            found = re.search(
                PRAISE,
                text,
            )
            assert found, text
            mentions, feature = REVIEWS.mentions, REVIEWS.features.index(found[1])
            mine = (REVIEWS.item[mentions.review] == item) & (mentions.feature == feature)
            good = mine & (mentions.sentiment == 1)
            assert (int(found[2]), int(found[3])) == (good.sum(), mine.sum())
            assert not found[4] or (mentions.word[good] == REVIEWS.words.index(found[4])).any()
            often = (REVIEWS.user[mentions.review] == 3) & (mentions.feature == feature)
            assert text.startswith("You often") == (often.sum() >= 2)


def test_phrases_are_shares_of_what_was_said() -> None:
    phrases = Phrases.of(SHOP)
    mentions = REVIEWS.mentions
    good = (mentions.sentiment == 1) & (mentions.feature == 4)
    counts = np.bincount(mentions.word[good], minlength=9)
    assert phrases.by_feature[4] == pytest.approx(counts / counts.sum())
    assert phrases.scores(np.array([0, 5]), np.array([4, 1])).sum(axis=1) == pytest.approx(1)


def test_the_ranker_of_features_beats_every_count() -> None:
    parts = by_share(Shop(users=300, items=60).reviews(), RNG(0))
    ranker = FeatureRanker.fit(parts.train, RNG(1), d=8)
    there = mentioned(parts.test)

    def ndcg(scores: FloatArray) -> float:
        return feature_quality(scores, there, k=5).ndcg

    learned = ndcg(ranker.scores(parts.test.user, parts.test.item))
    by_item = parts.train.counts("item").toarray()[parts.test.item].astype(float)
    by_user = parts.train.counts("user").toarray()[parts.test.user].astype(float)
    popular = np.tile(mentioned(parts.train).mean(axis=0), (len(parts.test), 1))
    assert learned > max(ndcg(by_item), ndcg(by_user), ndcg(popular))


def test_feature_quality_follows_its_definitions() -> None:
    there = np.array([[True, False, True, False], [False, False, False, True], [False] * 4])
    scores = np.array([[0.9, 0.8, 0.1, 0.0], [0.1, 0.9, 0.0, 0.2], [1.0, 0.0, 0.0, 0.0]])
    found = feature_quality(scores, there, k=2)
    second = 1 / np.log2(3)
    assert found.ndcg == pytest.approx((1 / (1 + second) + second) / 2)
    assert (found.precision, found.recall, found.matching) == pytest.approx((0.5, 0.75, 0.5))
    assert found.f1 == pytest.approx((0.5 + 2 / 3) / 2)
    assert found.coverage == 3 / 4
    assert found.overlap == 1.0  # both name the second feature


def test_an_interview_follows_the_tree_to_its_end(model: FacT) -> None:
    answers: dict[int, int] = {}
    asked = []
    while (question := next_question(model, SHOP, answers)) is not None:
        asked.append(question.text)
        answers[question.column] = 1 if "much" in question.leads_on else -1
    assert 1 <= len(asked) <= 4
    assert len(set(asked)) == len(asked)
    leaf = int(model.taste(answers=answers).given["leaf"])
    assert len(model.tree.path(leaf)) - 1 in (len(asked), len(asked) - 1)
    assert not np.allclose(model.taste(answers=answers).vector, model.taste().vector)


def test_fmf_asks_about_items_and_others_ask_nothing() -> None:
    fitted = FMF(d=6, depth=2, min_leaf=5).fit(REVIEWS, RNG(0))
    question = next_question(fitted, SHOP, {})
    assert question is not None
    assert question.text == f"How do you like {SHOP.titles[question.column]}?"
    with pytest.raises(SettingError, match="needs a tree"):
        next_question(MostPopular().fit(REVIEWS, RNG(0)), SHOP, {})


def test_the_strongest_past_item_matters_more_than_any() -> None:
    fitted = IALS(d=8).fit(REVIEWS, RNG(0))
    users = np.arange(0, 120, 6)
    strongest, anyone = (
        past_item_necessity(fitted, users, k=5),
        past_item_necessity(fitted, users, k=5, chosen=RNG(0)),
    )
    assert strongest.necessary > anyone.necessary
    assert strongest.sufficient > anyone.sufficient


@pytest.mark.parametrize(
    "kind", [MostPopular(), IALS(d=6), FacT(d=6, depth=3, min_leaf=5), FMF(d=6, min_leaf=5)]
)
def test_whoever_was_learned_from_is_met_again_the_same(kind: Recommender) -> None:
    fitted = kind.fit(REVIEWS, RNG(0))
    again = fitted.knowing(REVIEWS)
    assert again.score(np.arange(9)) == pytest.approx(fitted.score(np.arange(9)))
    strangers = fitted.knowing(REVIEWS.take(np.zeros(len(REVIEWS), bool)))
    scores = strangers.score(np.arange(2))
    assert (scores[0] == scores[1]).all()
    assert np.ptp(scores[0]) > 0


def test_an_average_user_is_not_told_a_number_of_people() -> None:
    fitted = IALS(d=8).fit(REVIEWS, RNG(0))
    taste = fitted.taste()
    assert sentences(fitted.reasons(taste, 3), taste, SHOP) == ["100 % because people like it in general."]
    counted = MostPopular().fit(REVIEWS, RNG(0))
    many = int((REVIEWS.item == 3).sum())
    assert sentences(counted.reasons(counted.taste(), 3), taste, SHOP) == [f"{many} people reviewed it."]


def test_often_is_said_of_what_is_mentioned_often() -> None:
    model = FacT(d=8, depth=4, min_leaf=5, attributes=False, rho=float("inf")).fit(REVIEWS, RNG(0))
    said = {"often": 0, "seldom": 0}
    for user in range(120):
        taste = model.taste_of(user)
        for item in range(36):
            for text in sentences(model.reasons(taste, item), taste, SHOP, user=user, limit=9):
                if found := re.search(r"because you (often )?mention (\w+)\.", text):
                    often = SHOP.by_user[user, SHOP.features.index(found[2])] >= 2
                    assert bool(found[1]) == often
                    said["often" if often else "seldom"] += 1
    assert all(said.values()), said


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
    told = feature_sentences(Reasons(item=0, score=1.0, parts=(), aspects=(0,)), shop)
    assert told == ["Its fit: 3 of 4 mentions praise it.", "A reviewer: “A good fit.”"]


def test_a_ranker_of_features_is_stored_with_the_model_to_the_bit(tmp_path: Path) -> None:
    ranker = FeatureRanker.fit(REVIEWS, RNG(0), d=6)
    save(tmp_path / "shop.npz", MostPopular().fit(REVIEWS, RNG(0)), SHOP, features=ranker)
    found = load(tmp_path / "shop.npz").features
    assert found is not None
    users, items = np.array([0, 5]), np.array([3, 4])
    assert (found.scores(users, items) == ranker.scores(users, items)).all()
    assert (found.of_item(3, 0) == found.scores(users, items)[0]).all()
    assert np.isfinite(found.of_item(3)).all()


def test_quality_is_not_measured_on_nothing() -> None:
    with pytest.raises(SettingError, match="no mention"):
        feature_quality(np.ones((1, 2)), np.zeros((1, 2), bool))
    with pytest.raises(SettingError, match="no such user"):
        past_item_necessity(IALS(d=4).fit(REVIEWS, RNG(0)), np.zeros(0, int))


@pytest.mark.parametrize("kind", [FacT(d=6, depth=3, min_leaf=5), FMF(d=6, depth=3, min_leaf=4)])
def test_a_past_item_leads_on_from_where_the_answers_lead(kind: FacT | FMF) -> None:
    stars = np.where(REVIEWS.item % 2, 1.0, REVIEWS.rating)  # what some items got is never below 1
    fitted = kind.fit(replace(REVIEWS, rating=stars), RNG(0))
    tree = fitted.tree
    asked = [int(column) for column in np.unique(tree.feature) if column >= 0]
    unrelated = next(
        item
        for item in range(36)
        if int(fitted.taste([item]).given["leaf"]) in _unknown_line(tree) and item not in asked
    )
    for signs in product((1, -1), repeat=min(len(asked), 6)):
        answers = dict(zip(asked, signs, strict=False))
        stopped, leaf = fitted.taste(answers=answers), fitted.taste([unrelated], answers)
        path = tree.path(int(leaf.given["leaf"]))
        assert int(stopped.given["leaf"]) in path
        for node in path[1:]:
            answer = answers.get(int(tree.feature[tree.parent[node]]))
            assert answer is None or tree.branch(node) == (0 if answer > 0 else 1)


def _unknown_line(tree: Tree) -> set[int]:
    """The nodes that someone of whom nothing is known passes."""
    nodes = [0]
    while tree.feature[nodes[-1]] >= 0 and tree.children[nodes[-1], 2] >= 0:
        nodes.append(int(tree.children[nodes[-1], 2]))
    return set(nodes)
