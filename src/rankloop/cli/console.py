"""Where the command line prints."""

from rich.console import Console

CONSOLE = Console()
ERRORS = Console(stderr=True, soft_wrap=True)
