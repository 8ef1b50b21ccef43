"""Files are whole or not there at all, whoever is interrupted when."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from rankloop.lab.suites.experiment_runner import write_parts
from rankloop.lab.sweeps.results_folder import write_json, write_parquet, write_whole


def test_an_interrupted_write_leaves_the_former_file_and_nothing_else(tmp_path: Path) -> None:
    def interrupted(part: Path) -> None:
        part.write_text("half")
        raise KeyboardInterrupt

    path = tmp_path / "results.json"
    write_json(path, [1])
    with pytest.raises(KeyboardInterrupt):
        write_whole(path, interrupted)
    assert [each.name for each in tmp_path.iterdir()] == ["results.json"]
    assert path.read_text() == "[\n  1\n]\n"


def test_a_frame_comes_back_as_it_was(tmp_path: Path) -> None:
    frame = pl.DataFrame({"policy": ["pdgd", "dbgd"], "value": [0.5, 0.25]})
    write_parquet(tmp_path / "new" / "folder" / "rows.parquet", frame)
    assert pl.read_parquet(tmp_path / "new" / "folder" / "rows.parquet").equals(frame)


def test_polars_never_writes_the_file_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupted, its threads would go on with a file that was removed, and leave half of it."""
    own = pl.DataFrame.write_parquet

    def watched(frame: pl.DataFrame, file: Any, **options: Any) -> None:
        assert not list(tmp_path.iterdir())
        own(frame, file, **options)
        assert not list(tmp_path.iterdir())

    monkeypatch.setattr(pl.DataFrame, "write_parquet", watched)
    write_parquet(tmp_path / "rows.parquet", pl.DataFrame({"value": [1.0]}))
    assert [each.name for each in tmp_path.iterdir()] == ["rows.parquet"]


def test_an_interrupted_table_leaves_the_former_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_parts({"losses": pl.DataFrame({"m": [3, 4]})}, tmp_path, "topk/table3.1")
    (path,) = tmp_path.iterdir()
    assert (path.name, path.read_text()) == ("topk-table3.1-losses.csv", "m\n3\n4\n")

    def interrupted(self: Path, data: bytes) -> int:
        with self.open("wb") as file:
            file.write(data[:3])
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_bytes", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_parts({"losses": pl.DataFrame({"m": [5, 6]})}, tmp_path, "topk/table3.1")
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_text() == "m\n3\n4\n"
