"""One index of the documentation for all tests of the demo: making it takes seconds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rankloop.demo.documentation import documentation
from rankloop.demo.product_scene import shop
from rankloop.demo.product_search import Corpus
from rankloop.demo.scene import Scene
from rankloop.demo.stdlib import Entry, standard_library


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    path: Path = tmp_path_factory.mktemp("demo") / "corpus.db"
    found = Corpus.open(path, Entry, standard_library)
    yield found
    found.close()


@pytest.fixture(scope="session")
def docs(corpus: Corpus) -> Scene:
    """The documentation to search."""
    return documentation(corpus)


@pytest.fixture(scope="session")
def wares() -> Scene:
    """The shop to search."""
    return shop()
