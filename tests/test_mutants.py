"""The table of seeded faults follows the code: each fault is found, and what it makes can be compiled."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]


def load_script() -> Any:
    """The script as a module; it has no ending that Python knows."""
    loader = importlib.machinery.SourceFileLoader("mutate_script", str(ROOT / "scripts" / "mutate"))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = sys.modules[loader.name] = importlib.util.module_from_spec(spec)  # its dataclasses look there
    loader.exec_module(module)
    return module


MUTATE = load_script()
TABLE = MUTATE.Table.read()


@cache
def source() -> list[Any]:
    found: list[Any] = MUTATE.read_source(ROOT)
    return found


@pytest.mark.parametrize("fault", TABLE.faults, ids=lambda fault: fault.id)
def test_a_fault_is_found_as_often_as_it_says(fault: Any) -> None:
    places = MUTATE.find(fault, source())
    where = [f"{each.path}:{each.line}" for each in places]
    assert len(places) == fault.times, (
        f"{fault.id}: expected {fault.times} places, found {where}. Give the code's new spelling, with the "
        "same slip, under `also` in scripts/mutants.toml"
    )
    before = {file.path: file.text for file in source()}
    for each in places:
        compile(each.text, str(each.path), "exec")
        assert each.text != before[each.path]


def test_there_are_120_faults_with_names_and_rooms_of_their_own() -> None:
    assert len({fault.id for fault in TABLE.faults}) == len(TABLE.faults) == 120
    assert {fault.room for fault in TABLE.faults} == set(TABLE.rooms)


def test_every_room_has_tests() -> None:
    for room in TABLE.rooms.values():
        assert MUTATE._files(ROOT, room["strong"])
        assert MUTATE._files(ROOT, room["tests"])


def test_code_is_found_whatever_its_form(tmp_path: Path) -> None:
    (tmp_path / "src" / "rankloop").mkdir(parents=True)
    (tmp_path / "src" / "rankloop" / "moved.py").write_text(
        'def double(values):\n    """Not here: total = add(a, b)."""\n'
        "    subtotal = add(a, b)\n    if values:\n        total = add(  # not there\n"
        "            first,\n            second,\n        )\n    return total\n"
    )
    fault = MUTATE.Fault("x", "lab", "", (MUTATE.Spelling("total = add($a, $b)", "x = 0\ntotal = $b"),))
    (place,) = MUTATE.find(fault, MUTATE.read_source(tmp_path))
    assert place.line == 5
    assert "    subtotal = add(a, b)\n" in place.text
    assert "        x = 0\n        total = second\n    return" in place.text
