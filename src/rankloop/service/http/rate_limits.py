"""Rate limits: token buckets by client address, and by key.

The page key stands in public pages, so that everybody may flood with it: a bucket for each address comes
first, and one for the key only after it. Whoever has used up the share of an address harms only that address.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from math import inf

from rankloop.service.http.http_settings import HttpSettings

BURST = 10.0  # seconds' worth that may come at once
MOST = 20_000  # buckets remembered; beyond, the one that was used longest ago is full again


class TokenBuckets:
    """A bucket for each name: so many tokens per second flow in, up to `BURST` seconds' worth.

    >>> buckets = TokenBuckets(2.0, clock=lambda: 0.0)
    >>> buckets.take("192.0.2.7", 20), buckets.take("192.0.2.7", 1), buckets.take("192.0.2.8", 1)
    (0.0, 0.5, 0.0)
    """

    def __init__(self, rate: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate, self.most = rate, rate * BURST
        self._clock = clock
        self._buckets: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()  # tokens, and when

    def take(self, name: Hashable, tokens: float) -> float:
        """Take tokens: 0 if they were there; otherwise nothing is taken, and how many seconds to wait.

        Infinitely long, if a bucket never holds so many. A rate of 0 is no limit.
        """
        if not self.rate:
            return 0.0
        left = self._left(name)
        if tokens > left:
            return inf if tokens > self.most else (tokens - left) / self.rate
        self._put(name, left - tokens)
        return 0.0

    def empty(self, name: Hashable) -> bool:
        """Whether not a single token is there."""
        return bool(self.rate) and name in self._buckets and self._left(name) < 1

    def drain(self, name: Hashable, tokens: float) -> None:
        """Take as many tokens as there are, up to this many."""
        if self.rate:
            self._put(name, max(self._left(name) - tokens, 0.0))

    def _left(self, name: Hashable) -> float:
        tokens, at = self._buckets.get(name, (self.most, 0.0))
        return min(tokens + self.rate * (self._clock() - at), self.most)

    def _put(self, name: Hashable, tokens: float) -> None:
        self._buckets[name] = tokens, self._clock()
        self._buckets.move_to_end(name)
        if len(self._buckets) > MOST:
            self._buckets.popitem(last=False)


class Limits:
    """How much may come: from an address with the page key or none, and with each key altogether."""

    def __init__(self, settings: HttpSettings, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.addresses = TokenBuckets(settings.address_rate, clock=clock)
        self.requests = TokenBuckets(settings.request_rate, clock=clock)
        self._page = TokenBuckets(settings.page_rate, clock=clock)
        self._keys = TokenBuckets(settings.key_rate, clock=clock)

    def take(self, address: str, key: Hashable, *, public: bool, events: int) -> float:
        """Let so many events pass: 0, or how many seconds to wait. An empty address is not limited."""
        if not public:
            return self._keys.take(key, events)
        wait = self.addresses.take(address, events) if address else 0.0
        return wait or self._page.take(key, events)
