"""The registry of numbered items is whole, and what it refers to is there."""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest

from rankloop.errors import SettingError
from rankloop.lab.suites import PICTURES, SUITES, TABLES
from rankloop.lab.suites.numbered_items import DOCUMENTS, PaperItem, read_document

ROOT = Path(__file__).parents[3]
ITEMS = [(name, item) for name in DOCUMENTS for item in read_document(name).items.values()]


def problems(item: PaperItem) -> list[str]:
    """References of an item that lead nowhere."""
    found = [each for each in item.experiments if each not in (*SUITES, *TABLES, *PICTURES)]
    found += [each for each in (*item.tests, *item.pages) if not (ROOT / each.split("::")[0]).exists()]
    for reference in item.code:
        module, _, name = reference.partition(":")
        value: object = import_module(module)
        for part in filter(None, name.split(".")):
            value = getattr(value, part, None)
        if value is None:
            found.append(reference)
    return found


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_reference_leads_somewhere(name: str) -> None:
    items = read_document(name).items.values()
    assert {item.key: problems(item) for item in items if problems(item)} == {}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_document_has_as_many_items_of_each_kind_as_it_says(name: str) -> None:
    document = read_document(name)
    assert Counter(item.kind for item in document.items.values()) == document.counts
    assert sum(document.count_verdicts().values()) == len(document.items)


def test_what_was_judged_has_a_home() -> None:
    homeless = {"not tested", "definition", "needs data", "needs people"}
    assert [item.key for _, item in ITEMS if not item.has_home and item.verdict not in homeless] == []


def test_all_five_documents_are_here() -> None:
    assert len(ITEMS) == 377


def test_an_unknown_document_is_refused_with_the_known_ones() -> None:
    with pytest.raises(SettingError, match="did you mean 'neural_paper'"):
        read_document("neural_papers")
