"""A private PostgreSQL cluster for tests: in a temporary folder, on a free port, by an unprivileged user."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from itertools import count
from pathlib import Path
from urllib.parse import quote

import psycopg

from tests.support.ports import free_port

DEBIAN = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
SEARCH = os.pathsep.join([os.environ.get("PATH", ""), *map(str, DEBIAN)])
PASSWORD = "s3cret-of-the-tests"


class Unavailable(Exception):
    """No cluster can be had here, and why."""


class Cluster:
    """A server with one superuser; each test gets a schema of its own in one database.

    In memory where it can be, for tests kill processes and pull no plug; `on_disk` for what is measured. It
    is reached from this machine alone, and from the network `reachable`, if there is one.
    """

    def __init__(self, *, on_disk: bool = False, reachable: str = "") -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="rankloop-pg-", dir=None if on_disk else _memory()))
        self._as, owner = _unprivileged()
        if owner is not None:
            os.chown(self._folder, owner, -1)
        self._numbers = count()
        self.port = free_port()
        try:
            self._call(
                "initdb", "--auth=trust", "--username=anna", "--no-sync", "--no-locale", "--encoding=UTF8"
            )
            if reachable:
                with (self._folder / "data" / "pg_hba.conf").open("a") as hosts:
                    hosts.write(f"host all all {reachable} trust\n")
            with (self._folder / "data" / "postgresql.auto.conf").open("a") as settings:
                listen = "*" if reachable else "127.0.0.1"
                settings.write(
                    f"port = {self.port}\nlisten_addresses = '{listen}'\nmax_connections = 100\n"
                    f"unix_socket_directories = '{self._folder}'\nlog_min_messages = fatal\n"
                )
            self.start()
        except (OSError, subprocess.CalledProcessError) as error:
            self.remove()
            raise Unavailable(f"PostgreSQL could not be started: {error}") from error

    def url(self, *, schema: str | None = None) -> str:
        """An address with a schema that nobody used before, and with a password that nobody may print."""
        name = schema or f"log{next(self._numbers)}"
        where = f"postgresql://anna:{PASSWORD}@127.0.0.1:{self.port}/postgres"
        if schema is None:
            with psycopg.connect(where, autocommit=True) as connection:
                connection.execute(f"CREATE SCHEMA {name}")
        return f"{where}?options={quote(f'-csearch_path={name}')}"

    @property
    def data(self) -> Path:
        """The folder with the files of all databases."""
        return self._folder / "data"

    def start(self) -> None:
        self._call("pg_ctl", "start", "--wait", "--silent", f"--log={self._folder / 'log'}")

    def stop(self, mode: str = "fast") -> None:
        self._call("pg_ctl", "stop", "--wait", "--silent", f"--mode={mode}")

    def remove(self) -> None:
        """Stop it, and leave nothing."""
        if (self._folder / "data" / "postmaster.pid").exists():
            self.stop("immediate")
        shutil.rmtree(self._folder, ignore_errors=True)

    def _call(self, program: str, *options: str) -> None:
        found = shutil.which(program, path=SEARCH)
        if found is None:
            raise Unavailable(f"no {program}: install the package postgresql-15 to run these tests")
        subprocess.run(
            [*self._as, found, *options, f"--pgdata={self._folder / 'data'}"],
            check=True,
            cwd=self._folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


def _memory() -> str | None:
    """A folder in memory, if there is one with room: it outlives any process, and its files are soon gone."""
    folder = Path("/dev/shm")
    roomy = folder.is_dir() and os.access(folder, os.W_OK) and shutil.disk_usage(folder).free > 2**30
    return str(folder) if roomy else None


def _unprivileged() -> tuple[list[str], int | None]:
    """PostgreSQL does not run as root: whom to be instead, and how."""
    if os.getuid() != 0:
        return [], None
    setpriv = shutil.which("setpriv")
    for name in ("postgres", "nobody"):
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        if setpriv:
            who = [f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
            return [setpriv, *who, "--"], user.pw_uid
    raise Unavailable("PostgreSQL does not run as root, and there is no setpriv to be somebody else")
