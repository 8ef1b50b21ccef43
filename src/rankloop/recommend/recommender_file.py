"""Files of recommenders: one npz file with the name that makes them, arrays as they are, and a digest."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from rankloop.errors import DataError, SettingError
from rankloop.naming import read_name, split_name, write_name
from rankloop.recommend.evidence_als import EvidenceALS
from rankloop.recommend.fact import FacT
from rankloop.recommend.ials import IALS
from rankloop.recommend.item_catalogue import KINDS, Catalogue
from rankloop.recommend.mter import MTER
from rankloop.recommend.popularity import MostPopular
from rankloop.recommend.recommender import Recommender
from rankloop.types import Array

FORMAT = 1
SERVED_RECOMMENDERS: Mapping[str, type[Recommender]] = {
    kind.__name__: kind for kind in (MostPopular, IALS, EvidenceALS, FacT, MTER)
}


@dataclass(frozen=True, eq=False)
class FittedRecommender:
    """A fitted recommender with the catalogue of its shop, and the digest of all of it."""

    model: Recommender
    catalogue: Catalogue
    digest: str

    @classmethod
    def of(cls, model: Recommender, catalogue: Catalogue) -> Self:
        """Return what `load_recommender` would give had it been saved."""
        return cls(model, catalogue, digest_of(_arrays(model, catalogue)))


def save_recommender(path: str | Path, model: Recommender, catalogue: Catalogue) -> str:
    """Write a recommender and its catalogue, whole or not at all; return the digest of what was written."""
    arrays = _arrays(model, catalogue)
    digest = digest_of(arrays)
    path = Path(path)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")  # what is there stays until all is written
    try:
        with unfinished.open("wb") as file:
            np.savez(file, allow_pickle=False, digest=np.frombuffer(digest.encode(), np.uint8), **arrays)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return digest


def load_recommender(
    path: str | Path, kinds: Mapping[str, type[Recommender]] = SERVED_RECOMMENDERS
) -> FittedRecommender:
    """Read a recommender of these kinds; refuse a file that is damaged, or of something else."""
    path = Path(path)
    if not path.exists():
        raise DataError(
            f"{path}: expected a recommender, found nothing; make one with `rankloop lab recommend fit`"
        )
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            arrays = dict(file)
        digest = arrays.pop("digest").tobytes().decode()
        header = json.loads(arrays["header"].tobytes())
    except Exception as error:  # whatever it is: of bytes from elsewhere nothing is sure, not even their size
        raise _foreign(path, error) from error
    if digest_of(arrays) != digest:
        raise DataError(f"{path}: the file is damaged, its digest does not fit; make it again")
    try:
        return _read(path, header, arrays, kinds, digest)
    except (DataError, ValueError, TypeError, KeyError, IndexError, AttributeError, MemoryError) as error:
        if isinstance(error, SettingError):
            raise
        raise _foreign(path, error) from error


def digest_of(arrays: Mapping[str, Array]) -> str:
    """Return the SHA-256 of named arrays, whatever their order."""
    found = hashlib.sha256()
    for name in sorted(arrays):
        value = np.ascontiguousarray(arrays[name])
        found.update(f"{name} {value.dtype.str} {value.shape}\n".encode())
        found.update(value.tobytes())
    return found.hexdigest()


def _arrays(model: Recommender, catalogue: Catalogue) -> dict[str, Array]:
    """Return all of it as named arrays."""
    header = {
        "format": FORMAT,
        "recommender": write_name(model, defaults=True),
        "names": {kind: list(getattr(catalogue, kind)) for kind in KINDS},
        "quotes": [[*cell, text] for cell, text in sorted(catalogue.quotes.items())],
    }
    return {
        "header": np.frombuffer(json.dumps(header, sort_keys=True).encode(), np.uint8),
        **{f"model.{name}": value for name, value in model.state().items()},
        **{f"catalogue.{name}": value for name, value in catalogue.arrays().items()},
    }


def _foreign(path: Path, error: Exception) -> DataError:
    return DataError(
        f"{path}: expected a file written by `rankloop lab recommend fit`, "
        f"found: {type(error).__name__} {error}; make it again"
    )


def _read(
    path: Path,
    header: Mapping[str, Any],
    arrays: Mapping[str, Array],
    kinds: Mapping[str, type[Recommender]],
    digest: str,
) -> FittedRecommender:
    if header.get("format") != FORMAT:
        raise ValueError(f"format {header.get('format')!r}, this version reads {FORMAT}")
    kind, _ = split_name(header["recommender"], "recommender")
    if kind not in kinds:
        raise SettingError(f"{path} holds the recommender {kind}; expected one of {', '.join(kinds)}")
    model = _fill(read_name(header["recommender"], kinds, noun="recommender"), _under("model", arrays))
    quotes = {(item, feature): text for item, feature, text in header.get("quotes", ())}
    catalogue = Catalogue.from_arrays(header["names"], _under("catalogue", arrays), quotes)
    last = len(catalogue.users) - 1
    shape = model.score_users(np.array([0, last])).shape
    if shape != (2, len(catalogue.items)) or len(model.past_starts) != last + 2:
        raise ValueError(f"scores of {shape[1]} items, names of {len(catalogue.items)}")
    _check_past(model, len(catalogue.items))
    with np.errstate(all="ignore"):  # what comes of it is looked at
        _try_out(model, catalogue)
    return FittedRecommender(model, catalogue, digest)


def _fill(empty: Recommender, state: Mapping[str, Array]) -> Recommender:
    """Fill a recommender with what was learned, if every array has the type it should have."""
    for name, value in state.items():
        like = getattr(empty, name, value)
        if (value.dtype.kind, value.ndim) != (like.dtype.kind, like.ndim) or not np.isfinite(value).all():
            raise ValueError(f"{name} of type {value.dtype} and shape {value.shape}, or not finite")
    return empty.from_state(dict(state))


def _check_past(model: Recommender, n_items: int) -> None:
    items, starts = model.past_items, model.past_starts
    known = ((items >= 0) & (items < n_items)).all()
    if not known or starts[0] != 0 or starts[-1] != len(items) or (np.diff(starts) < 0).any():
        raise ValueError("past items that are none of the catalogue's, or of no user")


def _try_out(model: Recommender, catalogue: Catalogue) -> None:
    """Walk its tree, and split some scores: what fails here would fail when it is asked."""
    if (questions := model.question_tree()) is not None:
        about = (catalogue.items,) if questions.about_items else (catalogue.features, catalogue.tokens)
        questions.tree.check(sum(map(len, about)))
        there = (questions.leaves >= 0) & (questions.leaves < len(questions.tree.feature))
        if len(there) != len(catalogue.users) or not there.all():
            raise ValueError("users at nodes that the tree does not have")
    profiles = [model.profile_user(row) for row in (0, len(catalogue.users) - 1)]
    profiles += [model.profile_newcomer(items) for items in ((), (0,)) if model.places_newcomers]
    items = np.array([0, len(catalogue.items) - 1])
    for profile in profiles:
        scores, parts = model.score_profile(profile), model.split_scores(profile, items)
        with suppress(SettingError):  # it says nothing about features, or not to a newcomer
            model.score_features(profile, items)
        if not (np.isfinite(scores).all() and np.isfinite(parts.amounts).all()):
            raise ValueError("scores that are no numbers")


def _under(prefix: str, arrays: Mapping[str, Array]) -> dict[str, Array]:
    start = f"{prefix}."
    return {name.removeprefix(start): value for name, value in arrays.items() if name.startswith(start)}
