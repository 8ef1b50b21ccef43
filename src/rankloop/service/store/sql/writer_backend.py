"""What a database does in its own way for a transaction."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Protocol

from rankloop.service.store.sql.dialect import Dialect, Row, Values

DECISIONS, SNAPSHOTS, TOTALS = -1, -2, -3  # groups of tables that a purge may have to write again


class WriterBackend(Protocol):
    """What a database does in its own way for a transaction."""

    connection: Any  # the one that writes
    outage_errors: tuple[type[Exception], ...]  # the database failed, not the job

    @property
    def dialect(self) -> Dialect:
        """Return what the database calls things."""
        ...

    def begin(self) -> Row:
        """Begin a transaction and return the row of `head`, which nobody else can write now."""
        ...

    def check_usable(self) -> None:
        """Refuse to go on after an error of the database that a job has hidden."""
        ...

    def check_event(self, row: Sequence[Any]) -> None:
        """Refuse an event that the database would refuse later, when it has company."""
        ...

    def insert_rows(self, table: str, columns: tuple[str, ...], rows: Sequence[Sequence[Any]]) -> None:
        """Insert many rows at once."""
        ...

    def make_room(self, past: int, seq: int, at: float) -> int:
        """Make room for a number; the first number for which there is none afterwards."""
        ...

    def drop_old(self, head: int, values: Values) -> tuple[int, int]:
        """Drop partitions of which nothing is needed; how many entries, and how many bytes."""
        ...

    def count_removals(self, numbers: Collection[int]) -> None:
        """Note that entries of these numbers are removed."""
        ...

    def count_change(self, part: int) -> None:
        """Note that rows of a group of tables are removed or changed."""
        ...

    def move_head(self, values: Values, *, tell: bool) -> None:
        """Write where the log ends; with `tell`, notify other processes at the commit."""
        ...
