"""`make bench`: prints the tables and writes them to `build/bench.jsonl`.

Give names to measure only those: `python -m benchmarks pdgd loading`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeAlias

from rich.console import Console
from rich.progress import track
from rich.table import Table
from threadpoolctl import threadpool_limits

from benchmarks import ads, fair, graded, items, loading, neural, recommend, reviews, rounds

OUT = Path("build") / "bench.jsonl"
CONSOLE = Console()
Row: TypeAlias = dict[str, object]


def main(chosen: list[str]) -> None:
    """Measure on one core and report."""
    measures: dict[str, Callable[[], Row | list[Row]]] = {
        name: partial(rounds.compare, name) for name in rounds.PAIRS
    }
    measures |= {f"projection, {name}": partial(rounds.projection, name) for name in rounds.DUELING}
    measures |= {f"neural, {size}": partial(neural.widths, size) for size in neural.WIDTHS}
    measures |= {f"items, {name}": partial(items.pace, name) for name in items.POLICIES}
    measures |= {f"graded, {name}": partial(graded.result, name) for name in graded.GRADED}
    measures |= {f"ads, {name}": partial(ads.trained, name) for name in ads.SETS}
    measures |= {"one ad": ads.one_ad}
    measures |= {f"fair, {name}": partial(fair.pace, name) for name in fair.CASES}
    measures |= {f"recommend, {name}": partial(recommend.result, name) for name in recommend.MODELS}
    measures |= {"agreement": neural.agreement, "training": neural.training}
    measures |= {
        "long": rounds.long_lists,
        "flat": rounds.flatness,
        "loading": loading.result,
        "reviews": reviews.result,
    }
    known = list(measures)
    if unknown := [name for name in chosen if name not in known]:
        sys.exit(f"no benchmark is called {unknown[0]!r}: choose from {', '.join(known)}")
    names = track(chosen or known, description="measuring", console=CONSOLE, transient=True)
    with threadpool_limits(limits=1):
        measured = [measures[name]() for name in names]
    rows = [row for found in measured for row in (found if isinstance(found, list) else [found])]
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text("".join(json.dumps(row) + "\n" for row in rows))
    show_rounds([row for row in rows if row["bench"] == "rounds"])
    show_projection([row for row in rows if row["bench"] == "projection"])
    show_neural([row for row in rows if row["bench"] == "neural"])
    show_items([row for row in rows if row["bench"] == "items"])
    show_graded([row for row in rows if row["bench"] == "graded"])
    show_ads([row for row in rows if row["bench"] in ("ads", "one ad")])
    show_fair([row for row in rows if row["bench"] == "fair"])
    show_recommend([row for row in rows if row["bench"] == "recommend"])
    show_agreement([row for row in rows if row["bench"] == "agreement"])
    show_training([row for row in rows if row["bench"] == "training"])
    show_long([row for row in rows if row["bench"] == "long"])
    show_flat([row for row in rows if row["bench"] == "flat"])
    show_loading([row for row in rows if row["bench"] == "loading"])
    show_reviews([row for row in rows if row["bench"] == "reviews"])
    CONSOLE.print(f"written to {OUT}")


def show_rounds(rows: list[Row]) -> None:
    """The table of policies."""
    title = (
        f"rounds: {rounds.DOCUMENTS} documents × {rounds.FEATURES} features, {rounds.SHOWN} shown, one core"
    )
    table = Table(
        title=title, caption="× plain: how many times as fast as the reference in benchmarks/reference.py"
    )
    for heading in (
        "policy",
        "rounds/s",
        "plain/s",
        "× plain",
        "serve µs",
        "click µs",
        "learn µs",
        "peak kB",
        "plain kB",
    ):
        table.add_column(heading, justify="left" if heading == "policy" else "right")
    for row in rows:
        keys = ("rounds_per_second", "reference_rounds_per_second")
        tail = ("serve_us", "click_us", "learn_us", "peak_kb", "reference_peak_kb")
        cells = (
            [f"{row[key]:,.0f}" for key in keys]
            + [f"{row['ratio']:.1f}"]
            + [f"{row[key]:,.0f}" for key in tail]
        )
        table.add_row(str(row["name"]), *cells)
    if rows:
        CONSOLE.print(table)


def show_projection(rows: list[Row]) -> None:
    """The lines about document-space projection."""
    for row in rows:
        CONSOLE.print(
            f"{row['name']}: {row['plain_us']:.0f} µs a round, {row['projected_us']:.0f} µs with "
            f"document-space projection: × {row['ratio']:.2f}"
        )


def show_neural(rows: list[Row]) -> None:
    """The table of networks."""
    title = f"networks: {rounds.DOCUMENTS} documents × {rounds.FEATURES} features, perfect users, one core"
    table = Table(title=title)
    for heading in ("units", "policy", "ms a round", "× diagonal", "peak kB", "state kB"):
        table.add_column(heading, justify="left" if heading in ("units", "policy") else "right")
    for row in rows:
        memory = f"{row['peak_kb']:,.0f}", f"{row['state_kb']:,.0f}"
        pace = f"{row['ms']:.1f}", f"{row['ratio']:.2f}"
        table.add_row(str(row["network"]), str(row["name"]), *pace, *memory)
    if rows:
        CONSOLE.print(table)


def show_items(rows: list[Row]) -> None:
    """The table of policies for fixed items."""
    table = Table(title=f"fixed items: {items.ITEMS} known by id, {items.SHOWN} shown, the first 5 graded")
    for heading in ("policy", "rank µs", "learn µs", "both µs"):
        table.add_column(heading, justify="left" if heading == "policy" else "right")
    for row in rows:
        cells = [f"{row[key]:.1f}" for key in ("rank_us", "learn_us", "both_us")]
        table.add_row(str(row["name"]), *cells)
    if rows:
        CONSOLE.print(table)


def show_graded(rows: list[Row]) -> None:
    """The table of policies taught by grades."""
    title = f"grades: {graded.DOCUMENTS} documents × {graded.FEATURES} features, all shown, one core"
    table = Table(title=title)
    for heading in ("policy", "rank µs", "learn µs", "together", "target"):
        table.add_column(heading, justify="left" if heading == "policy" else "right")
    for row in rows:
        keys = ("rank_us", "learn_us", "total_us", "target_us")
        table.add_row(str(row["name"]), *(f"{row[key]:.0f}" for key in keys))
    if rows:
        CONSOLE.print(table)


def show_ads(rows: list[Row]) -> None:
    """The lines about rankers of visitors."""
    for row in rows:
        if row["bench"] == "one ad":
            CONSOLE.print(f"one ad, {row['name']} rows: {row['seconds']:.3f} s")
        else:
            CONSOLE.print(
                f"{row['name']}, {row['ads']} ads: {row['seconds']:.2f} s over all pairs (CTR "
                f"{row['ctr']:.4f}), "
                f"{row['sgd_seconds']:.0f} s by {row['steps']:,} SGD steps for each ad (CTR "
                f"{row['sgd_ctr']:.4f}): × {row['ratio']:.0f}"
            )


def show_fair(rows: list[Row]) -> None:
    """The table of fair lists."""
    table = Table(title=f"fair lists: {fair.CANDIDATES} candidates, µs; a plain list is the plain draw alone")
    for heading in ("what", "groups", "shown", "plain draw", "deep draw", "due", "merge", "target"):
        table.add_column(heading, justify="left" if heading == "what" else "right")
    for row in rows:
        times = [f"{row[key]:.0f}" for key in ("plain_us", "deep_us", "due_us", "merge_us")]
        target = f"{row['target_us']:.0f}" if row["target_us"] else ""
        table.add_row(str(row["name"]), str(row["groups"]), str(row["shown"]), *times, target)
    if rows:
        CONSOLE.print(table)


def show_recommend(rows: list[Row]) -> None:
    """The table of recommenders."""
    table = Table(
        "recommender", "reviews", "ms", title="recommenders: a whole fit, or an iteration, one core"
    )
    for row in rows:
        table.add_row(str(row["name"]), f"{row['reviews']:,}", f"{row['ms']:.1f}")
    if rows:
        CONSOLE.print(table)


def show_agreement(rows: list[Row]) -> None:
    """The table of covariances."""
    table = Table(title="olRankNet, 16 x 16: pairs on which a covariance agrees with the full one")
    for heading in ("covariance", "rounds", *(f"α = {alpha}" for alpha in neural.ALPHAS)):
        table.add_column(heading, justify="left" if heading == "covariance" else "right")
    for row in rows:
        alike = row["alike"]
        assert isinstance(alike, list)
        table.add_row(str(row["name"]), f"{row['rounds']:,}", *(f"{share:.1%}" for share in alike))
    if rows:
        CONSOLE.print(table)


def show_training(rows: list[Row]) -> None:
    """The table of training schedules."""
    table = Table(title="P²NeurRank, 100 x 100: a round after so many lists")
    for heading in ("lists", "replay, ms", "much replay, ms", "exact, ms", "× replay", "× much replay"):
        table.add_column(heading, justify="right")
    for row in rows:
        replay = f"{row['replay_ms']:.2f}", f"{row['much_ms']:.1f}"
        exact = f"{row['exact_ms']:,.0f}", f"{row['ratio']:,.0f}", f"{row['much_ratio']:,.0f}"
        table.add_row(f"{row['lists']:,}", *replay, *exact)
    if rows:
        CONSOLE.print(table)


def show_long(rows: list[Row]) -> None:
    """The line about long lists."""
    for row in rows:
        CONSOLE.print(
            f"{row['name']}: {row['rank_ms']:.1f} ms a list, {row['all_pairs_ms']:.1f} ms if all pairs are "
            f"compared: × {row['ratio']:.1f}"
        )


def show_flat(rows: list[Row]) -> None:
    """The line about time."""
    for row in rows:
        CONSOLE.print(
            f"{row['name']}: {row['early_us']:.0f} µs a round after 100 rounds, "
            f"{row['late_us']:.0f} µs after 20,000: × {row['ratio']:.2f}"
        )


def show_loading(rows: list[Row]) -> None:
    """The lines about files."""
    for row in rows:
        CONSOLE.print(
            f"{row['name']}: {row['first_seconds']:.2f} s the first time "
            f"({row['ratio']:.1f} × as fast as line by line), {row['again_seconds']:.3f} s after that; "
            f"peak memory {row['peak_over_matrix']:.2f} × the matrix "
            f"({row['peak_with_interpreter_over_matrix']:.2f} × with the interpreter)"
        )


def show_reviews(rows: list[Row]) -> None:
    """The line about extraction."""
    for row in rows:
        CONSOLE.print(
            f"{row['name']} and {row['mentions_per_review']:.1f} mentions: {row['reviews_per_second']:,.0f} "
            f"reviews/s; textblob's tagger alone {row['tagger_reviews_per_second']:,.0f}/s: "
            f"× {row['ratio']:.2f}"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
