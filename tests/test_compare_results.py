"""Results of two versions are compared cell by cell, also where names have changed in between."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "compare_results"
COLUMNS = ["data", "fold", "user", "policy", "seed", "round", "metric", "value"]
BEFORE = {"pdgd": "pdgd", "mgd:unit": "mgd:unit", "random": "random"}
AFTER = {"pdgd": "pdgd", "mgd:unit": "MGD(unit=True)", "random": "Random()"}


def load_script() -> Any:
    """The script as a module; it has no ending that Python knows."""
    loader = importlib.machinery.SourceFileLoader("compare_results_script", str(SCRIPT))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = sys.modules[loader.name] = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


COMPARE = load_script()


def make_rows(names: dict[str, str], data: str = "linear") -> pl.DataFrame:
    """Rows of three policies with two seeds, rounds and measures; the values are those of the cells."""
    rng = np.random.default_rng(0)
    rows = [
        (data, data, "perfect", policy, seed, round, metric, rng.random())
        for policy in names.values()
        for seed in (3, 4)
        for round in (10, 20)
        for metric in ("offline nDCG@10", "pairwise regret")
    ]
    return pl.DataFrame(rows, schema=COLUMNS, orient="row")


def write_rows(folder: Path, frame: pl.DataFrame) -> str:
    folder.mkdir()
    frame.write_parquet(folder / "results.parquet")
    return str(folder)


def write_table(folder: Path, text: str) -> str:
    folder.mkdir()
    (folder / "topk-table.csv").write_text(text, "utf-8")
    return str(folder)


def test_new_names_of_the_same_cells_are_no_difference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = write_rows(tmp_path / "old", make_rows(BEFORE, "synthetic:linear"))
    new = write_rows(tmp_path / "new", make_rows(AFTER))
    assert COMPARE.main(old, new) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("SAME: 24 values compared, 0 differing, 0 missing, 0 extra")
    assert "policy: 'mgd:unit' -> 'MGD(unit=True)'" in printed
    assert "'pdgd' ->" not in printed  # both sides have this name


def test_the_order_of_names_that_both_sides_have_makes_no_difference(tmp_path: Path) -> None:
    frame = make_rows(BEFORE)
    shuffled = pl.concat([frame.filter(policy=name) for name in ("random", "pdgd", "mgd:unit")])
    assert COMPARE.main(write_rows(tmp_path / "old", frame), write_rows(tmp_path / "new", shuffled)) == 0


def test_one_bit_of_one_value_is_a_difference_with_its_cell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = make_rows(AFTER)
    values = frame["value"].to_numpy().copy()
    values[9] = np.nextafter(values[9], 2.0)
    old = write_rows(tmp_path / "old", make_rows(BEFORE))
    new = write_rows(tmp_path / "new", frame.with_columns(value=pl.Series(values)))
    assert COMPARE.main(old, new) == 1
    printed = capsys.readouterr().out
    assert "24 values compared, 1 differing" in printed
    (line,) = (line for line in printed.splitlines() if line.startswith("differing"))
    assert "policy MGD(unit=True) · seed 3 · round 10 · metric pairwise regret" in line


@pytest.mark.parametrize("side", ["missing", "extra"])
def test_a_cell_that_one_side_lacks_fails(
    side: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = make_rows(BEFORE)
    part = whole.filter((pl.col("policy") != "random") | (pl.col("seed") != 4))
    old, new = (whole, part) if side == "missing" else (part, whole)
    assert COMPARE.main(write_rows(tmp_path / "old", old), write_rows(tmp_path / "new", new)) == 1
    assert f"4 {side}" in capsys.readouterr().out


def test_names_are_not_paired_when_a_policy_is_gone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fewer = {key: name for key, name in AFTER.items() if key != "mgd:unit"}
    old = write_rows(tmp_path / "old", make_rows(BEFORE))
    assert COMPARE.main(old, write_rows(tmp_path / "new", make_rows(fewer))) == 1
    assert "16 missing, 8 extra" in capsys.readouterr().out


def test_a_value_that_stands_twice_is_refused(tmp_path: Path) -> None:
    twice = pl.concat([make_rows(BEFORE), make_rows(BEFORE).head(1)])
    with pytest.raises(SystemExit, match="two values for one cell"):
        COMPARE.main(write_rows(tmp_path / "old", twice), write_rows(tmp_path / "new", make_rows(BEFORE)))


def test_tables_are_compared_by_row_and_column(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = write_table(tmp_path / "old", "policy,looks\nips:clip=1,0.5\npdgd,nan\nips:clip=1,2\n")
    new = write_table(tmp_path / "new", "policy,views\nIPS(clip=1),0.50\npdgd,nan\nIPS(clip=1),2.0\n")
    assert COMPARE.main(old, new) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("SAME: 3 values and 3 texts compared")
    assert "'ips:clip=1' -> 'IPS(clip=1)'" in printed
    assert "'looks' -> 'views'" in printed


def test_rows_are_found_by_their_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = write_table(tmp_path / "old", "model,p,rate\nEFM,open,0.5\nNMF,open,0.25\nMTER,open,2\n")
    new = write_table(tmp_path / "new", "model,p,rate\nNMF,open,0.25\nEFM(),open,0.5\nMTER,open,2.5\n")
    assert COMPARE.main(old, new) == 1
    printed = capsys.readouterr().out
    assert "3 values and 6 texts compared, 1 differing, 0 missing, 0 extra" in printed
    assert "row 'MTER': 2 -> 2.5" in printed
    assert "'EFM' -> 'EFM()'" in printed


@pytest.mark.parametrize(
    "text",
    [
        "policy,looks\na,0.5\nb,0.2500000000000001\na,2\n",  # another number
        "policy,looks\na,0.5\nb,-\na,2\n",  # a text in place of a number
        "policy,looks\na,0.5\nb,0.25\nb,2\n",  # one old text, two new ones
        "policy,looks\na,0.5\na,0.25\na,2\n",  # two old texts, one new one
        "policy,looks\na(1.5),0.5\nb,0.25\na(1.5),2\n",  # another number in a text
        "policy,looks\na,0.5\nb,0.25\n",  # a row less
        "policy,looks\na,0.5\nb,0.25\na,2\nb,1\n",  # a row more
        "policy\na\nb\na\n",  # a column less
    ],
)
def test_a_table_that_changed_fails(text: str, tmp_path: Path) -> None:
    old = write_table(tmp_path / "old", "policy,looks\na,0.5\nb,0.25\na,2\n")
    assert COMPARE.main(old, write_table(tmp_path / "new", text)) == 1


def test_a_folder_without_results_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"neither results\.parquet nor a CSV file"):
        COMPARE.main(str(tmp_path), str(tmp_path))
