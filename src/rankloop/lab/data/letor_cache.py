"""Parsed files, kept as memory-mapped arrays under the user's cache folder.

An entry is keyed by the content of the file, so that a changed file can never meet an old entry, and is
renamed into place when complete, so that nobody ever sees half of one. Without a writable folder all works,
only slower.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

import numpy as np

from rankloop.errors import DataError
from rankloop.lab.data.letor_reader import FORMAT_VERSION, read_letor
from rankloop.query_set import QuerySet
from rankloop.types import Array

ARRAYS = ("features", "offsets", "relevance")
UNFINISHED = ".unfinished-"
SETTLED_SECONDS = 2.0  # a file may change twice within one tick of its clock: younger ones are not trusted
ABANDONED_SECONDS = 24 * 3600  # no load takes a day: what is older was left by a killed process


def cache_folder() -> Path:
    """`$RANKLOOP_CACHE`, or the place this platform keeps caches in."""
    if chosen := os.environ.get("RANKLOOP_CACHE"):
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        return (
            Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "rankloop" / "Cache"
        )
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "rankloop"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rankloop"


def hash_file(path: str | Path) -> str:
    """Compute the SHA-256 of the file's content, in hexadecimal, or find it among the known hashes."""
    try:
        with Path(path).open("rb") as file:
            about = os.fstat(file.fileno())
            key = (str(Path(path).resolve()), about.st_size, about.st_mtime_ns)
            if key in _hashes:
                return _hashes[key]
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"{path}: expected a readable file, found: {error.strerror or error}") from error
    if time.time() - about.st_mtime > SETTLED_SECONDS:
        _hashes[key] = digest
    return digest


Hashes: TypeAlias = Mapping[tuple[str, int, int], str]  # by path, size and time of the last change
_hashes: dict[tuple[str, int, int], str] = {}


def known_hashes() -> Hashes:
    """List the files that this process has hashed, for other processes to `remember_hashes`."""
    return dict(_hashes)


def remember_hashes(hashes: Hashes) -> None:
    """Take over hashes from another process; a file that has changed since is hashed again."""
    _hashes.update(hashes)


def read_cached(path: str | Path, *, digest: str | None = None, n_features: int | None = None) -> QuerySet:
    """Read a LETOR file as `read_letor` does, parsing it only the first time.

    `digest` spares the hashing if it is already known. The arrays are read-only.
    """
    digest = digest or hash_file(path)
    folder = cache_folder() / f"{digest}-{FORMAT_VERSION}"
    queries = _load(folder)
    if queries is None:
        queries = read_letor(path)
        if hash_file(path) == digest:  # it may have changed while it was read
            queries = _store(folder, queries)
    if n_features is None or queries.n_features == n_features:
        return queries
    return read_letor(path, n_features=n_features)  # pads, or names the line that breaks the promise


def _load(folder: Path) -> QuerySet | None:
    """Load the entry, or None where there is none or it is damaged."""
    try:
        features, offsets, relevance = (_mapped(folder / f"{name}.npy") for name in ARRAYS)
        ids = json.loads((folder / "ids.json").read_text("utf-8"))
        return QuerySet(features, offsets, relevance, tuple(ids))
    except (OSError, ValueError, EOFError, TypeError, IndexError, DataError):
        return None


def _mapped(path: Path) -> Array:
    # A plain view: every slice of a np.memmap costs microseconds of bookkeeping.
    return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))


def _store(folder: Path, queries: QuerySet) -> QuerySet:
    """Write the entry and return it mapped, or return what was read if the folder cannot be written."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        _sweep(folder.parent)
        unfinished = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=folder.parent))
    except OSError:
        return queries
    try:
        _write(unfinished / "entry", queries)
        _put_in_place(unfinished, folder)
    except OSError:
        pass  # the disk is full, or another process was faster: its entry is as good as ours
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return _load(folder) or queries


def _write(folder: Path, queries: QuerySet) -> None:
    folder.mkdir()
    for name in ARRAYS:
        with (folder / f"{name}.npy").open("wb") as file:
            np.save(file, getattr(queries, name), allow_pickle=False)
            file.flush()
            os.fsync(file.fileno())  # a power cut must not leave a complete-looking entry of zeros
    (folder / "ids.json").write_text(json.dumps(list(queries.ids)), "utf-8")


def _put_in_place(unfinished: Path, folder: Path) -> None:
    if folder.exists() and _load(folder) is None:
        with contextlib.suppress(FileNotFoundError):  # another process removed it first
            folder.rename(unfinished / "damaged")
    (unfinished / "entry").rename(folder)


def _sweep(root: Path) -> None:
    """Remove what killed processes left behind."""
    for leftover in root.glob(f"{UNFINISHED}*"):
        with contextlib.suppress(OSError):
            if time.time() - leftover.stat().st_mtime > ABANDONED_SECONDS:
                shutil.rmtree(leftover, ignore_errors=True)
