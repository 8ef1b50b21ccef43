"""Every recommender: exact repetition by seed, storage to the bit, nothing changed by fitting."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pytest

from rankloop.bounds import fits
from rankloop.errors import DataError, RequestError, SettingError
from rankloop.lab.data.review_data import AccessoryShop, by_share
from rankloop.lab.recommenders import (
    BPRMF,
    EFM,
    FMF,
    JMARS,
    LAB_RECOMMENDERS,
    MTERS,
    MTERSA,
    NMF,
    RECOMMENDERS,
    read_recommender,
)
from rankloop.recommend import (
    IALS,
    MTER,
    SERVED_RECOMMENDERS,
    Catalogue,
    EvidenceALS,
    FacT,
    FittedRecommender,
    MostPopular,
    Recommender,
    ask_next,
    load_recommender,
    rank_held_out,
    save_recommender,
)
from rankloop.recommend.recommender_file import digest_of
from rankloop.recommend.reviews import Mentions, Reviews

PARTS = by_share(AccessoryShop(users=80, items=36).reviews(), np.random.default_rng(0))
SMALL: list[Recommender] = [
    MostPopular(),
    IALS(d=8),
    EvidenceALS(d=8),
    FacT(d=8, depth=3, min_leaf=5),
    FacT(d=8, depth=3, min_leaf=5, leaf_weight=float("inf")),
    BPRMF(d=8, epochs=20),
    MTER(dims=(4, 4, 3, 3), iterations=60, validate_every=20),
    MTERS(d=4, iterations=40, validation_share=0.0),
    MTERSA(d=4, iterations=40),
    EFM(explicit=4, latent=4, iterations=10),
    NMF(latent=4, iterations=10),
    FMF(d=8, depth=3, min_leaf=5),
    JMARS(rounds=2, steps=5),
]
IDS = [f"{type(model).__name__} {getattr(model, 'leaf_weight', '')}".strip() for model in SMALL]
PLACING = [name for name, model in zip(IDS, SMALL, strict=True) if model.places_newcomers]


@pytest.fixture(scope="module")
def fitted() -> dict[str, Recommender]:
    return {
        name: model.fit(PARTS.train, np.random.default_rng(7)) for name, model in zip(IDS, SMALL, strict=True)
    }


def test_every_recommender_is_tried() -> None:
    assert {type(model) for model in SMALL} == set(RECOMMENDERS.values())


@pytest.mark.parametrize(("name", "model"), list(zip(IDS, SMALL, strict=True)), ids=IDS)
def test_the_same_seed_gives_the_same_model_and_the_settings_stay(
    name: str, model: Recommender, fitted: dict[str, Recommender]
) -> None:
    before = repr(model)
    again = model.fit(PARTS.train, np.random.default_rng(7)).state()
    assert all((again[key] == value).all() for key, value in fitted[name].state().items())
    assert repr(model) == before
    assert not any(value.size for key, value in model.state().items() if key == "past_items"), (
        "fit gives a copy"
    )


@pytest.mark.parametrize("name", IDS)
def test_what_was_saved_comes_back_to_the_bit(
    name: str, tmp_path: Path, fitted: dict[str, Recommender]
) -> None:
    model, catalogue = fitted[name], Catalogue.of(PARTS.train)
    digest = save_recommender(tmp_path / "shop.npz", model, catalogue)
    saved = load_recommender(tmp_path / "shop.npz", RECOMMENDERS)
    assert saved.digest == digest == FittedRecommender.of(model, catalogue).digest
    assert type(saved.model) is type(model)
    assert repr(saved.model) == repr(model)
    users = np.arange(5)
    assert (saved.model.score_users(users) == model.score_users(users)).all()
    assert saved.catalogue.titles == catalogue.titles
    assert (saved.catalogue.good != catalogue.good).nnz == 0


@pytest.mark.parametrize("name", IDS)
def test_users_and_their_profiles_have_the_same_scores_and_parts_sum_to_them(
    name: str, fitted: dict[str, Recommender]
) -> None:
    model, items = fitted[name], np.array([4, 0, 31])
    profiles = [model.profile_user(user) for user in (0, 11)]
    for user, profile in zip((0, 11), profiles, strict=True):
        scores = model.score_users(np.array([user]))[0]
        assert np.isfinite(scores).all()
        assert model.score_profile(profile) == pytest.approx(scores)
        assert profile.row == user
    if model.places_newcomers:
        profiles += [model.profile_newcomer(), model.profile_newcomer([2, 7])]
    for profile in profiles:
        parts = model.split_scores(profile, items)
        assert parts.exact == model.exact
        assert parts.amounts.shape == (3, len(parts.sources))
        assert parts.scores == pytest.approx(model.score_profile(profile)[items], abs=1e-12)
        kinds = {source.kind for source in parts.sources}
        assert sum(parts.sum_kind(kind) for kind in kinds) == pytest.approx(parts.scores, abs=1e-12)
        alone = [model.split_scores(profile, items[[place]]).amounts[0] for place in range(3)]
        assert parts.amounts == pytest.approx(np.array(alone), abs=1e-12)


def test_good_models_beat_popularity(fitted: dict[str, Recommender]) -> None:
    held = {
        name: float(rank_held_out(model, PARTS.test, known=[PARTS.train, PARTS.validation]).ndcg(10).mean())
        for name, model in fitted.items()
    }
    for name in ("IALS", "EvidenceALS", "FacT 0.1"):
        assert held[name] > held["MostPopular"], held


def test_newcomers_are_placed_or_refused_with_a_way_out(fitted: dict[str, Recommender]) -> None:
    for name, model in fitted.items():
        if name in PLACING:
            assert model.score_profile(model.profile_newcomer([1, 2])).shape == (36,)
        else:
            with pytest.raises(SettingError, match="for newcomers use"):
                model.profile_newcomer([1, 2])
    assert [name.split()[0] for name in PLACING] == [
        "MostPopular",
        "IALS",
        "EvidenceALS",
        "FacT",
        "FacT",
        "FMF",
    ]


@pytest.mark.parametrize("name", IDS)
def test_only_trees_hold_interviews(name: str, fitted: dict[str, Recommender]) -> None:
    saved = FittedRecommender(fitted[name], Catalogue.of(PARTS.train), "digest")
    if name.startswith(("FacT", "FMF")):
        assert ask_next(saved, {}).question is not None
    else:
        with pytest.raises(RequestError, match=f"needs a tree of questions .* found {name}"):
            ask_next(saved, {})


@pytest.mark.parametrize("name", sorted(LAB_RECOMMENDERS))
def test_what_only_the_lab_fits_is_not_served(
    name: str, tmp_path: Path, fitted: dict[str, Recommender]
) -> None:
    save_recommender(tmp_path / "shop.npz", fitted[name], Catalogue.of(PARTS.train))
    with pytest.raises(SettingError, match=f"holds the recommender {name}; .* MostPopular, IALS"):
        load_recommender(tmp_path / "shop.npz")
    assert not set(LAB_RECOMMENDERS) & set(SERVED_RECOMMENDERS)


def test_profiles_of_an_unfitted_tree_change_nothing() -> None:
    model = FMF()
    assert model.profiles(PARTS.train).nnz == 0
    assert not len(model.well_known)


def test_damaged_and_missing_files_are_refused(tmp_path: Path, fitted: dict[str, Recommender]) -> None:
    path = tmp_path / "shop.npz"
    with pytest.raises(DataError, match="found nothing"):
        load_recommender(path)
    save_recommender(path, fitted["IALS"], Catalogue.of(PARTS.train))
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        start = archive.getinfo("model.user_factors.npy").header_offset
    content[start + 400] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(DataError, match=r"expected a file written|damaged"):
        load_recommender(path)
    np.savez(path, digest=np.zeros(1, np.uint8))
    with pytest.raises(DataError, match="expected a file written"):
        load_recommender(path)


def test_an_altered_array_does_not_fit_the_digest(tmp_path: Path, fitted: dict[str, Recommender]) -> None:
    path = tmp_path / "shop.npz"
    save_recommender(path, fitted["MostPopular"], Catalogue.of(PARTS.train))
    arrays = dict(np.load(path))
    arrays["model.counts"][0] += 1
    np.savez(path, **arrays)
    with pytest.raises(DataError, match="digest does not fit"):
        load_recommender(path)


@pytest.mark.parametrize("kind", [*RECOMMENDERS.values()], ids=[*RECOMMENDERS])
def test_a_name_makes_the_defaults_and_settings_can_be_given(kind: type[Recommender]) -> None:
    assert repr(read_recommender(kind.__name__)) == repr(kind())
    numbers = [each for each in fields(kind) if each.init and isinstance(each.default, float)]
    for each in numbers[:1]:
        assert getattr(read_recommender(f"{kind.__name__}({each.name}=0.25)"), each.name) == 0.25


def test_without_reviews_nothing_is_learned() -> None:
    with pytest.raises(SettingError, match="no reviews"):
        IALS().fit(PARTS.train.select(np.zeros(len(PARTS.train), bool)), np.random.default_rng(0))


def test_jmars_has_the_gradient_of_its_loss() -> None:
    model = JMARS(rounds=1, steps=2, aspects=3, d=2).fit(PARTS.test, np.random.default_rng(0))
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 3, (len(PARTS.test), 3)).astype(float)
    _, gradient = model.loss(PARTS.test, counts)
    names = (
        "user_aspects",
        "item_aspects",
        "user_vectors",
        "item_vectors",
        "aspect_scales",
        "user_bias",
        "item_bias",
    )
    starts = np.cumsum([0, *(getattr(model, name).size for name in names)])
    for name, start in zip(names, starts[:-1], strict=True):
        flat = getattr(model, name).reshape(-1)
        for cell in rng.integers(flat.size, size=3):
            kept = flat[cell]
            flat[cell] = kept + 1e-5
            high = model.loss(PARTS.test, counts)[0]
            flat[cell] = kept - 1e-5
            low = model.loss(PARTS.test, counts)[0]
            flat[cell] = kept
            assert gradient[start + cell] == pytest.approx((high - low) / 2e-5, rel=1e-4, abs=1e-6), name


def tiny(users: list[int], items: list[int], mentions: Mentions | None = None) -> Reviews:
    return Reviews(
        user=np.array(users),
        item=np.array(items),
        rating=np.full(len(users), 4.0),
        users=tuple(f"user {n}" for n in range(max(users) + 2)),
        items=tuple(f"item {n}" for n in range(max(items) + 2)),
        mentions=mentions or Mentions(),
        features=("fit",),
        words=("good",),
    )


EDGES = {
    "one review": tiny([0], [0]),
    "one user, equal ratings": tiny([0] * 5, [0, 1, 2, 3, 4]),
    "one item": tiny([0, 1, 2, 3, 4], [0] * 5),
    "a thousand complaints": tiny(
        [0, 0, 1, 2],
        [0, 1, 1, 2],
        Mentions(np.zeros(1000, int), np.zeros(1000, int), np.full(1000, -1), np.zeros(1000, int)),
    ),
}


@pytest.mark.parametrize("reviews", EDGES.values(), ids=EDGES)
@pytest.mark.parametrize("model", SMALL, ids=IDS)
def test_the_smallest_shops_are_learned_from(model: Recommender, reviews: Reviews) -> None:
    fitted = model.fit(reviews, np.random.default_rng(0))
    scores = fitted.score_users(np.arange(reviews.n_users))
    assert scores.shape == (reviews.n_users, reviews.n_items)
    assert np.isfinite(scores).all()
    for user in (0, reviews.n_users - 1):  # the last one has no review
        profile = fitted.profile_user(user)
        parts = fitted.split_scores(profile, np.array([0]))
        assert parts.scores[0] == pytest.approx(fitted.score_profile(profile)[0], abs=1e-12)


@pytest.mark.parametrize("name", PLACING)
def test_newcomers_have_each_item_once_and_only_items_that_exist(
    name: str, fitted: dict[str, Recommender]
) -> None:
    model = fitted[name]
    assert model.profile_newcomer([3, 1, 3]).items.tolist() == [3, 1]
    assert (model.profile_newcomer([3, 1, 3]).vector == model.profile_newcomer([3, 1]).vector).all()
    for wrong in ([-1], [36], [1.5], ["case"]):
        with pytest.raises(SettingError, match="from 0 to 35"):
            model.profile_newcomer(wrong)  # type: ignore[arg-type]
    if name.startswith(("FacT", "FMF")):
        for answers in ({-1: 1}, {10_000: 1}, {0: 2}):
            with pytest.raises(SettingError, match="much"):
                model.profile_newcomer([1], answers)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("IALS(d=0)", "IALS: d must be a whole number of at least 1, found 0"),
        ("IALS(d=8.5)", "d must be a whole number"),
        ("IALS(regularisation=0.0)", "IALS: regularisation must be a finite number above 0, found 0.0"),
        ("IALS(sweeps=-1)", "sweeps must be a whole number of at least 1"),
        ("EvidenceALS(token_weight=-1.0)", "token_weight must be a finite number of at least 0"),
        ("EvidenceALS(feature_weight=inf)", "feature_weight must be a finite number of at least 0"),
        ("FacT(unobserved=-1.0)", "unobserved must be a finite number above 0"),
        ("FacT(d=0)", "d must be a whole number of at least 1"),
        ("FacT(item_depth=-1)", "item_depth must be a whole number of at least 0 or None"),
        ("FacT(pair_weight=inf)", "pair_weight must be a finite number of at least 0 or None"),
        ("FacT(leaf_weight=0.0)", "leaf_weight must be a number above 0"),
        ("FacT(attributes=1)", "attributes must be True or False"),
        ("FMF(n_questions=0)", "n_questions must be a whole number of at least 1"),
        ("MTER(dims=(1, 0, 1, 1))", "dims must be .*whole number of at least 1"),
        ("MTER(dims=(1, 1))", "dims must be"),
        ("MTER(cells=0)", "cells must be a whole number of at least 1"),
        ("MTER(validation_share=1.0)", "validation_share must be a number of at least 0 and below 1"),
        ("MTER@zero", "did you mean 'MTER@zeros'"),
        ("EFM(iterations=-1)", "iterations must be a whole number of at least 0"),
        ("EFM(explicit=0, latent=0)", "at least one factor"),
        ("EFM(alpha=1.5)", "alpha must be a number from 0 to 1"),
        ("BPRMF(rate=0.0)", "rate must be a finite number above 0"),
        ("JMARS(d=0)", "d must be a whole number of at least 1"),
        ("IALS(__import__('os').system('true'))", "expected <setting>=<value>"),
        ("IALS(d=__import__('os'))", "d must be a whole number"),
    ],
)
def test_settings_without_a_meaning_are_refused_before_anything_is_learned(text: str, message: str) -> None:
    with pytest.raises(SettingError, match=message):
        read_recommender(text)


@pytest.mark.parametrize("kind", RECOMMENDERS.values(), ids=[*RECOMMENDERS])
def test_whatever_does_not_fit_the_annotation_of_a_setting_is_refused(kind: type[Recommender]) -> None:
    junk: list[Any] = [None, "x", float("nan"), -1, 0, 1.5, float("inf"), (), (1, 2), True, 2**2000, [1]]
    hints = get_type_hints(kind, include_extras=True)
    for name in (each.name for each in fields(kind) if each.init):
        refused = [value for value in junk if not fits(value, hints[name])]
        assert len(refused) >= 6, name
        for value in refused:
            with pytest.raises(SettingError, match=f"{kind.__name__}: {name} must be"):
                kind(**{name: value})


def forged(path: Path, arrays: dict[str, Any], header: dict[str, Any]) -> None:
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    digest = np.frombuffer(digest_of(arrays).encode(), np.uint8)
    np.savez(path, digest=digest, **arrays)


@pytest.mark.parametrize(
    ("array", "value", "header", "message"),
    [
        ("catalogue.said", None, {}, "found: KeyError 'said'"),
        ("model.item_factors", np.zeros((2, 2)), {}, "found: ValueError"),
        ("model.item_factors", np.full((36, 8), np.nan), {}, "not finite"),
        ("model.item_factors", np.full((36, 8), "x"), {}, "item_factors of type"),
        ("catalogue.good_indices", np.full(5, 1000), {}, "found: ValueError"),
        ("catalogue.said", np.array([[36, 0, 0, 1]]), {}, "items, features and words that have names"),
        ("model.past_items", np.array([36]), {}, "none of the catalogue's"),
        ("model.past_starts", np.arange(81)[::-1], {}, "or of no user"),
        ("model.user_factors", np.zeros((1, 8)), {}, "out of bounds"),
        ("header", None, {"format": 2}, "this version reads 1"),
        ("header", None, {"recommender": "IALS(colour=1)"}, "colour"),
        ("header", None, {"recommender": None}, "a recommender is a text"),
    ],
)
def test_a_forged_file_is_refused_though_its_digest_fits(
    array: str,
    value: Any,
    header: dict[str, Any],
    message: str,
    tmp_path: Path,
    fitted: dict[str, Recommender],
) -> None:
    path = tmp_path / "shop.npz"
    save_recommender(path, fitted["IALS"], Catalogue.of(PARTS.train))
    arrays = dict(np.load(path))
    del arrays["digest"]
    found = json.loads(arrays["header"].tobytes())
    if array != "header":
        arrays.pop(array) if value is None else arrays.update({array: value})
    forged(path, arrays, found | header)
    with pytest.raises((DataError, SettingError), match=message):
        load_recommender(path)


FORGERIES: list[tuple[str, str, Callable[[Any], Any]]] = [
    ("FacT 0.1", "model.predicates", lambda tree: tree[::-1].copy()),
    ("FacT 0.1", "model.predicates", lambda tree: np.where(np.arange(6) == 5, 0.0, tree)),  # its own parent
    ("FacT 0.1", "model.predicates", lambda tree: np.where(np.arange(6) == 2, 0.0, tree)),  # back to the root
    ("FacT 0.1", "model.predicates", lambda tree: np.where(np.arange(6) == 0, 1e6, tree)),  # no such question
    ("FacT 0.1", "model.predicates", lambda tree: np.full_like(tree, 1e300)),
    ("FacT 0.1", "model.node_vectors", lambda vectors: vectors[:1]),
    ("FacT 0.1", "model.leaf", lambda leaf: leaf + 10**6),
    ("FacT 0.1", "model.leaf", lambda leaf: leaf[:1]),
    ("FacT 0.1", "model.gram", lambda gram: gram[:, :-1].copy()),
    ("FacT 0.1", "model.item_factors", lambda factors: np.full_like(factors, 1e300)),
    ("FacT 0.1", "model.tokens_indices", lambda tokens: tokens + 10**6),
    ("FacT 0.1", "model.tokens_indptr", lambda starts: starts[::-1].copy()),
    ("FacT 0.1", "model.widths", lambda widths: np.full_like(widths, 2**40)),
    ("FMF", "model.predicates", lambda tree: np.where(np.arange(6) == 2, 0.0, tree)),
    ("MTER", "model.features", lambda factors: factors[:, :-1].copy()),
    ("MTER", "model.opinion_core", lambda core: core[:0]),
]


@pytest.mark.parametrize(("name", "array", "change"), FORGERIES)
def test_a_forged_model_is_tried_before_it_is_served(
    name: str, array: str, change: Callable[[Any], Any], tmp_path: Path, fitted: dict[str, Recommender]
) -> None:
    """Its digest fits; walked or multiplied later, it would never end, or read past the end of memory."""
    path = tmp_path / "shop.npz"
    save_recommender(path, fitted[name], Catalogue.of(PARTS.train))
    arrays = dict(np.load(path))
    del arrays["digest"]
    arrays[array] = change(arrays[array])
    forged(path, arrays, json.loads(arrays["header"].tobytes()))
    with pytest.raises((DataError, SettingError), match="found"):
        load_recommender(path, RECOMMENDERS)


@pytest.mark.parametrize("size", [10**12, 10**25])
def test_a_file_that_claims_more_than_any_memory_is_refused(
    size: int, tmp_path: Path, fitted: dict[str, Recommender]
) -> None:
    path = tmp_path / "shop.npz"
    save_recommender(path, fitted["IALS"], Catalogue.of(PARTS.train))
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({size},)}}\n".encode()
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("huge.npy", b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head)
    with pytest.raises(DataError, match="expected a file written by"):
        load_recommender(path)


def test_a_plain_array_is_no_recommender_and_an_interrupted_save_leaves_the_old_file(
    tmp_path: Path, fitted: dict[str, Recommender], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "shop.npz"
    with path.open("wb") as file:
        np.save(file, np.zeros(3))
    with pytest.raises(DataError, match="expected a file written"):
        load_recommender(path)
    digest = save_recommender(path, fitted["IALS"], Catalogue.of(PARTS.train))

    def interrupted(file: Any, **_: Any) -> None:
        file.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save_recommender(path, fitted["IALS"], Catalogue.of(PARTS.train))
    assert load_recommender(path).digest == digest
    assert [each.name for each in tmp_path.iterdir()] == ["shop.npz"]


def test_lists_are_not_measured_on_nothing(fitted: dict[str, Recommender]) -> None:
    nothing = PARTS.test.select(np.zeros(len(PARTS.test), bool))
    with pytest.raises(SettingError, match="held-out reviews, found none"):
        rank_held_out(fitted["IALS"], nothing, known=[PARTS.train])
