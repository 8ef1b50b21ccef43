"""Storage of recommenders: one npz file with settings as JSON, arrays as they are, and a digest."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from rankloop.recommend.base import Recommender
from rankloop.recommend.catalogue import KINDS, Catalogue
from rankloop.types import Array, DataError, SettingError, suggestion

FORMAT = 1


@dataclass(frozen=True, eq=False)
class Saved:
    """A fitted recommender with the catalogue of its shop, and the digest of both."""

    model: Recommender
    catalogue: Catalogue
    digest: str


def save(path: str | Path, model: Recommender, catalogue: Catalogue) -> str:
    """Write a recommender and its catalogue; the digest says what was written."""
    header = {
        "format": FORMAT,
        "kind": model.name,
        "settings": {each.name: getattr(model, each.name) for each in fields(model) if each.init},
        "names": {kind: list(getattr(catalogue, kind)) for kind in KINDS},
    }
    arrays: dict[str, Array] = {
        "header": np.frombuffer(json.dumps(header, sort_keys=True).encode(), np.uint8),
        **{f"model.{name}": value for name, value in model.state().items()},
        **{f"catalogue.{name}": value for name, value in catalogue.arrays().items()},
    }
    digest = digest_of(arrays)
    with Path(path).open("wb") as file:
        np.savez(file, allow_pickle=False, digest=np.frombuffer(digest.encode(), np.uint8), **arrays)
    return digest


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
    except (OSError, ValueError, TypeError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise DataError(
            f"{path}: expected a file written by `rankloop recommend fit`, found: {error}"
        ) from error
    if digest_of(arrays) != digest:
        raise DataError(f"{path}: the file is damaged, its digest does not fit; make it again")
    return Saved(_model(header, arrays, kinds), _catalogue(header, arrays), digest)


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
    if header.get("format") != FORMAT or header["kind"] not in kinds:
        raise SettingError(
            f"no recommender of format {FORMAT} is called {header.get('kind')!r}: "
            f"{suggestion(str(header.get('kind')), kinds)}"
        )
    return kinds[header["kind"]](**header["settings"]).from_state(_under("model", arrays))


def _catalogue(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> Catalogue:
    return Catalogue.from_arrays(header["names"], _under("catalogue", arrays))


def _under(prefix: str, arrays: Mapping[str, Array]) -> dict[str, Array]:
    start = f"{prefix}."
    return {name.removeprefix(start): value for name, value in arrays.items() if name.startswith(start)}
