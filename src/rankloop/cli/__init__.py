"""Command line: composes the parts, and prints."""

from rankloop.cli.command_table import app

__all__ = ["app"]
