"""Networks that can be cut: a namespace for each replica, or a proxy before the database."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import Protocol

from tests.support.postgres import Cluster
from tests.support.proxy import Proxy


class Network(Protocol):
    """Ways between replicas, clients and the database."""

    told: str  # what it is made of, in words

    def host(self, number: int) -> str:
        """The address at which clients find a replica."""
        ...

    def namespace(self, number: int) -> str:
        """The network namespace that a replica lives in, if it has one."""
        ...

    def url(self, number: int, url: str) -> str:
        """The address at which a replica finds the database."""
        ...

    def cut(self, number: int) -> None:
        """Cut a replica off from the database; clients still reach it."""
        ...

    def mend(self, number: int) -> None:
        """Take it back."""
        ...

    def close(self) -> None:
        """Leave nothing."""
        ...


class Namespaces:
    """A network namespace for each replica, with two cables: one to the clients, one to the database.

    Cutting is taking the second one down: packets are lost without a word. It needs root and iproute2.
    """

    told = "network namespaces (ip netns), a cable taken down"

    def __init__(self, count: int, cluster: Cluster) -> None:
        self._count, self._port = count, cluster.port
        self._first = os.getpid() % 80 * count  # so that two runs do not meet
        self._names = [f"rlchaos{self._first + number}" for number in range(count)]
        try:
            for number in range(count):
                self._add(number)
        except subprocess.CalledProcessError:
            self.close()
            raise

    def host(self, number: int) -> str:
        """The address at which clients find a replica."""
        return f"10.177.{self._first + number}.2"

    def namespace(self, number: int) -> str:
        """The network namespace that a replica lives in."""
        return self._names[number]

    def url(self, number: int, url: str) -> str:
        """The address at which a replica finds the database."""
        return url.replace(f"@127.0.0.1:{self._port}/", f"@10.178.{self._first + number}.1:{self._port}/")

    def cut(self, number: int) -> None:
        """Cut a replica off from the database."""
        _ip("link", "set", f"{self._names[number]}d", "down")

    def mend(self, number: int) -> None:
        """Take it back."""
        _ip("link", "set", f"{self._names[number]}d", "up")

    def close(self) -> None:
        """Leave nothing."""
        for name in self._names:
            subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True)
            for end in "cd":
                subprocess.run(["ip", "link", "delete", f"{name}{end}"], check=False, capture_output=True)

    def _add(self, number: int) -> None:
        name = self._names[number]
        _ip("netns", "add", name)
        for end, net in (("c", 177), ("d", 178)):
            _ip("link", "add", f"{name}{end}", "type", "veth", "peer", "name", f"eth{end}", "netns", name)
            _ip("addr", "add", f"10.{net}.{self._first + number}.1/24", "dev", f"{name}{end}")
            _ip("link", "set", f"{name}{end}", "up")
            _ip("-n", name, "addr", "add", f"10.{net}.{self._first + number}.2/24", "dev", f"eth{end}")
            _ip("-n", name, "link", "set", f"eth{end}", "up")


class Proxies:
    """A proxy before the database for each replica, which drops everything when it is cut."""

    told = "a proxy on this machine that drops everything (no network namespaces here)"

    def __init__(self, count: int, cluster: Cluster) -> None:
        self._proxies = [Proxy(cluster.port) for _ in range(count)]
        self._port = cluster.port

    def host(self, number: int) -> str:  # noqa: ARG002
        """The address at which clients find a replica."""
        return "127.0.0.1"

    def namespace(self, number: int) -> str:  # noqa: ARG002
        """The network namespace that a replica lives in."""
        return ""

    def url(self, number: int, url: str) -> str:
        """The address at which a replica finds the database."""
        return url.replace(f"@127.0.0.1:{self._port}/", f"@127.0.0.1:{self._proxies[number].port}/")

    def cut(self, number: int) -> None:
        """Cut a replica off from the database."""
        self._proxies[number].drop()

    def mend(self, number: int) -> None:
        """Take it back."""
        self._proxies[number].mend()

    def close(self) -> None:
        """Leave nothing."""
        for each in self._proxies:
            each.close()


def network(count: int, cluster: Cluster) -> Network:
    """Namespaces where they can be had, otherwise proxies."""
    if os.getuid() == 0 and shutil.which("ip"):
        try:
            return Namespaces(count, cluster)
        except (subprocess.CalledProcessError, OSError):
            pass
    return Proxies(count, cluster)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)
