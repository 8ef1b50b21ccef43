"""Waiting for what another thread or process does: patiently, for a busy machine is no failure."""

from __future__ import annotations

import time
from collections.abc import Callable

LONG_ENOUGH = 120.0  # seconds


def wait_until(holds: Callable[[], object], seconds: float = LONG_ENOUGH) -> None:
    """Until something holds, which must be soon; what never comes true fails instead of standing still."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.01)
