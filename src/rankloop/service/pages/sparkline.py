"""Sparkline: a small chart for a row of a table, as SVG that the server draws."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markupsafe import Markup, escape

WIDTH, HEIGHT, ROOM = 96.0, 26.0, 3.0
FEWEST = 2  # numbers of which a line can be drawn
Point = tuple[float, float]


def sparkline(
    values: Sequence[float | None],
    *,
    label: str = "",
    low: float | None = None,
    high: float | None = None,
    look: str = "",
) -> Markup:
    """The numbers as a line, gaps where there is none; nothing, if there are fewer than two.

    `label` says in words what the line shows; without one it is hidden from those who cannot see it.
    `low` and `high` are the ends of the scale, by default those of the numbers; `look` is a class, such
    as `good`, `bad`, `soft` or `wide`.

    >>> print(sparkline([1, 2]))
    <svg class="spark" viewBox="0 0 96 26" preserveAspectRatio="none" aria-hidden="true">...
    """
    known = [value for value in values if value is not None]
    if len(known) < FEWEST:
        return Markup("")
    bottom, top = min(known) if low is None else low, max(known) if high is None else high
    runs = list(_runs(values, bottom, top if top > bottom else bottom + 1.0))
    lines = Markup("").join(_line(run) for run in runs)
    x, y = runs[-1][-1]
    last = Markup('<path class="last" d="M{} {}h0"/>').format(_short(x), _short(y))
    said = Markup('role="img" aria-label="{}"').format(label) if label else Markup('aria-hidden="true"')
    name = escape(f"spark {look}".strip())
    return Markup('<svg class="{}" viewBox="0 0 96 26" preserveAspectRatio="none" {}>{}{}</svg>').format(
        name, said, lines, last
    )


def _runs(values: Sequence[float | None], bottom: float, top: float) -> Iterator[list[Point]]:
    """Stretches without a gap, as points of the picture."""
    step = (WIDTH - 2 * ROOM) / (len(values) - 1)
    run: list[Point] = []
    for number, value in enumerate((*values, None)):
        if value is not None:
            share = min(max((value - bottom) / (top - bottom), 0.0), 1.0)
            run.append((ROOM + number * step, HEIGHT - ROOM - share * (HEIGHT - 2 * ROOM)))
        elif run:
            yield run
            run = []


def _line(run: Sequence[Point]) -> Markup:
    """A line, and the area below it."""
    path = "M" + "L".join(f"{_short(x)} {_short(y)}" for x, y in run)
    if len(run) < FEWEST:
        return Markup("")
    area = f"{path}V{_short(HEIGHT)}H{_short(run[0][0])}Z"
    return Markup('<path class="area" d="{}"/><path class="line" d="{}"/>').format(area, path)


def _short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
