"""Experiments: from a few lines to a table, a plot and a report."""

from rankloop.experiments.analysis.change import Change, relative_changes
from rankloop.experiments.analysis.statistics import SummaryRow, curves, summarise, to_json_rows
from rankloop.experiments.report.change_table import change_table
from rankloop.experiments.report.charts import learning_curves
from rankloop.experiments.report.latex import summary_latex
from rankloop.experiments.report.paper import write_figures, write_tables
from rankloop.experiments.report.paper_drawing import FigureStyle
from rankloop.experiments.report.paper_figure import FORMATS, Format
from rankloop.experiments.report.profile import fold_profiles, position_profile
from rankloop.experiments.report.report import write_report
from rankloop.experiments.report.table import summary_markdown, summary_table
from rankloop.experiments.report.worst_table import worst_table
from rankloop.experiments.simulation.examination import measured_looks
from rankloop.experiments.simulation.logs import logged
from rankloop.experiments.simulation.loop import Record, simulate
from rankloop.experiments.simulation.measures import (
    Answerable,
    Average,
    Cumulative,
    First,
    LoopMeasure,
    Measure,
    Offline,
    Online,
    Regret,
    Total,
    parse_measure,
    usual_measures,
)
from rankloop.experiments.simulation.protocol import Protocol
from rankloop.experiments.suites import (
    PICTURES,
    SUITES,
    TABLES,
    ComputedTable,
    PaperTable,
    Picture,
    SetsTable,
    Suite,
    preset_users,
)
from rankloop.experiments.sweeps.engines import Engine, Here, Pool, Tick, Watch, WorkerDied
from rankloop.experiments.sweeps.execution import execute
from rankloop.experiments.sweeps.graded_queries import graded_queries, queries_note, queries_told
from rankloop.experiments.sweeps.ray_engine import Ray
from rankloop.experiments.sweeps.study import conduct, sweep_id
from rankloop.experiments.sweeps.sweep import Run, Sweep

__all__ = [
    "FORMATS",
    "PICTURES",
    "SUITES",
    "TABLES",
    "Answerable",
    "Average",
    "Change",
    "ComputedTable",
    "Cumulative",
    "Engine",
    "FigureStyle",
    "First",
    "Format",
    "Here",
    "LoopMeasure",
    "Measure",
    "Offline",
    "Online",
    "PaperTable",
    "Picture",
    "Pool",
    "Protocol",
    "Ray",
    "Record",
    "Regret",
    "Run",
    "SetsTable",
    "Suite",
    "SummaryRow",
    "Sweep",
    "Tick",
    "Total",
    "Watch",
    "WorkerDied",
    "change_table",
    "conduct",
    "curves",
    "execute",
    "fold_profiles",
    "graded_queries",
    "learning_curves",
    "logged",
    "measured_looks",
    "parse_measure",
    "position_profile",
    "preset_users",
    "queries_note",
    "queries_told",
    "relative_changes",
    "simulate",
    "summarise",
    "summary_latex",
    "summary_markdown",
    "summary_table",
    "sweep_id",
    "to_json_rows",
    "usual_measures",
    "worst_table",
    "write_figures",
    "write_report",
    "write_tables",
]
