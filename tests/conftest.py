"""Every test is seeded: Hypothesis tries the same examples each time. And there is one PostgreSQL for all."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.postgres import Cluster, Unavailable

settings.register_profile("seeded", derandomize=True, deadline=None)
settings.load_profile("seeded")


@pytest.fixture(scope="session")
def postgres() -> Iterator[Cluster]:
    """A private PostgreSQL, started when the first test asks for it."""
    try:
        cluster = Cluster()
    except Unavailable as reason:
        pytest.skip(str(reason))
    yield cluster
    cluster.remove()
