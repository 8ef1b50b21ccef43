"""Connections of readers: each is used by one reader at a time, and kept for the next one."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Concatenate, ParamSpec, Protocol, TypeAlias, TypeVar

from rankloop.service.store.sql.dialect import NO_VALUES, Dialect, Row, Values
from rankloop.service.store.store import StoreError

T = TypeVar("T")
P = ParamSpec("P")
Run: TypeAlias = Callable[..., list[Row]]  # a statement and its values


class LogSource(Protocol):
    """What the log is read from: connections of readers, or the transaction that writes."""

    @property
    def dialect(self) -> Dialect:
        """Return what the database calls things."""
        ...

    def run(self, sql: str, values: Values = ...) -> list[Row]:
        """Run one statement and return its rows."""
        ...

    def read(self, function: Callable[[Run], T]) -> T:
        """Call a function whose statements all see one state of the log."""
        ...


class ReaderBackend(Protocol):
    """What a database offers to those who only read."""

    name: str  # as errors call it, without a password
    errors: tuple[type[Exception], ...]  # of its driver

    @property
    def dialect(self) -> Dialect:
        """Return what the database calls things."""
        ...

    def open_reader(self) -> Any:
        """Open a connection that cannot write."""
        ...

    def check_reachable(self) -> None:
        """Raise `ConnectionLost` at once if the database is known to be away."""
        ...

    def is_lost(self, connection: Any) -> bool:
        """Return whether a connection is of no use any more."""
        ...


class ReaderConnections:
    """Idle connections of readers; there are never more than there were readers at once."""

    def __init__(self, backend: ReaderBackend) -> None:
        self._backend, self.dialect = backend, backend.dialect
        self.idle: deque[Any] = deque()
        self._closed = False

    def run(self, sql: str, values: Values = NO_VALUES) -> list[Row]:
        """Run one statement and return its rows."""
        return self.ask(self.dialect.run, sql, values)

    def read(self, function: Callable[[Run], T]) -> T:
        """Call a function whose statements all see one state of the log."""
        return self.ask_in_one_state(lambda connection: function(partial(self.dialect.run, connection)))

    def ask_in_one_state(
        self, function: Callable[Concatenate[Any, P], T], *args: P.args, **options: P.kwargs
    ) -> T:
        """Call a function with a connection on which all statements see one state of the log."""

        def asked(connection: Any) -> T:
            for statement in self.dialect.snapshot:
                connection.execute(statement)
            try:
                return function(connection, *args, **options)
            finally:
                with contextlib.suppress(*self._backend.errors):  # lost: the first error says so
                    connection.execute("ROLLBACK")

        return self.ask(asked)

    def ask(self, function: Callable[Concatenate[Any, P], T], *args: P.args, **options: P.kwargs) -> T:
        """Call a function with a connection that nobody else uses.

        If one was lost since it was last used, as by a restart of the database, a new one is asked.
        """
        if self._closed:
            raise StoreError("the store is closed")
        self._backend.check_reachable()
        connection = self._take_idle()
        try:
            with self.lend(connection) as lent:
                return function(lent, *args, **options)
        except StoreError:
            if connection is None or not self._backend.is_lost(connection):
                raise
        self._close_idle()  # they are as old, or older
        with self.lend(self._backend.open_reader()) as lent:
            return function(lent, *args, **options)

    def close(self) -> None:
        """Close all connections; one that is in use is closed by its reader."""
        self._closed = True
        self._close_idle()

    @contextlib.contextmanager
    def lend(self, connection: Any = None) -> Iterator[Any]:
        """Lend a connection that nobody else uses meanwhile."""
        if connection is None:
            connection = self._take_idle() or self._backend.open_reader()
        try:
            yield connection
        except self._backend.errors as error:
            told = " ".join(str(error).split())
            raise StoreError(f"{self._backend.name} cannot be read: {told}") from error
        finally:
            if self._closed:
                connection.close()
            elif not self._backend.is_lost(connection):
                self.idle.append(connection)

    def _take_idle(self) -> Any:
        try:
            return self.idle.pop()
        except IndexError:  # also if another thread was quicker
            return None

    def _close_idle(self) -> None:
        while connection := self._take_idle():
            connection.close()
