"""Client for the service: the standard library, and nothing else."""

from rankloop.client.client import Client
from rankloop.client.lists import ClientError, Item, RankedList

__all__ = ["Client", "ClientError", "Item", "RankedList"]
