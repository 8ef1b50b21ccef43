"""rankloop lab recommend: what is printed, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rankloop.cli import app
from rankloop.lab.data.review_data import AccessoryShop, write_reviews

SMALL = "shop(users=60, items=24)"


def run(*words: str, group: str = "recommend") -> str:
    result = CliRunner().invoke(app, ["lab", group, *words])
    assert result.exit_code == 0, result.output
    return result.output


def refused(*words: str, group: str = "recommend") -> str:
    result = CliRunner().invoke(app, ["lab", group, *words])
    assert result.exit_code != 0
    return " ".join((result.output + str(result.exception or "")).split())


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("shop") / "shop.npz"
    told = run("fit", "--model", "FacT(d=8, depth=3, min_leaf=5)", "--data", SMALL, "--out", str(path))
    assert re.search(r"digest +[0-9a-f]{64}", told)
    return str(path)


def test_a_user_gets_a_list_with_reasons(shop: str) -> None:
    told = run("explain", "--model", shop, "--user", "user 3", "--top", "2")
    assert re.search(r"^1\. .+ for \w+$", told, re.MULTILINE)
    assert "ecause you reviewed" in told
    assert told == run("explain", "--model", shop, "--user", "user 3", "--top", "2")


def test_a_newcomer_gets_a_list_by_items_or_by_answers(shop: str) -> None:
    assert "because you chose Slim Case for Alpa" in run("explain", "--model", shop, "--items", "item 0")
    told = run("interview", "--model", shop, "--answers", "much,much,much,much")
    assert "?" in told
    assert "1. " in told
    skipped = run("interview", "--model", shop, "--answers", "skip,skip,skip,skip")
    assert "Mostly because people like it in general" in skipped


def test_models_are_compared_by_both_protocols() -> None:
    told = run(
        *("--models", "MostPopular, IALS(d=6)", "--data", SMALL, "--seeds", "1"), group="compare-recommenders"
    )
    assert all(name in told for name in ("MostPopular", "IALS(d=6)", "A@50", "C2@50"))


def test_reviews_of_ones_own_are_learned_from(tmp_path: Path) -> None:
    write_reviews(AccessoryShop(users=30, items=12).reviews(), tmp_path / "mine.jsonl")
    words = (
        "fit",
        "--model",
        "IALS(d=4)",
        "--data",
        str(tmp_path / "mine.jsonl"),
        "--out",
        str(tmp_path / "mine.npz"),
    )
    held_out, everything = (
        int(re.findall(r"([\d,]+) reviews", run(*words, *more))[0]) for more in ((), ("--everything",))
    )
    assert held_out < everything == len(AccessoryShop(users=30, items=12).reviews())


def test_mistakes_are_explained(shop: str, tmp_path: Path) -> None:
    assert "make one with `rankloop lab recommend fit`" in refused(
        "explain", "--model", str(tmp_path / "no.npz"), "--user", "a"
    )
    assert "is called 'nobody'" in refused("explain", "--model", shop, "--user", "nobody")
    assert "not both" in refused("explain", "--model", shop)
    assert "much, little or skip" in refused("interview", "--model", shop, "--answers", "yes")
    assert "did you mean 'FacT'" in refused("fit", "--model", "facts")
    assert "at least one recommender" in refused("--models", " ", group="compare-recommenders")
