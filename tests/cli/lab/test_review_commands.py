"""rankloop lab reviews extract: what a person sees, and what is left when something goes wrong."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from rankloop.cli import app
from rankloop.cli.lab import review_commands as extract
from rankloop.lab.reviews import RawReview
from rankloop.lab.reviews.lexicon import _valences
from rankloop.lab.reviews.part_of_speech import tagger
from rankloop.lab.reviews.review_tokens import make_token
from tests.lab.reviews.samples import SAMPLE


def run(*words: object) -> Result:
    return CliRunner().invoke(app, ["lab", "reviews", "extract", *map(str, words)])


def test_the_doctor_speaks_and_the_files_are_there(tmp_path: Path) -> None:
    result = run(SAMPLE, "--out", tmp_path / "out.jsonl", "--least", 2, "--ignore", "lid,switch")
    assert result.exit_code == 0, result.output
    for line in (
        "coverage: 9",
        "sentiment: ",
        "agreement with the stars: AUC 0.",
        "quality",
        "36 reviews written",
    ):
        assert line in result.output
    assert "lid" not in result.output
    assert len((tmp_path / "out.jsonl").read_text("utf-8").splitlines()) == 36


def test_a_poor_extraction_is_called_poor(tmp_path: Path) -> None:
    result = run(SAMPLE, "--out", tmp_path / "out.jsonl")  # an aspect needs 20 reviews, and no one has them
    assert result.exit_code == 0
    assert "warning: no review mentions a feature" in result.output


def test_a_mistake_writes_nothing(tmp_path: Path) -> None:
    source = tmp_path / "shop.csv"
    source.write_text("user,item,rating,text\nada,lamp,good,Nice\n")
    result = run(source, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "shop.csv, line 2: rating must be a number, found 'good'" in result.stderr
    assert not (tmp_path / "out").exists()


def test_a_folder_in_use_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("precious")
    result = run("no such file.csv", "--out", tmp_path)
    assert result.exit_code == 2
    assert "name a new file" in result.stderr


def test_ctrl_c_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(reviews: list[RawReview], **_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(extract, "extract", stopped)
    result = run(SAMPLE, "--out", tmp_path / "out")
    assert result.exit_code == 130
    assert "stopped: nothing was written" in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("package", ["textblob", "vaderSentiment.vaderSentiment"])
def test_a_missing_extra_is_a_sentence_with_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    caches = (tagger, _valences, make_token)
    for cache in caches:
        cache.cache_clear()
    monkeypatch.setitem(sys.modules, package, None)
    result = run(SAMPLE, "--out", tmp_path / "out")
    for cache in caches:
        cache.cache_clear()
    assert result.exit_code == 2
    assert "pip install 'rankloop[reviews]'" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_describe_says_what_is_there_and_what_is_poor(tmp_path: Path) -> None:
    assert run(SAMPLE, "--out", tmp_path / "out.jsonl", "--least", 2).exit_code == 0
    told = CliRunner().invoke(app, ["lab", "reviews", "describe", str(tmp_path / "out.jsonl")])
    assert told.exit_code == 0, told.output
    for line in ("reviews: 36 by", "stars: ", "with a word; features: ", "time: from 2023-", "quality"):
        assert line in told.output
    (tmp_path / "poor.csv").write_text(f"user,item,rating,time\na,x,5,{2**60}\n")
    told = CliRunner().invoke(app, ["lab", "reviews", "describe", str(tmp_path / "poor.csv")])
    assert "warning: no review mentions a feature" in told.output
    assert f"time: from {2**60}" in told.output
