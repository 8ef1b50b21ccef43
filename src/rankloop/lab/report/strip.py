"""Strip of single runs: a dot for each beside the mean, because means hide runs that got stuck."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

WIDTH, HEIGHT, RADIUS = 64, 11, 2.6  # pixels


def strip(values: Sequence[float], ends: tuple[float, float]) -> str:
    """The runs as dots from the least to the greatest value of the table, the mean as a line; plain SVG.

    >>> strip([0.5, 1.0], (0.0, 1.0)).count("<circle")
    2
    """
    middle = HEIGHT / 2
    dots = "".join(f'<circle cx="{_x(value, ends):.1f}" cy="{middle}" r="{RADIUS}"/>' for value in values)
    mean = _x(sum(values) / len(values), ends)
    told = f"{len(values)} runs from {min(values):.4g} to {max(values):.4g}"
    return (
        f'<svg class="strip" role="img" aria-label="{told}" width="{WIDTH}" height="{HEIGHT}">'
        f"<title>{told}</title>"
        f'<line x1="{RADIUS}" x2="{WIDTH - RADIUS}" y1="{middle}" y2="{middle}"/>{dots}'
        f'<line class="mean" x1="{mean:.1f}" x2="{mean:.1f}" y1="0" y2="{HEIGHT}"/></svg>'
    )


def ends_of(runs: Iterable[Sequence[float]]) -> tuple[float, float]:
    """The least and the greatest value of all runs.

    >>> ends_of([[0.5, 0.7], [0.2]])
    (0.2, 0.7)
    """
    values = [value for run in runs for value in run]
    return min(values), max(values)


def _x(value: float, ends: tuple[float, float]) -> float:
    low, high = ends
    share = (value - low) / (high - low) if high > low else 0.5
    return RADIUS + share * (WIDTH - 2 * RADIUS)
