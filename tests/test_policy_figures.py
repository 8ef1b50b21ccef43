"""The script that draws the figures of policies can make every sweep that it draws."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from rankloop.lab.sweeps.sweep_spec import read_sweep, write_spec

ROOT = Path(__file__).parents[1]


def load_script() -> Any:
    """The script as a module; it has no ending that Python knows."""
    loader = importlib.machinery.SourceFileLoader(
        "policy_figures_script", str(ROOT / "scripts/policy_figures")
    )
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = sys.modules[loader.name] = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


FIGURES = load_script()


@pytest.mark.parametrize("world", FIGURES.WORLDS, ids=lambda world: world.about)
def test_every_figure_has_a_sweep_that_measures_what_it_draws(world: Any) -> None:
    sweep = world.sweep(world.policies)
    assert write_spec(read_sweep(write_spec(sweep))) == write_spec(sweep)
    assert set(world.panels) <= set(sweep.measures)


def test_every_figure_is_shown_once_with_its_words() -> None:
    pages = "\n".join(page.read_text("utf-8") for page in FIGURES.PAGES.glob("*.md"))
    shown = re.findall(r"images/policies/([a-z0-9-]+)\.svg", pages)
    drawn = [name for world in FIGURES.WORLDS for name in world.policies]
    assert sorted(shown) == sorted(drawn)
    for world in FIGURES.WORLDS:
        for name in world.policies:
            after = pages.split(f"images/policies/{name}.svg)\n\n")[1]
            assert after.startswith(f"*On {world.about}, {world.rounds} {world.lists}, ")
            assert f"({next(iter(world.panels.values()))})" in after.partition("\n\n")[0]
