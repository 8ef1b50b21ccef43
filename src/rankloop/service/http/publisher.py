"""Publisher of lists: written behind the answer, or durable before it is given."""

from __future__ import annotations

from functools import partial

from rankloop.service.core.lists.make_list import MadeList
from rankloop.service.http.worker_pool import Busy, FutureWaiter
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import StoreError

MOST = 2048  # lists that may wait to be durable


class Publisher:
    """Has a list written down, and says what is to be shown: the list, marked if it may not be in the log.

    With `durable`, it waits for the store, for a deadline of its own: then a list that is not marked can be
    audited, whatever happens next.
    """

    def __init__(self, service: ServiceFacade, *, durable: bool, deadline: float) -> None:
        self._service, self._durable, self._deadline = service, durable, deadline
        self._waiter = FutureWaiter(most=MOST)

    async def publish(self, draft: MadeList, *, urgent: bool = False) -> MadeList:
        """The list as it is to be shown."""
        if not self._durable:
            return self._service.publish(draft, urgent=urgent)
        try:
            await self._waiter.run(partial(self._service.write_down, draft), seconds=self._deadline)
        except (StoreError, TimeoutError, Busy) as error:
            return draft.unlogged(_reason(error, self._deadline))
        return draft


def _reason(error: Exception, deadline: float) -> str:
    if isinstance(error, StoreError):
        return str(error)[:200]
    if isinstance(error, TimeoutError):
        return f"it was not durable within {deadline * 1000:g} ms"
    return "too many lists wait to be durable"
