from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test has its own, initially missing, cache folder."""
    folder = tmp_path_factory.mktemp("cache") / "rankloop"
    monkeypatch.setenv("RANKLOOP_CACHE", str(folder))
    return folder


@pytest.fixture
def letor_file(tmp_path: Path) -> Path:
    path = tmp_path / "train.txt"
    path.write_text("2 qid:7 1:0.5 3:1 # best\n0 qid:7 2:1\n1 qid:9 1:0.25")
    return path
