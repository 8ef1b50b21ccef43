"""Storage of recommenders: one npz file with settings as JSON, arrays as they are, and a digest."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from rankloop.errors import DataError, SettingError, suggest_name
from rankloop.recommend.feature_ranker import FeatureRanker
from rankloop.recommend.item_catalogue import KINDS, Catalogue
from rankloop.recommend.recommender import Recommender
from rankloop.recommend.settings import check_settings
from rankloop.types import Array

FORMAT = 1


@dataclass(frozen=True, eq=False)
class Saved:
    """A fitted recommender with the catalogue of its shop, and the digest of all of it."""

    model: Recommender
    catalogue: Catalogue
    digest: str
    features: FeatureRanker | None = None  # which features to name in reasons, if it was fitted

    @classmethod
    def of(cls, model: Recommender, catalogue: Catalogue, *, features: FeatureRanker | None = None) -> Saved:
        """What `load` would give had it been saved."""
        return cls(model, catalogue, digest_of(_arrays(model, catalogue, features)), features)


def save(
    path: str | Path, model: Recommender, catalogue: Catalogue, *, features: FeatureRanker | None = None
) -> str:
    """Write a recommender, its catalogue and perhaps its ranker of features, whole or not at all.

    The digest says what was written.
    """
    arrays = _arrays(model, catalogue, features)
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


def _arrays(model: Recommender, catalogue: Catalogue, features: FeatureRanker | None) -> dict[str, Array]:
    """All of it as named arrays."""
    header = {
        "format": FORMAT,
        "kind": model.name,
        "settings": {each.name: getattr(model, each.name) for each in fields(model) if each.init},
        "names": {kind: list(getattr(catalogue, kind)) for kind in KINDS},
        "quotes": [[*cell, text] for cell, text in sorted(catalogue.quotes.items())],
    }
    return {
        "header": np.frombuffer(json.dumps(header, sort_keys=True).encode(), np.uint8),
        **{f"model.{name}": value for name, value in model.state().items()},
        **{f"catalogue.{name}": value for name, value in catalogue.arrays().items()},
        **{f"features.{name}": value for name, value in (features.arrays() if features else {}).items()},
    }


def load(path: str | Path, kinds: Mapping[str, type[Recommender]]) -> Saved:
    """Read what `save` wrote; a file that is damaged, or of something else, is refused."""
    path = Path(path)
    if not path.exists():
        raise DataError(
            f"{path}: expected a recommender, found nothing; make one with `rankloop recommend fit`"
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
        return _saved(header, arrays, kinds, digest)
    except (DataError, ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        if isinstance(error, SettingError):
            raise
        raise _foreign(path, error) from error


def _foreign(path: Path, error: Exception) -> DataError:
    return DataError(
        f"{path}: expected a file written by `rankloop recommend fit`, "
        f"found: {type(error).__name__} {error}; make it again"
    )


def _saved(
    header: Mapping[str, Any],
    arrays: Mapping[str, Array],
    kinds: Mapping[str, type[Recommender]],
    digest: str,
) -> Saved:
    model, catalogue = _model(header, arrays, kinds), _catalogue(header, arrays)
    last = len(catalogue.users) - 1
    shape = model.score(np.array([0, last])).shape
    if shape != (2, len(catalogue.items)) or len(model.past_starts) != last + 2:
        raise ValueError(f"scores of {shape[1]} items, names of {len(catalogue.items)}")
    _check_past(model, len(catalogue.items))
    ranker = _under("features", arrays)
    return Saved(model, catalogue, digest, FeatureRanker.from_arrays(ranker) if ranker else None)


def _check_past(model: Recommender, n_items: int) -> None:
    items, starts = model.past_items, model.past_starts
    known = ((items >= 0) & (items < n_items)).all()
    if not known or starts[0] != 0 or starts[-1] != len(items) or (np.diff(starts) < 0).any():
        raise ValueError("past items that are none of the catalogue's, or of no user")


def digest_of(arrays: Mapping[str, Array]) -> str:
    """SHA-256 of named arrays, whatever their order."""
    found = hashlib.sha256()
    for name in sorted(arrays):
        value = np.ascontiguousarray(arrays[name])
        found.update(f"{name} {value.dtype.str} {value.shape}\n".encode())
        found.update(value.tobytes())
    return found.hexdigest()


def _model(
    header: Mapping[str, Any], arrays: Mapping[str, Array], kinds: Mapping[str, type[Recommender]]
) -> Recommender:
    if header.get("format") != FORMAT:
        raise ValueError(f"format {header.get('format')!r}, this version reads {FORMAT}")
    if header["kind"] not in kinds:
        raise SettingError(
            f"no recommender is called {header['kind']!r}: {suggest_name(str(header['kind']), kinds)}"
        )
    kind, state = kinds[header["kind"]], _under("model", arrays)
    check_settings(kind, header["settings"])
    empty = kind(**header["settings"])
    for name, value in state.items():
        like = getattr(empty, name, value)
        if (value.dtype.kind, value.ndim) != (like.dtype.kind, like.ndim) or not np.isfinite(value).all():
            raise ValueError(f"{name} of type {value.dtype} and shape {value.shape}, or not finite")
    return empty.from_state(state)


def _catalogue(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> Catalogue:
    quotes = {(item, feature): text for item, feature, text in header.get("quotes", ())}
    return Catalogue.from_arrays(header["names"], _under("catalogue", arrays), quotes)


def _under(prefix: str, arrays: Mapping[str, Array]) -> dict[str, Array]:
    start = f"{prefix}."
    return {name.removeprefix(start): value for name, value in arrays.items() if name.startswith(start)}
