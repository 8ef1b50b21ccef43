"""Conformance run: every law of the contract, on stores of your own."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TypeAlias

from rankloop.service.store.checks import (
    exposure_laws,
    log_laws,
    people_laws,
    snapshot_laws,
    statistics_laws,
    transaction_laws,
)
from rankloop.service.store.checks.broken import ContractBroken
from rankloop.service.store.store import Store

Make: TypeAlias = Callable[[], Store]
Law: TypeAlias = Callable[[Store], None]

LAWS: tuple[Law, ...] = (
    *(*log_laws.LAWS, *transaction_laws.LAWS),
    *(*snapshot_laws.LAWS, *statistics_laws.LAWS, *exposure_laws.LAWS, *people_laws.LAWS),
)


def check_store(
    make: Make,
    *,
    reopen: Callable[[Store], Store] | None = None,
    failing: Callable[[Store], AbstractContextManager[object]] | None = None,
) -> None:
    """Try every law on stores that `make` makes, each new and empty; `ContractBroken` says which one failed.

    `reopen` closes a store and opens what it left: give it if something is left. `failing` is a context in
    which no transaction of a store can be committed: what was written in it must be gone, and said to be.

    >>> from rankloop.service.store import MemoryStore
    >>> check_store(MemoryStore)
    """
    for law in LAWS:
        _try(law, make())
    if failing is not None:
        store = make()
        _try(lambda each: transaction_laws.what_cannot_be_committed_has_not_been(each, failing(each)), store)
    if reopen is not None:
        store = make()
        log_laws.fill(store)
        _try(log_laws.everything_is_there_after_a_restart, reopen(store))


def _try(law: Law, store: Store) -> None:
    try:
        law(store)
    except ContractBroken:
        raise
    except Exception as error:
        name = getattr(law, "__name__", "a law").replace("_", " ")
        raise ContractBroken(f"{name}: {type(error).__name__}: {error}") from error
    finally:
        store.close()
