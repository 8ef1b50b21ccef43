"""Analysis of a sweep: everything that its tables, charts and pages show, computed once."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import polars as pl

from rankloop.lab.analysis.changes import Change, find_changes
from rankloop.lab.analysis.policy_summaries import PolicySummary, average_curves, check_results, summarise
from rankloop.lab.analysis.sweep_notes import list_conventions
from rankloop.lab.simulation.known_measures import find_measure
from rankloop.lab.simulation.measures import Measures
from rankloop.lab.sweeps.sweep import Sweep


@dataclass(frozen=True, eq=False, kw_only=True)
class SweepAnalysis:
    """Results with all that is computed from them, each when it is first asked for.

    `measures` say what each number is; those that are not given are known by name. If the question is about
    some of them, these are the `main_metrics`. `compare_with` names, for a policy, the one that its changes
    are relative to. `reference_policies` are shown for reference only and do not compete. `query_counts` are
    the test queries of each dataset, a number per fold. `notes` are what a reader must know to compare
    numbers, and a `banner` warns against it. `asked_metrics` are tables that were asked for by name.

    >>> results = pl.DataFrame(
    ...     [("world", "1", "perfect", policy, seed, 100, "nDCG@10", value)
    ...      for policy, values in {"PDGD": [0.75, 0.5, 0.625], "random": [0.25, 0.125, 0.375]}.items()
    ...      for seed, value in enumerate(values)],
    ...     schema=["data", "fold", "user", "policy", "seed", "round", "metric", "value"], orient="row")
    >>> analysis = SweepAnalysis(results, compare_with={"PDGD": "random"})
    >>> [each.policy for each in analysis.summaries if each.best], analysis.changes[0].mean
    (['PDGD'], 1.5)
    """

    results: pl.DataFrame = field(kw_only=False)
    measures: Measures = field(default_factory=dict)
    main_metrics: Sequence[str] = ()
    asked_metrics: Sequence[str] = ()
    compare_with: Mapping[str, str] = field(default_factory=dict)
    reference_policies: Collection[str] = ()
    query_counts: Mapping[str, Sequence[int]] | None = None
    notes: Mapping[str, str] = field(default_factory=dict)
    banner: str = ""

    def __post_init__(self) -> None:
        """Find out what every metric of the results is."""
        check_results(self.results)
        names = self.results["metric"].unique(maintain_order=True)
        object.__setattr__(self, "measures", {name: find_measure(name, self.measures) for name in names})

    @cached_property
    def summaries(self) -> list[PolicySummary]:
        """Every policy at the last round, by data, user and metric, the best first."""
        return summarise(self.results, measures=self.measures, reference_policies=self.reference_policies)

    @cached_property
    def curves(self) -> pl.DataFrame:
        """Means over runs at every round, with their bands."""
        return average_curves(self.results)

    @cached_property
    def changes(self) -> list[Change]:
        """What became of the policies that are compared with others."""
        return find_changes(self.results, self.compare_with, measures=self.measures)

    @cached_property
    def policies(self) -> list[str]:
        """All policies, in the order of the results."""
        return self.results["policy"].unique(maintain_order=True).to_list()

    @cached_property
    def table_metrics(self) -> list[str]:
        """The metrics that answer the question, or were asked for, or the usual two: learned, and seen."""
        usual = [name for name, each in self.measures.items() if each.kind in ("offline", "cumulative")]
        wanted = self.main_metrics or self.asked_metrics or usual or self.measures
        return [metric for metric in wanted if metric in self.measures]


def analyse_sweep(
    results: pl.DataFrame,
    sweep: Sweep,
    *,
    query_counts: Mapping[str, Sequence[int]] | None = None,
    notes: Mapping[str, str] | None = None,
    banner: str = "",
) -> SweepAnalysis:
    """Analyse the results of a sweep, which says what its numbers are and which policies it compares.

    The conventions of the sweep follow the other `notes`.
    """
    return SweepAnalysis(
        results,
        measures=sweep.measures,
        main_metrics=sweep.main_metrics,
        asked_metrics=[measure.name for measure in sweep.protocol.measures],
        compare_with=sweep.compare_with,
        reference_policies=sweep.reference_policies,
        query_counts=query_counts,
        notes={**(notes or {}), **list_conventions(sweep)},
        banner=banner,
    )
