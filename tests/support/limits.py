"""Small limits of a service, so that a short test meets what otherwise takes thousands of lists."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from rankloop.service.core import learned_part, snapshot_timing


def keep_snapshots_every(versions: int) -> Any:
    """Make the fixture of a module whose rankers keep a snapshot after so many versions."""

    @pytest.fixture(autouse=True, scope="module")
    def frequent_snapshots() -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(snapshot_timing, "SNAPSHOT_EVERY", versions)
            patch.setattr(snapshot_timing, "FIRST", versions)
            yield

    return frequent_snapshots


class OpenLists:
    """How many lists may wait for their clicks; for a test that changes it on its way."""

    def __init__(self, most: int) -> None:
        self._patch = pytest.MonkeyPatch()
        self._patch.setattr(learned_part, "MAX_OPEN", most)

    def undo(self) -> None:
        """Put back what it was."""
        self._patch.undo()
