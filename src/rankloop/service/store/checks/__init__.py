"""Store contract as checks, to run on a store of your own.

>>> from rankloop.service.store import MemoryStore
>>> from rankloop.service.store.checks import check_store
>>> check_store(MemoryStore)
"""

from rankloop.service.store.checks.broken import ContractBroken
from rankloop.service.store.checks.run import LAWS, check_store

__all__ = ["LAWS", "ContractBroken", "check_store"]
