"""The pages of the papers hold every item and experiment, and those in docs/papers are up to date."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from rankloop.lab.suites import DOCUMENTS, EXPERIMENTS, paper_pages
from rankloop.lab.suites.page_texts import MEANINGS
from rankloop.lab.suites.paper_items import VERDICTS, PaperItem
from rankloop.lab.suites.paper_pages import IN_FULL, PAGES, SECTIONS, build_pages, write_paper_pages

FOLDER = Path(__file__).parents[3] / "docs" / "papers"
BUILT = build_pages()
WRITE = "run `python -m rankloop.lab.suites.paper_pages docs/papers`"
ROWS = [kind for section, kinds in SECTIONS.items() if section not in IN_FULL for kind in kinds]


@pytest.mark.parametrize("name", BUILT)
def test_a_page_is_up_to_date(name: str) -> None:
    assert (FOLDER / name).read_text("utf-8") == BUILT[name], WRITE


def test_no_page_is_left_over() -> None:
    assert {path.name for path in FOLDER.iterdir()} == set(BUILT), WRITE


def test_pages_are_written(tmp_path: Path) -> None:
    paths = write_paper_pages(tmp_path / "papers")
    assert {path.name: path.read_text("utf-8") for path in paths} == BUILT


def test_an_item_that_changed_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    document = DOCUMENTS["pairrank_paper"]
    changed = {**document.items, "table 1": replace(document.items["table 1"], verdict="no")}
    monkeypatch.setitem(DOCUMENTS, "pairrank_paper", replace(document, items=changed))
    pages = build_pages()
    assert {name for name in BUILT if pages[name] != BUILT[name]} == {"pairrank.md", "index.md"}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_page_has_every_item_of_its_documents(name: str) -> None:
    document = DOCUMENTS[name]
    text = BUILT[f"{document.page}.md"]
    assert document.page in PAGES
    for item in document.items.values():
        assert said(item.title) in text
        assert said(item.says) in text
        assert said(item.remark) in text
        assert item.found.strip() in text


def said(text: str) -> str:
    """A plain text as it stands in Markdown."""
    for mark in "|*<~":
        text = text.replace(mark, f"\\{mark}")
    return text


def test_every_kind_has_one_section_and_every_verdict_a_meaning() -> None:
    kinds = [kind for kinds in SECTIONS.values() for kind in kinds]
    assert len(kinds) == len(set(kinds))
    assert {item.kind for document in DOCUMENTS.values() for item in document.items.values()} == set(kinds)
    assert tuple(MEANINGS) == VERDICTS


def test_what_stands_in_a_row_is_one_line() -> None:
    items = [item for document in DOCUMENTS.values() for item in document.items.values()]
    assert [item.key for item in items if item.kind in ROWS and "\n" in item.found.strip()] == []


def test_a_bar_in_a_text_is_no_column() -> None:
    item = PaperItem(key="lemma 1", title="|a|", section="1", says="|a| of w* < 1", verdict="agrees")
    assert paper_pages._describe_row(item) == [
        "**Lemma 1: \\|a\\|** (1)",
        "\\|a\\| of w\\* \\< 1",
        "agrees",
        "",
    ]


@pytest.mark.parametrize("name", BUILT)
def test_rows_of_a_table_have_as_many_cells_as_its_head(name: str) -> None:
    tables = re.findall(r"(?:^\|.*\|$\n?)+", BUILT[name], re.MULTILINE)
    assert tables
    for table in tables:
        rows = table.strip().splitlines()
        assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {rows[1].count("|")}, rows[0]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_is_listed_with_its_question(name: str) -> None:
    experiment = EXPERIMENTS[name]
    assert f"| `{name}` | {experiment.question} |" in BUILT["experiments.md"]
    for note in experiment.notes:
        assert said(note) in BUILT["experiments.md"]


def test_the_index_counts_the_verdicts_of_all_items() -> None:
    rows = re.findall(r"^\| \[.+\]\(.+\) \| .+? \| (\d+) \|(.*)\|$", BUILT["index.md"], re.MULTILINE)
    assert len(rows) == len(DOCUMENTS)
    assert sum(int(items) for items, _ in rows) == 377
    assert all(sum(map(int, re.findall(r"\d+", counts))) == int(items) for items, counts in rows)
