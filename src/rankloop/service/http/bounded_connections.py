"""Bounded HTTP/1.1 connections: how many there are, how long a head may be, and how long to wait for one.

Nothing here knows what a request wants. A connection counts as keyless until a request on it was let in with
a key; when there are too many, the keyless one that has been there longest is closed first: whoever only
holds a connection open loses it, and whoever asks for something has been answered by then.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from rankloop.service.http.client_address import Proxies, is_own, network_of
from rankloop.service.http.http_settings import HttpSettings

SWEEP = 0.5  # seconds between two looks for connections that were waited for long enough
LINGER = 2.0  # seconds in which what comes after a refusal is thrown away, so that the refusal is seen
PENALTY = 1.0  # seconds for which a connection that asked too often is not read
KEYLESS, PAGE, TRUSTED = 0, 1, 2  # whose a connection is; those of a higher rank are closed last


class Connections:
    """The connections there are, by whose they are, the longest idle first."""

    def __init__(self, settings: HttpSettings, in_debt: Callable[[str], bool] = lambda _: False) -> None:
        self.settings = settings
        self.closed = Counter[str]()  # by why
        self._in_debt = in_debt
        self._proxies = Proxies(settings.proxies)
        self._ranks: tuple[OrderedDict[BoundedConnection, None], ...] = (
            OrderedDict(),
            OrderedDict(),
            OrderedDict(),
        )
        self._of: Counter[str] = Counter()  # by address, but for those of your own servers
        self._sweeping = False

    def __len__(self) -> int:
        return sum(map(len, self._ranks))

    def is_proxy(self, host: str) -> bool:
        """Whether a connection from there stands for many."""
        return is_own(host) or host in self._proxies

    def add(self, connection: BoundedConnection) -> bool:
        """Make room for a connection; False if there is none for it."""
        host = connection.host
        crowd = not self.is_proxy(host) and self._of[host] >= self.settings.address_connections
        if crowd or self._in_debt(host):
            self.closed["address"] += 1
            return False
        if len(self._ranks[KEYLESS]) >= max(self.settings.max_connections // 2, 1):
            self._evict(KEYLESS)
        elif len(self) >= self.settings.max_connections:
            rank = KEYLESS if self._ranks[KEYLESS] else PAGE
            if not self._ranks[rank]:
                self.closed["full"] += 1
                return False
            self._evict(rank)
        self._ranks[KEYLESS][connection] = None
        self._count(host, 1)
        if not self._sweeping:
            self._sweeping = True
            connection.loop.call_later(SWEEP, self._sweep, connection.loop)
        return True

    def promote(self, connection: BoundedConnection, rank: int) -> None:
        """A request on it was let in: it is the last of its kind to be closed."""
        if connection in self._ranks[connection.rank]:
            del self._ranks[connection.rank][connection]
            self._count(connection.host, (connection.rank == TRUSTED) - (rank == TRUSTED))
            connection.rank = rank
            self._ranks[rank][connection] = None

    def remove(self, connection: BoundedConnection) -> None:
        """It is gone."""
        if self._ranks[connection.rank].pop(connection, connection) is None:
            self._count(connection.host, -(connection.rank != TRUSTED))

    def _count(self, host: str, more: int) -> None:
        self._of[host] += more
        if not self._of[host]:
            del self._of[host]

    def _evict(self, rank: int) -> None:
        self.closed["evicted"] += 1
        oldest = next(iter(self._ranks[rank]))
        self.remove(oldest)
        oldest.transport.abort()

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        for connection in [each for rank in self._ranks for each in rank if each.due <= now]:
            self.closed["slow"] += 1
            self.remove(connection)
            connection.transport.abort()
        self._sweeping = len(self) > 0
        if self._sweeping:
            loop.call_later(SWEEP, self._sweep, loop)


class BoundedConnection(HttpToolsProtocol):
    """Uvicorn's protocol with bounds: a head of so many bytes, and so many seconds for it and for a body."""

    def __init__(self, connections: Connections, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.registry, self.rank, self.host = connections, KEYLESS, ""
        self._limits = connections.settings
        self._reading = math.inf  # until when what is being read must be there
        self._writing = math.inf  # until when an answer must be taken
        self._head = self._length = self._body = 0  # bytes: of a head so far, of its lines, and of a body
        self._in_head, self._in_body, self._refused, self._punished = True, False, False, False

    @property
    def due(self) -> float:
        """When it has been waited for long enough."""
        return min(self._reading, self._writing)

    # what an application may say

    def let_in(self, rank: int) -> None:
        """A request on it came with a key."""
        self.registry.promote(self, rank)

    def punish(self) -> None:
        """It asked too often: after this answer it is not read for a moment."""
        self._punished = not self.registry.is_proxy(self.host)

    # what happens

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take it in, if there is room."""
        super().connection_made(transport)
        self.host = network_of(self.client[0]) if self.client else ""
        self._reading = self.loop.time() + self._limits.head_seconds
        if not self.registry.add(self):
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of it."""
        self.registry.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on, as long as the head is not too long."""
        self._body += len(data)
        if self._body > 2 * self._limits.max_body + 2**18:  # chunks and trailers; a plain body was refused
            self.transport.abort()
        if self._refused or self.transport.is_closing():
            return
        if self._in_head:
            self._head += len(data)
            if self._reading == math.inf:  # the first bytes after an answer
                self._reading = self.loop.time() + self._limits.head_seconds
        super().data_received(data)
        if self._in_head and self._head > self._limits.max_head:
            self._refuse_head()

    def on_message_begin(self) -> None:
        """A head begins, and the application may say something about the connection."""
        super().on_message_begin()
        extensions: dict[str, Any] = {"rankloop.connection": self}
        self.scope["extensions"] = extensions
        self._in_head, self._length = True, 0

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header of a head that is not too long."""
        self._length += len(name) + len(value) + 4
        if self._length <= self._limits.max_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The head is there; now the body, if there is one."""
        self._in_head, self._in_body, self._head, self._body = False, True, 0, 0
        if self._length + len(self.url) > self._limits.max_head:
            self._refuse_head()
        if self._refused:
            return
        now = self.loop.time()
        self._reading = now + self._limits.body_seconds
        extensions: Any = self.scope["extensions"]
        extensions["rankloop.arrived"] = now
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Keep what may be wanted."""
        if not self._refused:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """Everything is there: it is our turn."""
        self._in_head, self._in_body, self._reading = True, False, math.inf
        if not self._refused:
            super().on_message_complete()

    def on_response_complete(self) -> None:
        """The answer was given; of a body that nobody wanted, the rest has a moment to come."""
        super().on_response_complete()
        if self._in_body or self.transport.is_closing():
            self._reading = self.loop.time() + LINGER
        if self._punished and not self.transport.is_closing():
            self._punished = False
            self.flow.pause_reading()
            self.loop.call_later(PENALTY, self.flow.resume_reading)

    def pause_writing(self) -> None:
        """Whoever asked does not take the answer."""
        super().pause_writing()
        self._writing = self.loop.time() + self._limits.body_seconds

    def resume_writing(self) -> None:
        """It is taken."""
        super().resume_writing()
        self._writing = math.inf

    def timeout_keep_alive_handler(self) -> None:
        """Nothing more came."""
        super().timeout_keep_alive_handler()
        self._reading = self.loop.time() + LINGER

    def _refuse_head(self) -> None:
        self._refused = True
        self.registry.closed["head"] += 1
        sentence = f'{{"error":"the head is larger than {self._limits.max_head:,} bytes: send less"}}'
        head = f"HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Length: {len(sentence)}\r\n"
        kind = "Content-Type: application/json\r\nConnection: close\r\n\r\n"
        self.transport.write(f"{head}{kind}{sentence}".encode())
        self.transport.write_eof()  # what still comes is read and thrown away, so that the answer is seen
        self._reading = self.loop.time() + LINGER
