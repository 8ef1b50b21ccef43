"""Every recommender learns the numbers that it once learned, and gives the same scores for the same reasons.

A record has what was learned, scores of users and newcomers, the parts of reasons (which thing, how much, and
the number of its kind), the best lists and what they are worth, and all answers of an interview.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from rankloop.errors import SettingError
from rankloop.lab.data.review_data import Parts, Shop, by_share
from rankloop.lab.recommendation.quality import feature_quality, past_item_necessity
from rankloop.recommend import (
    BPRMF,
    EFM,
    FMF,
    IALS,
    JMARS,
    MTER,
    MTERS,
    MTERSA,
    NMF,
    RECOMMENDERS,
    Catalogue,
    EvidenceALS,
    FacT,
    MostPopular,
    Reasons,
    Recommender,
    Taste,
    recommender,
    top_lists,
)
from rankloop.recommend.interview import next_question
from tests.golden.records import Numbers, check, check_ids, digest

MODELS: dict[str, Recommender] = {
    "r01": MostPopular(),
    "r02": IALS(d=8),
    "r03": EvidenceALS(d=8),
    "r04": EvidenceALS(d=4, token_weight=0.5, aspect_weight=0.3),
    "r05": FacT(d=8, depth=3, min_leaf=5),
    "r06": FacT(d=8, depth=3, min_leaf=5, rho=float("inf")),
    "r07": FacT(d=6, depth=2, min_leaf=5, attributes=False),
    "r08": BPRMF(d=8, epochs=5),
    "r09": MTER(dims=(4, 4, 3, 3), iterations=30, check=10),
    "r10": MTERS(d=4, iterations=20, watch=0.0),
    "r11": MTERSA(d=4, iterations=20),
    "r12": EFM(explicit=4, latent=4, iterations=5),
    "r13": NMF(latent=4, iterations=5),
    "r14": FMF(d=8, depth=3, min_leaf=5),
    "r15": JMARS(rounds=2, steps=3),
}
PRESETS = {"p01": "mter:preset=engineered", "p02": "mter:preset=zeros"}
ANSWERS: list[dict[int, int]] = [{}, {0: 1}, {1: -1}, {0: 1, 2: -1}, {3: 1, 5: 1}]
KINDS = ("rule", "past item", "aspect", "attribute", "popularity", "bias", "model")  # known by their number


@cache
def parts() -> Parts:
    return by_share(Shop(users=60, items=24).reviews(), np.random.default_rng(0))


@cache
def fitted(record: str) -> Recommender:
    return MODELS[record].fit(parts().train, np.random.default_rng(7))


@pytest.mark.parametrize("record", MODELS)
def test_recommender(record: str) -> None:
    model = fitted(record)
    users = np.arange(8)
    lists = top_lists(model, parts().test, known=[parts().train], size=10)
    tastes = [model.taste_of(user) for user in (0, 3, 11)]
    check(
        record,
        state=sorted(int(digest(array)[:12], 16) for array in model.state().values()),
        scores=model.score(users),
        reasons=[reasons_of(model, taste) for taste in tastes],
        newcomers=newcomers(model),
        lists=[lists.users, lists.items, lists.gains, lists.ideal],
        worth=[lists.plain(5), lists.released(5)],
        aspects=aspects(model),
        interview=interview(model),
    )


@pytest.mark.parametrize("record", PRESETS)
def test_preset(record: str) -> None:
    model = recommender(f"{PRESETS[record]},iterations=10,check=10").fit(
        parts().train, np.random.default_rng(3)
    )
    check(record, scores=model.score(np.arange(8)))


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


def reasons_of(model: Recommender, taste: Taste) -> list[Numbers]:
    items = np.array([0, 5, 9])
    found = ((KINDS.index(kind), array.tolist()) for kind, array in model.amounts(taste, items).items())
    reasons = [numbers_of(model.reasons(taste, item)) for item in items.tolist()]
    return [taste.vector, taste.items, reasons, sorted(found)]


def numbers_of(reasons: Reasons) -> list[Numbers]:
    each = [(KINDS.index(part.kind), part.index, part.amount) for part in reasons.parts]
    return [reasons.item, reasons.score, each, list(reasons.aspects), reasons.exact]


def newcomers(model: Recommender) -> list[Numbers]:
    """Scores and reasons of people whom nothing was learned from, if it can meet them."""
    found: list[Numbers] = []
    for answers in ANSWERS:
        for items in ((), (2, 7, 7, 1)):
            try:
                taste = model.taste(items, answers)
            except SettingError:
                found.append(None)
            else:
                found.append([model.score_taste(taste), reasons_of(model, taste)])
    return found


def aspects(model: Recommender) -> Numbers:
    try:
        return model.aspect_scores(np.array([0, 3, 5]), np.array([1, 4, 4]))
    except SettingError:
        return None


def interview(model: Recommender) -> Numbers:
    """The column of every question that can be asked, and how many answers lead on."""
    if not isinstance(model, FacT | FMF):
        return None
    catalogue, asked = Catalogue.of(parts().train), []
    waiting: list[dict[int, int]] = [{}]
    for answers in waiting:
        question = next_question(model, catalogue, answers)
        if question is None:
            asked.append([-1])
            continue
        asked.append([question.column, len(question.leads_on)])
        waiting.extend({**answers, question.column: answer} for answer in (1, -1))
    return asked
