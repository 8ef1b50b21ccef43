"""Table of the commands of `rankloop lab`, each imported when it is called."""

from __future__ import annotations

import typer

from rankloop.cli.commands import CONTINUE, Command, CommandTable

LAB_COMMANDS = {
    "compare": Command("lab.sweep_commands:compare", "Compare policies on simulated clicks.", CONTINUE),
    "run": Command("lab.sweep_commands:run", "Run a published experiment, table or bound.", CONTINUE),
    "tune": Command("lab.tune_command:tune_", "Choose settings on validation queries.", CONTINUE),
    "report": Command("lab.sweep_report_command:report", "Write the report of finished results again."),
    "evaluate": Command(
        "lab.logged_rounds_command:evaluate",
        "Estimate what policies would have got from a table of single choices with propensities.",
    ),
    "data": Command("lab.data_commands:data_app", "Describe, check or cache a dataset."),
    "trec": Command("lab.trec_commands:trec_app", "Write or evaluate TREC files."),
    "list": Command("lab.list_names:list_names", "List policies, users, datasets, measures and experiments."),
    "recommend": Command(
        "lab.recommend_commands:recommend_app", "Fit a recommender, explain items, or try its interview."
    ),
    "compare-recommenders": Command(
        "lab.recommend_commands:compare", "Compare recommenders on held-out reviews."
    ),
    "reviews": Command("lab.review_commands:reviews_app", "Extract opinions from reviews, or describe them."),
}


class LabCommands(CommandTable):
    """The commands after `rankloop lab`."""

    table = LAB_COMMANDS


lab_app = typer.Typer(
    help="Run experiments on data and simulated users.",
    no_args_is_help=True,
    cls=LabCommands,
    rich_markup_mode="markdown",
)


@lab_app.callback()
def lab() -> None:
    """Run experiments on data and simulated users."""
