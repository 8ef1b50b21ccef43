"""Tables of results as values: what the terminal, Markdown, HTML and LaTeX show alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import floor, log10
from statistics import mean
from typing import NamedTuple

from rankloop.errors import SettingError
from rankloop.lab.analysis.changes import Change
from rankloop.lab.analysis.policy_summaries import PolicySummary
from rankloop.lab.analysis.query_counts import describe_counts
from rankloop.lab.analysis.sweep_analysis import SweepAnalysis

WORST_CAPTION = (
    "The worst run after the last round, and how many are low: by more than an eighth worse than the median "
    "over seeds, in the same world or fold, of the policy whose median is best there."
)
CHANGE_CAPTION = (
    "Change of the mean after the last round ± half of its 95 % interval over paired runs, and standard "
    "deviation over runs as a multiple. Better with △ p < .05, ▲ p < .01; worse with ▽ p < .05, ▼ p < .01 "
    "(paired t-test over runs, Holm-corrected)."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableCell:
    """One cell: its text, a mark if a test calls it better or worse, a note, and single runs to draw."""

    text: str = "–"
    mark: str = ""
    best: bool = False
    note: str = ""  # in small type
    values: tuple[float, ...] = ()  # one dot each, where a format can draw


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRow:
    """One row: its names, and a cell for each user."""

    names: tuple[str, ...]
    cells: tuple[TableCell, ...]
    is_reference: bool = False  # shown for reference only, in italics


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultTable:
    """A table that every format prints with the same numbers."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[TableRow, ...]
    name_columns: int  # how many of the columns hold names
    caption: str

    @property
    def has_marks(self) -> bool:
        """Whether any cell has a mark, so that all leave room for one."""
        return any(cell.mark for row in self.rows for cell in row.cells)

    @property
    def groups(self) -> list[str]:
        """The dataset of every row, if there are several; rows of one stand together."""
        return [row.names[0] if self.headings[0] == "data" else "" for row in self.rows]


def build_tables(analysis: SweepAnalysis, metric: str) -> list[ResultTable]:
    """Build all tables of a metric: the summary, the worst runs if there are two, and changes if compared."""
    chosen = _choose(analysis, metric)
    several_runs = any(each.runs > 1 and each.worst is not None for each in chosen)
    changes = any(change.metric == metric for change in analysis.changes)
    return [
        build_summary_table(analysis, metric),
        *([build_worst_table(analysis, metric)] if several_runs else []),
        *([build_change_table(analysis, metric)] if changes else []),
    ]


def build_summary_table(analysis: SweepAnalysis, metric: str, *, with_worst: bool = False) -> ResultTable:
    """Build the summary of one metric: means with their intervals, best policies first, a column per user.

    With `with_worst`, the worst of several runs stands beside each mean.
    """
    chosen = _choose(analysis, metric)
    digits = _count_decimals(chosen)

    def fill(each: PolicySummary) -> TableCell:
        half = "" if each.half_width is None else f" ± {each.half_width:,.{digits}f}"
        has_worst = with_worst and each.worst is not None and each.runs > 1
        return TableCell(
            text=f"{each.mean:,.{digits}f}{half}",
            mark=each.mark,
            best=each.best,
            note=f"({each.worst:,.{digits}f})" if has_worst else "",
            values=each.values if each.runs > 1 else (),
        )

    entries = [_place(each, fill(each)) for each in chosen]
    has_worst = any(entry.cell.note for entry in entries)
    caption = _describe_summary(analysis, chosen, has_worst=has_worst)
    return _arrange(entries, analysis, title=metric, caption=caption)


def build_worst_table(analysis: SweepAnalysis, metric: str) -> ResultTable:
    """Build the table of the worst run of every policy, and of how many are low."""
    chosen = _choose(analysis, metric)
    digits = _count_decimals(chosen)

    def fill(each: PolicySummary) -> TableCell:
        low = "" if each.low_runs is None else f", {each.low_runs} of {each.runs} low"
        return TableCell() if each.worst is None else TableCell(text=f"{each.worst:,.{digits}f}{low}")

    entries = [_place(each, fill(each)) for each in chosen]
    return _arrange(entries, analysis, title=f"{metric}, worst run", caption=WORST_CAPTION)


def build_change_table(analysis: SweepAnalysis, metric: str) -> ResultTable:
    """Build the table of changes against the policies that others are compared with."""

    def fill(each: Change) -> TableCell:
        half = "" if each.half_width is None else f" ± {100 * each.half_width:.1f}"
        return TableCell(
            text="–" if each.mean is None else f"{100 * each.mean:+.1f}{half} %",
            mark=each.mark,
            note="" if each.spread is None else f"sd × {each.spread:.2f}",
        )

    entries = [
        _Entry(each.data, (each.policy, each.compared_with), each.user, fill(each))
        for each in analysis.changes
        if each.metric == metric
    ]
    return _arrange(entries, analysis, title=f"{metric}, change", caption=CHANGE_CAPTION)


class _Entry(NamedTuple):
    """A cell with its place in the table; rows of lower mean rank come first."""

    data: str
    names: tuple[str, ...]
    user: str
    cell: TableCell
    rank: float = 0.0


def _place(summary: PolicySummary, cell: TableCell) -> _Entry:
    rank = summary.mean if summary.direction == "lower" else -summary.mean
    return _Entry(summary.data, (summary.policy,), summary.user, cell, rank)


def _arrange(entries: Sequence[_Entry], analysis: SweepAnalysis, *, title: str, caption: str) -> ResultTable:
    """Arrange cells as rows of one dataset and policy, and columns of users; several datasets are named."""
    users = list(dict.fromkeys(entry.user for entry in entries))
    data = list(dict.fromkeys(entry.data for entry in entries))
    rows: dict[tuple[str, ...], dict[str, _Entry]] = {}
    for entry in entries:
        rows.setdefault((entry.data, *entry.names), {})[entry.user] = entry
    order = {names: mean(entry.rank for entry in row.values()) for names, row in rows.items()}
    start = 0 if len(data) > 1 else 1
    headings = ("data", "policy", "compared with")[start : 1 + len(entries[0].names)]
    return ResultTable(
        title=title,
        headings=(*headings, *users),
        rows=tuple(
            TableRow(
                names=names[start:],
                cells=tuple(rows[names][user].cell if user in rows[names] else TableCell() for user in users),
                is_reference=names[1] in analysis.reference_policies,
            )
            for names in sorted(rows, key=lambda names: (data.index(names[0]), order[names]))
        ),
        name_columns=len(headings),
        caption=caption,
    )


def _choose(analysis: SweepAnalysis, metric: str) -> list[PolicySummary]:
    chosen = [each for each in analysis.summaries if each.metric == metric]
    if not chosen:
        raise SettingError(f"the summary has no metric {metric!r}; it has: {', '.join(analysis.measures)}")
    return chosen


def _count_decimals(summaries: Sequence[PolicySummary]) -> int:
    """Count the decimals that show four digits that matter: 0.4649, 718.2, 12,345."""
    largest = max(abs(each.mean) for each in summaries)
    return min(max(3 - floor(log10(largest)), 0), 4) if largest > 0 else 4


def _describe_summary(analysis: SweepAnalysis, summaries: Sequence[PolicySummary], *, has_worst: bool) -> str:
    """Say what the numbers are, what they rest on, and how they are compared."""
    direction, metric = summaries[0].direction, summaries[0].metric
    single = max(each.runs for each in summaries) < 2
    data = list(dict.fromkeys(each.data for each in summaries))
    over = f"Mean ± half of the 95 % Student-t interval over {describe_runs(summaries)}"
    sentences = [
        f"{'One run' if single else over} after {format_range(each.round for each in summaries)} rounds"
        f"{f' on {data[0]}' if len(data) == 1 else ''};",
        f"{direction} is better. Bold: the best."
        if direction
        else "a description, neither better nor worse.",
        "A single run has no interval and no test." if single else "",
        "Worse than the best with ▽ p < .05, ▼ p < .01 (paired t-test over runs, Holm-corrected)."
        if direction and not single
        else "",
        "In parentheses: the worst run." if has_worst else "",
        "In italics: for reference only."
        if any(each.policy in analysis.reference_policies for each in summaries)
        else "",
        describe_offline(analysis, metric),
    ]
    return " ".join(filter(None, sentences))


def describe_offline(analysis: SweepAnalysis, metric: str) -> str:
    """Say how many test queries an offline metric rests on; nothing of other metrics."""
    if analysis.measures[metric].kind != "offline" or analysis.query_counts is None:
        return ""
    return describe_counts(analysis.query_counts)


def describe_runs(summaries: Sequence[PolicySummary]) -> str:
    """Say how many runs there are, and how many seeds if each was run on several folds."""
    runs, seeds = ({getattr(each, name) for each in summaries} for name in ("runs", "seeds"))
    folds = f" ({format_range(seeds)} seed{'s' * (max(seeds) > 1)} on each fold)" if runs != seeds else ""
    return f"{format_range(runs)} runs{folds}"


def format_range(numbers: Iterable[int]) -> str:
    """Format a number, or the least and the greatest of several.

    >>> format_range([2000, 2000]), format_range([1000, 2000])
    ('2,000', '1,000 to 2,000')
    """
    found = set(numbers)
    low, high = min(found), max(found)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
