"""Ports for servers that need to know theirs before they start, or that come back to it after a restart."""

from __future__ import annotations

import os
import socket
from itertools import count

# The system gives ports from 32768 on to whoever connects or does not care: one of those can be gone as soon
# as it was found. Ours are below, and processes that run at the same time begin a hundred ports apart.
_numbers = count(20_000 + 100 * (os.getpid() % 100))


def free_port() -> int:
    """A port that nobody listens on, that nobody gets by chance, and that was not given before."""
    for port in _numbers:
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise AssertionError("numbers have no end")
