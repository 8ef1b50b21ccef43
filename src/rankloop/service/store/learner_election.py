"""Election of a learner: which of the processes on one log writes ticks and snapshots of a ranker.

It saves work and is no matter of correctness: any process may fold the log, and all get the same. So nothing
has to be fenced off; two learners for a moment only do the same thing twice.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, Protocol

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]


class Election(Protocol):
    """Who is the learner of a ranker."""

    @property
    def shared(self) -> bool:
        """Whether other processes may use the same log."""
        ...

    def leads(self, ranker: str) -> bool:
        """Whether this process is its learner just now; never waits."""
        ...


class Alone:
    """Election with one candidate: a process that has its log for itself.

    >>> Alone().leads("shop")
    True
    """

    shared = False

    def leads(self, ranker: str) -> bool:  # noqa: ARG002
        """Always."""
        return True


ALONE: Final = Alone()


class FileElection:
    """Election among the processes of one machine, by a lock on a file that ends with the process.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     one, two = (FileElection(Path(folder) / "learner") for _ in range(2))
    ...     print(one.leads("shop"), two.leads("shop"))
    ...     one.close()
    ...     print(two.leads("shop"))
    ...     two.close()
    True False
    True
    """

    shared = True

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        self._leads = False

    def leads(self, ranker: str) -> bool:  # noqa: ARG002
        """Whether this process has the lock, or gets it now; one for all rankers."""
        if not self._leads and fcntl is not None:
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._leads = True
            except OSError:
                pass
        return self._leads

    def close(self) -> None:
        """Let another one lead."""
        self._leads = False
        os.close(self._descriptor)
