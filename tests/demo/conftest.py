"""One index for all tests of the demo: making it takes seconds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rankloop.demo.corpus import Corpus


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    path: Path = tmp_path_factory.mktemp("demo") / "corpus.db"
    found = Corpus.open(path)
    yield found
    found.close()
