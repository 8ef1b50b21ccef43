"""How the command line ends: quietly, with a reason, and with the right exit code."""

from __future__ import annotations

from typing import Any

import typer
from rich.markup import escape
from typer.core import TyperGroup

from rankloop.cli.console import ERRORS

EXTRA_OF = {  # top-level modules that the base install leaves out
    **dict.fromkeys(("litestar", "uvicorn", "httptools", "prometheus_client", "jinja2"), "serve"),
    **dict.fromkeys(("polars", "altair", "vl_convert", "threadpoolctl"), "lab"),
}


class Stopping(TyperGroup):
    """A group of commands that turns our own errors into one sentence, and Ctrl-C into what is kept."""

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        """Run the command."""
        from rankloop.errors import RankloopError  # noqa: PLC0415  # --help does without arrays

        try:
            return super().invoke(ctx)
        except RankloopError as error:
            ERRORS.print(f"[bold red]error:[/] {escape(str(error))}")
            raise typer.Exit(2) from error
        except ModuleNotFoundError as error:
            module = (error.name or "").split(".")[0]
            if module not in EXTRA_OF:
                raise
            extra = EXTRA_OF[module]
            ERRORS.print(
                f"[bold red]error:[/] Expected the extra package `{extra}`, found none: "
                f"run `pip install 'rankloop\\[{extra}]'`"
            )
            raise typer.Exit(2) from error
        except BrokenPipeError:
            raise  # whoever reads has seen enough, as `head` does: that is no error to speak of
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            ERRORS.print(f"[bold red]error:[/] {escape(f'{where}{error.strerror or error}')}")
            raise typer.Exit(2) from error
        except KeyboardInterrupt as error:
            ERRORS.print(f"\n{self.describe_stop(ctx)}", highlight=False)
            raise typer.Exit(130) from error

    def describe_stop(self, ctx: typer.Context) -> str:  # noqa: ARG002  # a table knows its commands
        """Say what Ctrl-C has left, and what to do."""
        return "Stopped"
