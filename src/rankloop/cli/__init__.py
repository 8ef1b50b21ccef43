"""Command line: composes the parts, and prints."""

from rankloop.cli.app import app

__all__ = ["app"]
