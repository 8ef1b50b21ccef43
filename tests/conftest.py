"""Every test is seeded: Hypothesis tries the same examples each time. And there is one PostgreSQL for all."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.support.postgres import Cluster, Unavailable

settings.register_profile("seeded", derandomize=True, deadline=None)
settings.load_profile("seeded")


LONG = (  # files that take longest, by the processor time they took: what is left for the end is short
    "lab/suites/test_experiments.py",
    "test_docs.py",
    "cli/test_cli.py",
    "lab/sweeps/test_sweep.py",
    "test_site.py",
    "service/pages/test_browser.py",
    "service/http/test_fuzz.py",
    "test_examples.py",
    "policies/test_pairrank.py",
    "demo/test_camping_browser.py",
    "lab/report/test_sweep_report_page.py",
    "service/operations/test_audit_and_rollback.py",
    "policies/test_neural.py",
    "service/http/test_ads.py",
    "test_tutorial.py",
    "lab/sweeps/test_ray_engine.py",
    "service/extensions/fair/test_life_over_http.py",
    "service/extensions/fair/test_life.py",
    "service/http/test_learning.py",
    "test_deploy.py",
    "service/core/test_laws.py",
    "service/extensions/trial/test_routes.py",
    "service/http/test_kill.py",
    "service/extensions/recommend/test_live_session.py",
    "service/store/test_kill.py",
    "service/test_replicas.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files first: each is run by one worker, and both are to be done at the same time."""
    here = Path(__file__).parent
    turns = {here / name: turn for turn, name in enumerate(LONG)}
    assert all(map(Path.exists, turns)), "a file of LONG is gone: see conftest.py"
    items.sort(key=lambda item: turns.get(item.path, len(LONG)))


@pytest.fixture(autouse=True)
def _temporary_stores_are_closed() -> Iterator[None]:
    """Close the temporary stores that a test leaves open: each has a thread and a file."""
    name = "rankloop.service.store.sqlite.temporary_store"  # most tests open none, and need not import it
    before = set(sys.modules[name].OPEN_STORES) if name in sys.modules else set()
    yield
    if name in sys.modules:
        for store in sys.modules[name].OPEN_STORES - before:
            store.close()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Cluster]:
    """A private PostgreSQL, started when the first test asks for it."""
    try:
        cluster = Cluster()
    except Unavailable as reason:
        pytest.skip(str(reason))
    yield cluster
    cluster.remove()
