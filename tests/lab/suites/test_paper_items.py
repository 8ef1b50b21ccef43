"""The registry of numbered items is whole, and what it refers to is there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

from rankloop.errors import SettingError
from rankloop.lab.baselines import ALL_POLICIES
from rankloop.lab.recommenders import read_recommender
from rankloop.lab.suites import DOCUMENTS, EXPERIMENTS, VERDICTS, PaperItem
from rankloop.lab.suites.paper_items import read_document
from rankloop.policies.policy_names import read_policy

ROOT = Path(__file__).parents[3]
ITEMS = [item for document in DOCUMENTS.values() for item in document.items.values()]
HOMELESS = {"not tested", "definition", "needs data", "needs people"}  # verdicts that need no home


def problems(item: PaperItem) -> list[str]:
    """References of an item that lead nowhere."""
    found = [each for each in item.experiments if each not in EXPERIMENTS]
    found += [each for each in item.policies if not works(lambda text: read_policy(text, ALL_POLICIES), each)]
    found += [each for each in item.recommenders if not works(read_recommender, each)]
    found += [each for each in (*item.tests, *item.pages) if not stands(each)]
    return found + [each for each in item.code if not works(resolve, each)]


def works(read: Callable[[str], object], text: str) -> bool:
    try:
        read(text)
    except (SettingError, ImportError, AttributeError):
        return False
    return True


def resolve(reference: str) -> object:
    """What `module:name.attribute` stands for."""
    module, _, name = reference.partition(":")
    value: object = import_module(module)
    for part in filter(None, name.split(".")):
        value = getattr(value, part)
    return value


def stands(reference: str) -> bool:
    """Whether a file, or a test in it, is there."""
    path, _, name = reference.partition("::")
    file = ROOT / path
    return file.exists() and (not name or f"def {name}(" in file.read_text("utf-8"))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_reference_leads_somewhere(name: str) -> None:
    items = DOCUMENTS[name].items.values()
    assert {item.key: problems(item) for item in items if problems(item)} == {}


def test_a_reference_that_leads_nowhere_is_noticed() -> None:
    item = PaperItem(
        key="figure 1",
        title="",
        section="",
        says="",
        verdict="agrees",
        experiments=["pairrank/fig33"],
        policies=["pairank"],
        recommenders=["factt"],
        code=["rankloop.policies:PairRang", "rankloop.polices:PairRank"],
        tests=["tests/lab/suites/test_paper_items.py::test_nothing"],
        pages=["docs/nowhere.md"],
    )
    assert len(problems(item)) == 7


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_document_has_as_many_items_of_each_kind_as_it_says(name: str) -> None:
    document = DOCUMENTS[name]
    assert Counter(item.kind for item in document.items.values()) == document.counts
    assert sum(document.count_verdicts().values()) == len(document.items)


def test_verdicts_are_the_seven() -> None:
    assert {item.verdict for item in ITEMS} == set(VERDICTS)


def test_what_was_judged_has_a_home() -> None:
    assert [item.key for item in ITEMS if not item.has_home and item.verdict not in HOMELESS] == []


def test_all_five_documents_are_here() -> None:
    assert len(ITEMS) == 377


def test_verdicts_change_only_on_purpose() -> None:
    found = {name: " ".join(map(str, count_all(name))) for name in DOCUMENTS}
    assert found == {
        "chaudhuri_ads": "4 2 0 0 2 2 0",
        "chaudhuri_bounds": "6 4 0 13 2 0 0",
        "chaudhuri_grades": "8 5 0 5 13 0 0",
        "chaudhuri_top_k": "25 13 0 10 8 0 0",
        "jia_exploration": "11 18 1 33 35 0 0",
        "jia_fairness": "3 7 1 0 5 1 0",
        "jia_recommendation": "1 10 2 4 21 0 3",
        "neural_paper": "6 4 0 18 14 0 0",
        "pairrank_paper": "8 13 0 2 9 0 0",
        "projection_paper": "10 10 2 0 2 1 0",
    }


def count_all(name: str) -> list[int]:
    """How many items of a document have each verdict, in the order of `VERDICTS`."""
    return [DOCUMENTS[name].count_verdicts().get(verdict, 0) for verdict in VERDICTS]


def test_a_verdict_that_nobody_knows_is_refused() -> None:
    head = {"title": "", "authors": "", "where": "", "year": 2021, "page": "", "counts": {}}
    item = {"title": "", "section": "", "says": "", "verdict": "perhaps"}
    with pytest.raises(SettingError, match=r"one of agrees, partly.*found 'perhaps'"):
        read_document("own.toml", {"document": head, "items": {"figure 1": item}})
