"""Every recommender: exact repetition by seed, storage to the bit, nothing changed by fitting."""

from __future__ import annotations

import zipfile
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from rankloop.data.reviews import Shop, by_share
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
    Recommender,
    load,
    recommender,
    save,
    top_lists,
)
from rankloop.types import DataError, SettingError

PARTS = by_share(Shop(users=80, items=36).reviews(), np.random.default_rng(0))
SMALL: list[Recommender] = [
    MostPopular(),
    IALS(d=8),
    EvidenceALS(d=8),
    FacT(d=8, depth=3, min_leaf=5),
    FacT(d=8, depth=3, min_leaf=5, rho=float("inf")),
    BPRMF(d=8, epochs=20),
    MTER(dims=(4, 4, 3, 3), iterations=60, check=20),
    MTERS(d=4, iterations=40, watch=0.0),
    MTERSA(d=4, iterations=40),
    EFM(explicit=4, latent=4, iterations=10),
    NMF(latent=4, iterations=10),
    FMF(d=8, depth=3, min_leaf=5),
    JMARS(rounds=2, steps=5),
]
IDS = [f"{model.name} {getattr(model, 'rho', '')}".strip() for model in SMALL]


@pytest.fixture(scope="module")
def fitted() -> dict[str, Recommender]:
    return {
        name: model.fit(PARTS.train, np.random.default_rng(7)) for name, model in zip(IDS, SMALL, strict=True)
    }


def test_every_recommender_is_tried() -> None:
    assert {model.name for model in SMALL} == set(RECOMMENDERS)


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
    digest = save(tmp_path / "shop.npz", model, catalogue)
    saved = load(tmp_path / "shop.npz")
    assert saved.digest == digest
    assert type(saved.model) is type(model)
    assert repr(saved.model) == repr(model)
    users = np.arange(5)
    assert (saved.model.score(users) == model.score(users)).all()
    assert saved.catalogue.titles == catalogue.titles
    assert (saved.catalogue.good != catalogue.good).nnz == 0


@pytest.mark.parametrize("name", IDS)
def test_a_user_and_their_taste_have_the_same_scores(name: str, fitted: dict[str, Recommender]) -> None:
    model = fitted[name]
    for user in (0, 11):
        scores = model.score(np.array([user]))[0]
        assert np.isfinite(scores).all()
        assert model.score_taste(model.taste_of(user)) == pytest.approx(scores)
        reasons = model.reasons(model.taste_of(user), 4)
        assert reasons.score == pytest.approx(scores[4])
        assert sum(part.amount for part in reasons.parts) == pytest.approx(scores[4], abs=1e-12)
        assert reasons.exact == model.exact


@pytest.mark.parametrize("name", IDS)
def test_amounts_by_kind_are_sums_of_parts(name: str, fitted: dict[str, Recommender]) -> None:
    model, items = fitted[name], np.array([4, 0, 31])
    tastes = [model.taste_of(3)]
    if type(model).taste is not Recommender.taste:
        tastes += [model.taste(), model.taste([2, 7])]
    for taste in tastes:
        amounts = model.amounts(taste, items)
        assert sum(amounts.values()) == pytest.approx(model.score_taste(taste)[items], abs=1e-12)
        for place, item in enumerate(items.tolist()):
            parts = model.reasons(taste, item).parts
            assert {part.kind for part in parts} == set(amounts)
            for kind, amount in amounts.items():
                total = sum(part.amount for part in parts if part.kind == kind)
                assert amount[place] == pytest.approx(total, abs=1e-12)


def test_good_models_beat_popularity(fitted: dict[str, Recommender]) -> None:
    held = {
        name: float(top_lists(model, PARTS.test, known=[PARTS.train, PARTS.validation]).plain(10).mean())
        for name, model in fitted.items()
    }
    for name in ("ials", "evidence-als", "fact 0.1"):
        assert held[name] > held["most-popular"], held


def test_newcomers_are_known_or_refused_with_a_way_out(fitted: dict[str, Recommender]) -> None:
    for name, model in fitted.items():
        if name.split()[0] in ("most-popular", "ials", "evidence-als", "fact", "fmf"):
            assert model.score_taste(model.taste([1, 2])).shape == (36,)
        else:
            with pytest.raises(SettingError, match="for newcomers use"):
                model.taste([1, 2])


def test_damaged_and_missing_files_are_refused(tmp_path: Path, fitted: dict[str, Recommender]) -> None:
    path = tmp_path / "shop.npz"
    with pytest.raises(DataError, match="found nothing"):
        load(path)
    save(path, fitted["ials"], Catalogue.of(PARTS.train))
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        start = archive.getinfo("model.user_factors.npy").header_offset
    content[start + 400] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(DataError, match=r"expected a file written|damaged"):
        load(path)
    np.savez(path, digest=np.zeros(1, np.uint8))
    with pytest.raises(DataError, match="expected a file written"):
        load(path)


def test_an_altered_array_does_not_fit_the_digest(tmp_path: Path, fitted: dict[str, Recommender]) -> None:
    path = tmp_path / "shop.npz"
    save(path, fitted["most-popular"], Catalogue.of(PARTS.train))
    arrays = dict(np.load(path))
    arrays["model.counts"][0] += 1
    np.savez(path, **arrays)
    with pytest.raises(DataError, match="digest does not fit"):
        load(path)


@pytest.mark.parametrize("kind", [*RECOMMENDERS.values()], ids=[*RECOMMENDERS])
def test_a_name_makes_the_defaults_and_settings_can_be_given(kind: type[Recommender]) -> None:
    assert repr(recommender(kind.name)) == repr(kind())
    numbers = [each for each in fields(kind) if each.init and isinstance(each.default, float)]
    for each in numbers[:1]:
        assert getattr(recommender(f"{kind.name}:{each.name}=0.25"), each.name) == 0.25


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("facts", "did you mean 'fact'"),
        ("fact:dept=3", "no setting 'dept': did you mean 'depth'"),
        ("fact:depth", "name=value"),
        ("ials:preset=zeros", "only mter has presets"),
    ],
)
def test_names_that_mean_nothing_are_refused(text: str, message: str) -> None:
    with pytest.raises(SettingError, match=message):
        recommender(text)


def test_without_reviews_nothing_is_learned() -> None:
    with pytest.raises(SettingError, match="no reviews"):
        IALS().fit(PARTS.train.take(np.zeros(len(PARTS.train), bool)), np.random.default_rng(0))


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
