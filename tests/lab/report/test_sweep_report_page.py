"""The report: whole, self-contained, harmless, and really drawn by a browser."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from rankloop.lab.analysis.sweep_analysis import SweepAnalysis
from rankloop.lab.report.sweep_report_page import write_report

METRICS = ("offline nDCG@10", "online nDCG@10", "cumulative nDCG@10", "pairwise regret")
FILES = ("offline", "online", "cumulative", "regret")
USERS = ("perfect", "informational")
EVIL = """</script><script>document.title="owned"</script><img src=x onerror='document.title="owned"'>"""
POLICIES = ("PDGD", "DBGD", EVIL)
NOTES = {"queries without a relevant document": "left out", EVIL: EVIL}
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def some_results() -> pl.DataFrame:
    rng = np.random.default_rng(11)
    rows = [
        ("world", "1", user, policy, seed, number * 100, metric, float(number + level + rng.random()))
        for metric in METRICS
        for user in USERS
        for level, policy in enumerate(POLICIES)
        for seed in range(3)
        for number in range(1, 6)
    ]
    columns = ["data", "fold", "user", "policy", "seed", "round", "metric", "value"]
    return pl.DataFrame(rows, schema=columns, orient="row")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(some_results(), tmp_path_factory.mktemp("report"), title=f"A title {EVIL}", notes=NOTES)


def write(results: pl.DataFrame, folder: Path, *, title: str = "rankloop", **facts: Any) -> Path:
    return write_report(SweepAnalysis(results, **facts), folder, title)


class Tags(HTMLParser):
    """All tags of a page with their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_every_chart_has_its_pictures_and_no_draft_is_left(report: Path) -> None:
    pictures = {f"{name}.{kind}" for name in FILES for kind in ("png", "svg")}
    assert {path.name for path in report.parent.iterdir()} == {"report.html", "summary.json"} | pictures
    assert all((report.parent / f"{name}.png").read_bytes().startswith(b"\x89PNG") for name in FILES)


def test_nothing_is_fetched(report: Path) -> None:
    tags = Tags(report.read_text()).found
    assert not [tag for tag, attributes in tags if tag in {"link", "img", "iframe"} or "src" in attributes]
    (policy,) = [attributes["content"] for tag, attributes in tags if "http-equiv" in attributes]
    assert policy is not None
    assert policy.startswith("default-src 'none'")


def test_names_chosen_by_users_stay_text(report: Path) -> None:
    page = report.read_text()
    assert "owned" in page
    assert EVIL not in page
    assert "<img" not in re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    data_sets = re.findall(
        r'<script type="application/json" id="[\w-]+">(.*?)</script>', page, flags=re.DOTALL
    )
    assert len(data_sets) == 1 + len(METRICS)
    assert all("<" not in text for text in data_sets)
    assert EVIL in json.dumps(json.loads(data_sets[1]), ensure_ascii=False).replace('\\"', '"')
    assert "<script>" not in (report.parent / "offline.svg").read_text()


def test_it_has_the_tables_the_notes_and_a_guide(report: Path) -> None:
    page = report.read_text()
    assert page.count("<caption>") == 2 * len(METRICS)  # means, and worst runs
    for text in (
        "How to read this page",
        "queries without a relevant document",
        "3 policies, 2 users",
        "Holm",
    ):
        assert text in page


def test_beside_each_mean_are_its_worst_run_and_all_runs(report: Path) -> None:
    page = report.read_text()
    assert page.count('class="strip"') == len(METRICS) * len(USERS) * len(POLICIES)
    assert page.count('<circle cx="') == 3 * page.count('class="strip"')
    frame = some_results().filter(
        pl.col("metric") == METRICS[0], pl.col("policy") == "DBGD", pl.col("user") == "perfect"
    )
    last: list[float] = frame.filter(pl.col("round") == 500)["value"].to_list()
    assert f"<td>{min(last):.3f}, " in page  # in the table of worst runs
    assert f"3 runs from {min(last):.4g} to {max(last):.4g}" in page


def test_a_banner_and_the_number_of_test_queries_stand_where_they_must_be_seen(tmp_path: Path) -> None:
    frame = some_results().filter(pl.col("metric").is_in(METRICS[:2]), pl.col("policy") == "PDGD")
    page = write(frame, tmp_path, banner=EVIL, query_counts={"world": [60]}).read_text()
    assert page.count('class="banner"') == 1
    assert EVIL not in page
    assert page.count("rest on 60 test queries: few") == 1  # not under the online table


def test_it_says_what_was_run_on_which_data(tmp_path: Path) -> None:
    def lead(frame: pl.DataFrame, name: str) -> str:
        page = write(frame, tmp_path / name).read_text("utf-8")
        return page.partition('<p class="lead">')[2].partition("</p>")[0]

    frame = some_results().filter(pl.col("metric") == METRICS[0])
    what = f"{len(POLICIES)} policies, {len(USERS)} users, 3 runs of 500 rounds each, on "
    assert lead(frame, "one") == f"{what}world."
    two = pl.concat((frame, frame.with_columns(data=pl.lit("other"))))
    assert lead(two, "two") == f"{what}2 data sets."


def test_the_same_results_give_the_same_bytes(report: Path, tmp_path: Path) -> None:
    again = write(some_results(), tmp_path, title=f"A title {EVIL}", notes=NOTES)
    for path in report.parent.iterdir():
        assert (again.parent / path.name).read_bytes() == path.read_bytes(), path.name


def test_data_sets_and_metrics_of_any_name_get_files_of_their_own(tmp_path: Path) -> None:
    one = some_results().filter(pl.col("metric") == "offline nDCG@10", pl.col("round") > 300)
    metrics = [
        one,
        one.with_columns(metric=pl.lit("offline ERR@10")),
        one.with_columns(metric=pl.lit("../ß")),
    ]
    both = pl.concat([*metrics, *(frame.with_columns(data=pl.lit("../WORLD")) for frame in metrics)])
    write(both, tmp_path / "new" / "folder")
    assert sorted(path.stem for path in (tmp_path / "new" / "folder").glob("*.svg")) == [
        "offline-err-10-world",
        "offline-err-10-world-2",
        "offline-world",
        "offline-world-2",
        "ss-world",
        "ss-world-2",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


def profiled_results() -> pl.DataFrame:
    points = [
        some_results()
        .filter(pl.col("metric") == "offline nDCG@10")
        .with_columns(metric=pl.lit(f"block size at position {position}"))
        for position in (1, 2, 50)
    ]
    return pl.concat([some_results(), *points])


def test_a_question_about_some_metrics_shows_them_first_and_draws_only_them(tmp_path: Path) -> None:
    main_metrics = ("pairwise regret", "block size by position", "never measured")
    page = write(profiled_results(), tmp_path, main_metrics=main_metrics).read_text()
    assert {path.stem for path in tmp_path.glob("*.png")} == {"regret", "block-size-by-position"}
    headings = re.findall(r"<h[23]>(.*?)</h[23]>", page.partition("<footer>")[0])
    assert headings == ["pairwise regret", "block size by position", *METRICS[:3]]
    assert page.index("What else was measured") > page.index("block size by position")
    assert page.count("<caption>") == 2 * len(METRICS)  # a profile has a chart, not a table per position


def test_a_question_about_nothing_that_was_measured_shows_everything(tmp_path: Path) -> None:
    write(some_results(), tmp_path, main_metrics=("never measured",))
    assert {path.stem for path in tmp_path.glob("*.png")} == set(FILES)


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium: install it to see the report drawn by a browser")
def test_a_browser_draws_a_profile(tmp_path: Path) -> None:
    report = write(profiled_results(), tmp_path / "report", main_metrics=("block size by position",))
    page, log = browse(report, tmp_path, dark=False)
    assert "CONSOLE" not in log, log
    assert page.count('data-state="drawn"') == 1
    rounds = 5
    assert page.count('class="mark-line role-mark lines_marks"') == rounds * len(USERS) * len(POLICIES)


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium: install it to see the report drawn by a browser")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_browser_draws_every_chart(report: Path, tmp_path: Path, scheme: str) -> None:
    page, log = browse(report, tmp_path, dark=scheme == "dark")
    assert "CONSOLE" not in log, log
    assert page.count('data-state="drawn"') == len(METRICS)
    assert page.count('class="mark-line role-mark lines_marks"') == len(METRICS) * len(USERS) * len(POLICIES)
    assert 'data-state="failed"' not in page
    assert "<title>owned</title>" not in page
    assert ("#e6e8eb" in page.split("<svg")[1]) is (scheme == "dark")


def browse(page: Path, profile: Path, *, dark: bool) -> tuple[str, str]:
    """What the page has become after its scripts ran, and what the browser had to say."""
    command = [
        *(str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
        *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
        *(f"--user-data-dir={profile}", "--enable-logging=stderr", "--virtual-time-budget=10000"),
        *(["--blink-settings=preferredColorScheme=0"] if dark else []),
        *("--dump-dom", page.as_uri()),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return done.stdout, done.stderr
