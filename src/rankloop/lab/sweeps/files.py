"""Files that are whole or not there at all."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a temporary file beside `path`, then put it in place in one step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        write(part)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def write_json(path: Path, value: Any) -> None:
    """Write plain values, readable and with a stable order."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    write_whole(path, lambda part: part.write_text(text, encoding="utf-8"))


def write_parquet(path: Path, frame: pl.DataFrame) -> None:
    """Write a frame as Parquet."""
    made = io.BytesIO()  # Polars' own threads would go on writing a file after Ctrl-C, when it was removed
    frame.write_parquet(made, compression="zstd", statistics=False)
    write_whole(path, lambda part: part.write_bytes(made.getvalue()))
