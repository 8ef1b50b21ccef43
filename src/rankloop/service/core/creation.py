"""Creation of a ranker: its first settings and its mode are the first two decisions of its log."""

from __future__ import annotations

from collections.abc import Mapping

from rankloop.service.core.ranker_settings import BaseRankerSettings, Mode
from rankloop.service.store import Decision, Store, Transaction, write


def begin(
    store: Store, ranker: str, settings: BaseRankerSettings, mode: Mode, *, at: float, said: Mapping[str, str]
) -> bool:
    """Begin the log of a ranker; nothing happens, and it says so, if there is one."""

    def job(transaction: Transaction) -> bool:
        if transaction.read_decisions(ranker):
            return False
        now = transaction.time(at)
        for kind, body in (("settings", {"settings": settings.to_log()}), ("mode", {"mode": mode})):
            transaction.append(Decision(at=now, ranker=ranker, kind=kind, body={**body, **said}))
        return True

    return write(store, job)
