"""Store contract as checks, to run on a store of your own.

>>> from rankloop.store import MemoryStore
>>> from rankloop.store.checks import check_store
>>> check_store(MemoryStore)
"""

from rankloop.store.checks.broken import ContractBroken
from rankloop.store.checks.run import LAWS, check_store

__all__ = ["LAWS", "ContractBroken", "check_store"]
