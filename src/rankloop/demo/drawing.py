"""Drawings: a picture of a product as SVG, from its kind, colour, pattern and size alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from rankloop.demo.silhouettes import SILHOUETTES, Paint


@dataclass(frozen=True, slots=True)
class Shades:
    """A colour in the shades of a picture; the wash is what stands behind it."""

    main: str
    dark: str
    light: str
    wash: str


SHADES: Mapping[str, Shades] = {
    "red": Shades("#d8504a", "#9c312d", "#ea827b", "#fbe6e3"),
    "orange": Shades("#ea8a35", "#ad5b14", "#f4b06f", "#fdeedd"),
    "yellow": Shades("#eec33b", "#a8821a", "#f6da7c", "#fdf5d8"),
    "green": Shades("#57a36f", "#34704a", "#8ac49c", "#e3f2e8"),
    "blue": Shades("#4181d6", "#27559a", "#7cabe8", "#e2edfb"),
    "purple": Shades("#8862c6", "#5c3d94", "#b094de", "#eee7fa"),
    "pink": Shades("#e681a8", "#ae4f77", "#f2adc7", "#fce8f0"),
    "grey": Shades("#878f9b", "#565e69", "#b1b8c1", "#eceef1"),
}
SCALES: Mapping[str, float] = {"small": 0.66, "medium": 0.8, "large": 0.96}
PATTERNS: Mapping[str, str] = {
    "striped": '<pattern id="p" width="12" height="12" patternUnits="userSpaceOnUse">'
    '<rect width="12" height="5" fill="#fff" opacity=".62"/></pattern>',
    "dotted": '<pattern id="p" width="14" height="14" patternUnits="userSpaceOnUse">'
    '<g fill="#fff" opacity=".75"><circle cx="3.500" cy="3.500" r="2.600"/>'
    '<circle cx="10.500" cy="10.500" r="2.600"/></g></pattern>',
    "checked": '<pattern id="p" width="16" height="16" patternUnits="userSpaceOnUse"><g fill="#fff" '
    'opacity=".4"><rect width="8" height="16"/><rect width="16" height="8"/></g></pattern>',
}
VOLUME = (
    '<linearGradient id="v"><stop offset="0" stop-color="#fff" stop-opacity=".2"/><stop offset=".45" '
    'stop-color="#fff" stop-opacity="0"/><stop offset="1" stop-color="#000" stop-opacity=".2"/>'
    "</linearGradient>"
)
INK = "#3c3431"


@cache
def picture(kind: str, colour: str, pattern: str = "solid", size: str = "large") -> str:
    """A picture of such a product; it needs no font and nothing from elsewhere.

    >>> picture("mug", "blue", "dotted").count("<path")
    7
    """
    shades, scale = SHADES[colour], SCALES[size]
    parts = "".join(_part(paint, path, shades, pattern) for paint, path in SILHOUETTES[kind])
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100">'
        f"<defs>{VOLUME}{PATTERNS.get(pattern, '')}</defs>"
        f'<rect width="100" height="100" fill="{shades.wash}"/>'
        f'<ellipse cx="50" cy="90" rx="{36 * scale:g}" ry="{4 * scale:g}" fill="{shades.dark}" '
        'opacity=".22"/>'
        f'<g transform="translate({50 - 50 * scale:g} {90 - 88 * scale:g}) scale({scale:g})" '
        f'stroke-linecap="round" stroke-linejoin="round">{parts}</g></svg>'
    )


def _part(paint: Paint, path: str, shades: Shades, pattern: str) -> str:
    if paint in ("line", "thin"):
        width = 3.4 if paint == "line" else 1.6
        return f'<path d="{path}" fill="none" stroke="{shades.dark}" stroke-width="{width}"/>'
    if paint == "handle":
        return f'<path d="{path}" fill="none" stroke="{shades.main}" stroke-width="7"/>'
    fills = {"body": shades.main, "dark": shades.dark, "light": shades.light, "white": "#fffdf8", "ink": INK}
    drawn = f'<path d="{path}" fill="{fills[paint]}"/>'
    if paint == "body":
        drawn += f'<path d="{path}" fill="url(#p)"/>' if pattern in PATTERNS else ""
        drawn += f'<path d="{path}" fill="url(#v)"/>'
    return drawn
