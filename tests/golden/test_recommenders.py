"""Every recommender learns the numbers that it once learned, and gives the same scores for the same reasons.

A record has what was learned, scores of users and newcomers, the parts of reasons (which thing, how much, and
the number of its kind), the best lists and what they are worth, and all answers of an interview.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from rankloop.errors import SettingError
from rankloop.lab.data.review_data import AccessoryShop, Parts, by_share
from rankloop.lab.recommendation.explanation_quality import feature_quality, past_item_necessity
from rankloop.lab.recommenders import (
    BPRMF,
    EFM,
    FMF,
    JMARS,
    MTERS,
    MTERSA,
    NMF,
    RECOMMENDERS,
    read_recommender,
)
from rankloop.recommend import (
    IALS,
    MTER,
    EvidenceALS,
    FacT,
    MostPopular,
    Recommender,
    UserProfile,
    rank_held_out,
)
from rankloop.recommend.factorization_tree import AT_LEAST, BELOW, STAYS
from tests.golden.records import Numbers, check, check_ids, digest

MODELS: dict[str, Recommender] = {
    "r01": MostPopular(),
    "r02": IALS(d=8),
    "r03": EvidenceALS(d=8),
    "r04": EvidenceALS(d=4, token_weight=0.5, feature_weight=0.3),
    "r05": FacT(d=8, depth=3, min_leaf=5),
    "r06": FacT(d=8, depth=3, min_leaf=5, leaf_weight=float("inf")),
    "r07": FacT(d=6, depth=2, min_leaf=5, attributes=False),
    "r08": BPRMF(d=8, epochs=5),
    "r09": MTER(dims=(4, 4, 3, 3), iterations=30, validate_every=10),
    "r10": MTERS(d=4, iterations=20, validation_share=0.0),
    "r11": MTERSA(d=4, iterations=20),
    "r12": EFM(explicit=4, latent=4, iterations=5),
    "r13": NMF(latent=4, iterations=5),
    "r14": FMF(d=8, depth=3, min_leaf=5),
    "r15": JMARS(rounds=2, steps=3),
}
PRESETS = {"p01": "MTER@engineered", "p02": "MTER@zeros"}
ANSWERS: list[dict[int, int]] = [{}, {0: 1}, {1: -1}, {0: 1, 2: -1}, {3: 1, 5: 1}]
KINDS = ("rule", "past item", "aspect", "attribute", "popularity", "bias", "model")  # known by their number


@cache
def parts() -> Parts:
    return by_share(AccessoryShop(users=60, items=24).reviews(), np.random.default_rng(0))


@cache
def fitted(record: str) -> Recommender:
    return MODELS[record].fit(parts().train, np.random.default_rng(7))


@pytest.mark.parametrize("record", MODELS)
def test_recommender(record: str) -> None:
    model = fitted(record)
    users = np.arange(8)
    lists = rank_held_out(model, parts().test, known=[parts().train], size=10)
    profiles = [model.profile_user(user) for user in (0, 3, 11)]
    check(
        record,
        state=sorted(int(digest(array)[:12], 16) for array in model.state().values()),
        scores=model.score_users(users),
        reasons=[reasons_of(model, profile) for profile in profiles],
        newcomers=newcomers(model),
        lists=[lists.users, lists.items, lists.gains, lists.ideal],
        worth=[lists.ndcg(5), lists.released_ndcg(5)],
        aspects=aspects(model),
        interview=interview(model),
    )


@pytest.mark.parametrize("record", PRESETS)
def test_preset(record: str) -> None:
    model = read_recommender(f"{PRESETS[record]}(iterations=10, validate_every=10)").fit(
        parts().train, np.random.default_rng(3)
    )
    check(record, scores=model.score_users(np.arange(8)))


def test_quality() -> None:
    rng = np.random.default_rng(9)
    quality = feature_quality(rng.random((12, 9)), rng.random((12, 9)) < 0.3, k=4)
    check(
        "q01",
        features=[getattr(quality, name) for name in ("ndcg", "precision", "recall", "f1")],
        variety=[quality.matching, quality.coverage, quality.overlap],
    )
    model = fitted("r02")
    assert isinstance(model, IALS)
    found = past_item_necessity(model, np.arange(12), k=5)
    drawn = past_item_necessity(model, np.arange(12), k=5, chosen=np.random.default_rng(1))
    check("q02", removed=[found.necessary, found.sufficient], drawn=[drawn.necessary, drawn.sufficient])


def test_all_are_here() -> None:
    assert {type(model) for model in MODELS.values()} == set(RECOMMENDERS.values())
    check_ids([*MODELS, *PRESETS, "q01", "q02"])


def reasons_of(model: Recommender, profile: UserProfile) -> list[Numbers]:
    items = np.array([0, 5, 9])
    reasons = [numbers_of(model, profile, item) for item in items.tolist()]
    parts = model.split_scores(profile, items)
    found = ((KINDS.index(each), parts.sum_kind(each).tolist()) for each in {s.kind for s in parts.sources})
    return [profile.vector, profile.items, reasons, sorted(found)]


def numbers_of(model: Recommender, profile: UserProfile, item: int) -> list[Numbers]:
    """What an item's score comes from: what everybody has in common is about the item itself."""
    parts = model.split_scores(profile, np.array([item]))
    each = [
        (KINDS.index(source.kind), item if source.kind == "popularity" else source.index, float(amount))
        for source, amount in zip(parts.sources, parts.amounts[0], strict=True)
    ]
    features = int(model.widths[0]) if isinstance(model, FacT) else 0
    told = [
        (amount, source.index)
        for source, amount in zip(parts.sources, parts.amounts[0], strict=True)
        if source.answer == "much" and source.index < features
    ]
    named = [index for _, index in sorted(told, key=lambda pair: -pair[0])]
    return [item, float(model.score_profile(profile)[item]), each, named, parts.exact]


def newcomers(model: Recommender) -> list[Numbers]:
    """Scores and reasons of people whom nothing was learned from, if it can meet them."""
    found: list[Numbers] = []
    for answers in ANSWERS:
        for items in ((), (2, 7, 7, 1)):
            try:
                profile = model.profile_newcomer(items, answers)
            except SettingError:
                found.append(None)
            else:
                found.append([model.score_profile(profile), reasons_of(model, profile)])
    return found


def aspects(model: Recommender) -> Numbers:
    try:
        return np.concatenate(
            [
                model.score_features(model.profile_user(user), np.array([item]))
                for user, item in ((0, 1), (3, 4), (5, 4))
            ]
        )
    except SettingError:
        return None


def interview(model: Recommender) -> Numbers:
    """The column of every question that can be asked, and how many answers lead on."""
    questions = model.question_tree()
    if questions is None:
        return None
    tree, asked = questions.tree, []
    waiting: list[dict[int, int]] = [{}]
    for answers in waiting:
        node = tree.walk(answers)
        column = int(tree.feature[node])
        if column < 0 or column in answers:
            asked.append([-1])
            continue
        asked.append([column, sum(tree.children[node, [AT_LEAST, BELOW]] != STAYS)])
        waiting.extend({**answers, column: answer} for answer in (1, -1))
    return asked
