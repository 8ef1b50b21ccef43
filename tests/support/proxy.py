"""A network that can be cut: a TCP proxy on this machine that stalls without a word, or drops everything."""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading

from tests.support.ports import free_port


class Proxy:
    """Passes bytes on to a port, until it is told otherwise.

    `stall`: connections stay open and nothing passes, in neither direction, as with a cable that was pulled.
    `drop`: connections end, and new ones are refused. `mend`: everything passes again.
    """

    def __init__(self, port: int) -> None:
        self._target = port
        self._pairs: dict[socket.socket, socket.socket] = {}
        self._passes, self._ended = threading.Event(), False
        self._passes.set()
        self._lock = threading.Lock()
        self._selector = selectors.DefaultSelector()
        self.port = free_port()  # it is left and taken again, and nobody else may have it in between
        self._listening = socket.create_server(("127.0.0.1", self.port))
        self._selector.register(self._listening, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def stall(self) -> None:
        self._passes.clear()

    def drop(self) -> None:
        with self._lock:
            if self._listening.fileno() >= 0:
                self._selector.unregister(self._listening)
                self._listening.close()
            for each in list(self._pairs):
                self._end(each)

    def mend(self) -> None:
        with self._lock:
            if self._listening.fileno() < 0:
                self._listening = socket.create_server(("127.0.0.1", self.port))
                self._selector.register(self._listening, selectors.EVENT_READ)
        self._passes.set()

    def close(self) -> None:
        self._ended = True
        self._passes.set()
        self._thread.join()
        self.drop()
        self._selector.close()

    def _work(self) -> None:
        while not self._ended:
            ready = self._selector.select(timeout=0.05)
            self._passes.wait()
            with self._lock:
                for key, _ in ready:
                    if key.fileobj is self._listening:
                        self._accept()
                    elif key.fileobj in self._pairs:
                        self._pass(key.fileobj)

    def _accept(self) -> None:
        ours, _ = self._listening.accept()
        try:
            theirs = socket.create_connection(("127.0.0.1", self._target))
        except OSError:
            ours.close()
            return
        for one, other in ((ours, theirs), (theirs, ours)):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._pairs[one] = other
            self._selector.register(one, selectors.EVENT_READ)

    def _pass(self, source: socket.socket) -> None:
        try:
            sent = source.recv(65_536)
            if sent:
                self._pairs[source].sendall(sent)
                return
        except OSError:
            pass
        self._end(source)

    def _end(self, source: socket.socket) -> None:
        for each in (source, self._pairs.get(source)):
            if each is not None and self._pairs.pop(each, None) is not None:
                with contextlib.suppress(KeyError, ValueError):
                    self._selector.unregister(each)
                each.close()
