"""The command line."""

from rankloop.cli.app import app

__all__ = ["app"]
