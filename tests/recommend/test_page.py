"""The page of recommenders has every model with its defaults."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from rankloop.recommend import RECOMMENDERS

PAGE = (Path(__file__).parents[2] / "docs" / "recommend.md").read_text("utf-8")


@pytest.mark.parametrize("name", RECOMMENDERS)
def test_every_recommender_has_a_section_with_its_settings(name: str) -> None:
    found = re.search(rf"^### `{name}`$(.*?)(?=^##)", PAGE, re.MULTILINE | re.DOTALL)
    assert found, f"docs/recommend.md should have a section ### `{name}`"
    for setting in (each for each in fields(RECOMMENDERS[name]) if each.init):
        row = f"| `{setting.name}` | `{setting.default!r}` |"
        assert row in found[1], f"docs/recommend.md should have a row that starts with {row}"
    assert "How ours differs" in found[1]
