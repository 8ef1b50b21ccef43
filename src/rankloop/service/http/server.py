"""Uvicorn server for the app, in this process, with graceful shutdown."""

from __future__ import annotations

import contextlib
import gc
import resource
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from types import FrameType
from typing import Any

import uvicorn
from threadpoolctl import threadpool_limits

from rankloop.errors import SettingError
from rankloop.service.http.app import create_app
from rankloop.service.http.app_context import AppContext
from rankloop.service.http.bounded_connections import BoundedConnection

SIGNALS = (signal.SIGINT, signal.SIGTERM)
LAST_REQUESTS = 10  # seconds that requests have to end in
YOUNG = 5000  # objects made between two looks for garbage; Python's own default is 700
BACKLOG = 512  # connections that wait to be taken in
OTHER_FILES = 200  # descriptors for the store, threads and what else there is
SWITCH = 0.001  # seconds after which a thread that computes lets the others in; Python's own default is 5 ms


def bind(host: str, port: int | None) -> socket.socket:
    """A socket to listen on; without a port, 8000 or, if that is taken, a free one."""
    for choice in (8000, 0) if port is None else (port,):
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        # asyncio turns Nagle's delay (40 ms) off only for sockets that say they speak TCP
        found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind((host, choice))
        except OSError as error:
            found.close()
            if choice != 8000 or port is not None:
                raise SettingError(f"{host}:{choice} cannot be listened on: {error.strerror}") from error
        else:
            return found
    raise AssertionError("port 0 is always free")


def serve(context: AppContext, listening: socket.socket, *, ready: Callable[[], None] = lambda: None) -> None:
    """Answer requests until SIGTERM or Ctrl-C; those under way are finished. `ready` is called first."""
    _settle_down()
    _make_room(context.settings.max_connections)
    config = _config(context, timeout_graceful_shutdown=LAST_REQUESTS)
    try:
        _Server(config, context, ready).run(sockets=[listening])
    finally:
        context.close()


def _config(context: AppContext, **more: Any) -> uvicorn.Config:
    """Bounded connections, and nobody's word on the client's address but that of named proxies."""
    return uvicorn.Config(
        create_app(context),
        http=partial(BoundedConnection, context.connections),  # type: ignore[arg-type]
        ws="none",
        proxy_headers=bool(context.settings.proxies),
        forwarded_allow_ips=list(context.settings.proxies),
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="off",
        backlog=BACKLOG,
        **more,
    )


def _make_room(connections: int) -> None:
    """File descriptors for as many connections as there may be, as far as the system allows it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _settle_down() -> None:
    """Make the interpreter fit to answer many short requests.

    Threads that compute let others in; what is there by now, and stays, is not looked through for garbage
    again and again; and products of small matrices are left to the thread that wants them.
    """
    sys.setswitchinterval(SWITCH)
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, 20, 20)
    threadpool_limits(limits=1, user_api="blas")


@contextlib.contextmanager
def running(context: AppContext, *, host: str = "127.0.0.1", port: int = 0) -> Iterator[str]:
    """Answer requests in a thread of this process until the block ends; yields the address."""
    with bind(host, port) as listening:
        server = uvicorn.Server(_config(context))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, name="http")
        thread.start()
        try:
            while not server.started:
                if not thread.is_alive():
                    raise RuntimeError("the server ended before it listened: its log says why")
                time.sleep(0.005)
            yield f"http://{host}:{listening.getsockname()[1]}"
        finally:
            context.close()
            server.should_exit = True
            thread.join()


class _Server(uvicorn.Server):
    """Uvicorn that says when it is ready, and leaves the exit code to us."""

    def __init__(self, config: uvicorn.Config, context: AppContext, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._context, self._ready = context, ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Say when it is there: it listens at once, and is ready when all logs are folded."""
        await super().startup(sockets)
        if self.started and not self._context.service.starting:
            self._ready()
        elif self.started:
            threading.Thread(target=self._say_when_ready, name="starting", daemon=True).start()

    def _say_when_ready(self) -> None:
        while self._context.service.starting and not self._context.stopping.is_set():
            time.sleep(0.02)
        self._ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to end: at once, or when load balancers have had time to see that it is not ready."""
        drain = self._context.settings.drain
        if drain and not self._context.draining.is_set():
            self._context.draining.set()
            waiting = threading.Timer(drain, self.handle_exit, (sig, frame))
            waiting.daemon = True
            waiting.start()
            return
        self._context.stopping.set()
        super().handle_exit(sig, frame)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Uvicorn raises the signal again in the end, which would skip what is to be done after it."""
        before = {sig: signal.signal(sig, self.handle_exit) for sig in SIGNALS}
        try:
            yield
        finally:
            for sig, handler in before.items():
                signal.signal(sig, handler)
