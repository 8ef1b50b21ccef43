"""Experiments: from a few lines to a table, a plot and a report."""

from rankloop.experiments.change import Change, change_table, relative_changes
from rankloop.experiments.charts import learning_curves
from rankloop.experiments.engine import Tick, Watch, WorkerDied, execute
from rankloop.experiments.loop import Record, simulate
from rankloop.experiments.profile import fold_profiles, position_profile
from rankloop.experiments.protocol import Protocol
from rankloop.experiments.report import write_report
from rankloop.experiments.statistics import SummaryRow, curves, summarise, to_json_rows
from rankloop.experiments.study import conduct, sweep_id
from rankloop.experiments.suites import PICTURES, SUITES, Picture, Suite, preset_users
from rankloop.experiments.sweep import Run, Sweep
from rankloop.experiments.table import summary_markdown, summary_table

__all__ = [
    "PICTURES",
    "SUITES",
    "Change",
    "Picture",
    "Protocol",
    "Record",
    "Run",
    "Suite",
    "SummaryRow",
    "Sweep",
    "Tick",
    "Watch",
    "WorkerDied",
    "change_table",
    "conduct",
    "curves",
    "execute",
    "fold_profiles",
    "learning_curves",
    "position_profile",
    "preset_users",
    "relative_changes",
    "simulate",
    "summarise",
    "summary_markdown",
    "summary_table",
    "sweep_id",
    "to_json_rows",
    "write_report",
]
