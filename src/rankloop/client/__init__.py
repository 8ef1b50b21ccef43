"""Client for the service: the standard library, and nothing else."""

from rankloop.client.client import Client
from rankloop.client.transport import ClientError

__all__ = ["Client", "ClientError"]
