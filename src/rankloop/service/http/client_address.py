"""Client addresses: which of them are one, and which stand for nobody."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from functools import lru_cache

from rankloop.errors import SettingError

SIXTEEN_BYTES = 64  # bits of an IPv6 address that one customer has for themselves


@lru_cache(maxsize=10_000)
def network_of(host: str) -> str:
    """What counts as one address: of IPv6 a network of /64, because one machine has all of it.

    >>> network_of("192.0.2.7"), network_of("2001:db8::1") == network_of("2001:db8::2")
    ('192.0.2.7', True)
    """
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(found, ipaddress.IPv4Address):
        return host
    if found.ipv4_mapped:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((found, SIXTEEN_BYTES), strict=False))


def is_own(host: str) -> bool:
    """Whether it is this machine, as it calls itself: a script of yours, or a proxy before the service.

    >>> is_own("127.0.0.1"), is_own("127.0.0.2")
    (True, False)
    """
    return host in ("127.0.0.1", "::1", network_of("::1"))


class Proxies:
    """Proxies whose word on the client's address is taken, as addresses and networks.

    >>> "10.1.2.3" in Proxies(["10.0.0.0/8"]), "192.0.2.7" in Proxies(["127.0.0.1"])
    (True, False)
    """

    def __init__(self, named: Iterable[str]) -> None:
        try:
            self._networks = [ipaddress.ip_network(each, strict=False) for each in named]
        except ValueError as error:
            raise SettingError(f"proxies are addresses or networks as in 10.0.0.0/8: {error}") from error

    def __contains__(self, host: str) -> bool:
        try:
            found = ipaddress.ip_address(host)
        except ValueError:
            return False
        return any(found in network for network in self._networks)
