"""Silhouettes of products: paths on a square of 100 units, in the order in which they are painted.

Each part is a paint and a path. `body` has the product's colour and pattern, `dark` and `light` its shades;
`line` and `thin` are strokes in the dark shade, `handle` is a broad stroke in the product's colour.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

Paint: TypeAlias = Literal["body", "dark", "light", "white", "line", "thin", "handle", "ink"]
Silhouette: TypeAlias = tuple[tuple[Paint, str], ...]


def disc(x: float, y: float, rx: float, ry: float | None = None) -> str:
    """An ellipse as a path.

    >>> disc(50, 50, 10)
    'M40 50a10 10 0 1 0 20 0a10 10 0 1 0 -20 0z'
    """
    ry = rx if ry is None else ry
    return f"M{x - rx:g} {y:g}a{rx:g} {ry:g} 0 1 0 {2 * rx:g} 0a{rx:g} {ry:g} 0 1 0 {-2 * rx:g} 0z"


def box(x: float, y: float, width: float, height: float, r: float = 0) -> str:
    """A rectangle with round corners as a path."""
    return (
        f"M{x + r:g} {y:g}h{width - 2 * r:g}a{r:g} {r:g} 0 0 1 {r:g} {r:g}v{height - 2 * r:g}"
        f"a{r:g} {r:g} 0 0 1 {-r:g} {r:g}h{2 * r - width:g}a{r:g} {r:g} 0 0 1 {-r:g} {-r:g}"
        f"v{2 * r - height:g}a{r:g} {r:g} 0 0 1 {r:g} {-r:g}z"
    )


SILHOUETTES: Mapping[str, Silhouette] = {
    "mug": (
        ("thin", "M38 25c-4-4 4-6 0-11M50 25c-4-4 4-6 0-11"),
        ("handle", "M68 46h5a10 10 0 0 1 0 23h-6"),
        ("body", "M22 34v40a14 14 0 0 0 14 14h20a14 14 0 0 0 14-14v-40z"),
        ("dark", disc(46, 34, 24, 6)),
        ("ink", disc(46, 35, 20, 4)),
    ),
    "teapot": (
        ("handle", "M70 50c20-6 20 26-2 26"),
        ("light", "M34 70L12 48l9-6L38 56z"),
        ("body", "M26 60c0-16 10-24 24-24s24 8 24 24s-8 28-24 28s-24-12-24-28z"),
        ("dark", "M36 39c1-9 27-9 28 0c-8 3-20 3-28 0z"),
        ("dark", disc(50, 27, 4.5)),
    ),
    "bottle": (
        ("dark", box(41, 8, 18, 13, 3)),
        ("light", box(43, 20, 14, 6)),
        ("body", "M42 25h16c0 7 7 9 7 18v37a8 8 0 0 1-8 8h-14a8 8 0 0 1-8-8v-37c0-9 7-11 7-18z"),
    ),
    "vase": (
        ("thin", "M50 32C50 20 49 16 44 12M51 32C52 22 57 20 62 16"),
        ("light", disc(43, 11, 6)),
        ("light", disc(63, 15, 5)),
        ("white", disc(43, 11, 2.2)),
        ("white", disc(63, 15, 1.9)),
        ("body", "M40 28h20c0 9-5 10 1 17c9 7 12 14 11 23c-1 11-6 20-11 20h-22c-5 0-10-9-11-20"
                 "c-1-9 2-16 11-23c6-7 1-8 1-17z"),
        ("dark", disc(50, 28, 10, 2.6)),
    ),
    "lamp": (
        ("dark", box(47.5, 46, 5, 40)),
        ("dark", disc(50, 85, 17, 4)),
        ("white", disc(50, 50, 27, 5)),
        ("body", "M36 14h28l14 36c-14 5-42 5-56 0z"),
    ),
    "clock": (
        ("line", "M32 80l-6 8M68 80l6 8M50 20v-6"),
        ("light", disc(31, 21, 8)),
        ("light", disc(69, 21, 8)),
        ("body", disc(50, 52, 34)),
        ("white", disc(50, 52, 23)),
        ("line", "M50 52v-15M50 52l11 6"),
        ("dark", disc(50, 52, 2.6)),
    ),
    "cushion": (
        ("body", "M18 22c12 6 52 6 64 0c6-2 8 2 6 8c-5 14-5 32 0 48c2 6 0 10-6 8c-12-6-52-6-64 0"
                 "c-6 2-8-2-6-8c5-16 5-34 0-48c-2-6 0-10 6-8z"),
        ("thin", "M50 54l-9-5M50 54l9-5M50 54l-8 7M50 54l8 7"),
        ("dark", disc(50, 54, 3.4)),
    ),
    "armchair": (
        ("line", "M26 80v8M74 80v8"),
        ("body", "M26 28a12 12 0 0 1 12-12h24a12 12 0 0 1 12 12v32h-48z"),
        ("light", box(25, 54, 50, 16, 6)),
        ("body", "M12 50a8 8 0 0 1 16 0v18h44v-18a8 8 0 0 1 16 0v26a6 6 0 0 1-6 6h-64a6 6 0 0 1-6-6z"),
    ),
    "poster": (
        ("ink", box(19, 10, 62, 78, 2)),
        ("body", box(24, 15, 52, 68)),
        ("white", disc(60, 34, 8)),
        ("dark", "M24 70l16-24l14 20l8-10l14 18v9h-52z"),
        ("light", "M24 76c14-8 36-8 52 0v7h-52z"),
    ),
    "notebook": (
        ("white", box(30, 16, 50, 72, 4)),
        ("body", box(24, 12, 52, 74, 5)),
        ("dark", "M29 12h6v74h-6a5 5 0 0 1-5-5v-64a5 5 0 0 1 5-5z"),
        ("white", box(43, 28, 24, 14, 2)),
        ("thin", "M47 33h16M47 37h10"),
    ),
    "backpack": (
        ("line", "M40 19c0-13 20-13 20 0"),
        ("light", box(17, 48, 12, 30, 5)),
        ("light", box(71, 48, 12, 30, 5)),
        ("body", "M25 42c0-18 10-27 25-27s25 9 25 27v36a10 10 0 0 1-10 10h-30a10 10 0 0 1-10-10z"),
        ("light", box(32, 54, 36, 26, 6)),
        ("line", "M32 63h36"),
        ("thin", "M34 36h32"),
    ),
    "umbrella": (
        ("line", "M50 14v-6M50 50v30a7 7 0 0 1-14 0v-2"),
        ("body", "M10 54c0-24 18-41 40-41s40 17 40 41c-5-6-11-6-14 0c-4-6-9-6-13 0c-4-6-9-6-13 0"
                 "c-4-6-9-6-13 0c-4-6-9-6-13 0c-3-6-9-6-14 0z"),
        ("thin", "M50 13C40 26 37 38 37 53M50 13C60 26 63 38 63 53"),
    ),
    "t-shirt": (
        ("body", "M36 16c5 9 23 9 28 0l22 11l-8 21l-10-4v42a2 2 0 0 1-2 2h-32"
                 "a2 2 0 0 1-2-2v-42l-10 4l-8-21z"),
        ("line", "M36 16c5 10 23 10 28 0"),
        ("thin", "M32 44v-6M68 44v-6"),
    ),
    "beanie": (
        ("light", disc(50, 20, 11)),
        ("body", "M20 68c0-28 12-44 30-44s30 16 30 44z"),
        ("dark", box(15, 65, 70, 19, 9)),
        ("thin", "M27 70v9M35 70v9M43 70v9M50 70v9M57 70v9M65 70v9M73 70v9"),
    ),
    "socks": (
        ("light", "M52 16h20v36c0 6 6 10 12 15c8 7 3 18-6 18c-12 0-26-8-26-26z"),
        ("body", "M30 18h22v36c0 7 7 11 14 16c8 6 3 18-7 18c-15 0-29-9-29-28z"),
        ("dark", box(28, 13, 26, 10, 3)),
        ("dark", "M60 66c2 2 4 3 6 4c8 6 3 18-7 18c-3 0-6-.4-9-1.2c6-6 10-12 10-20.8z"),
    ),
    "kite": (
        ("thin", "M46 74c-6 4 6 7 0 11c-4 3-12 1-16 5"),
        ("light", "M46 76l-9-3v7zM46 76l8-4v7z"),
        ("light", "M42 86l-8-3v7zM42 86l8-3v7z"),
        ("body", "M56 8L82 38L46 76L22 34z"),
        ("line", "M56 8L46 76M22 34L82 38"),
    ),
    # what the recommender sells
    "tent": (
        ("thin", "M50 22L14 90M50 22L88 90"),
        ("body", "M50 20L86 86h-72z"),
        ("light", "M50 20L62 86h-24z"),
        ("dark", "M50 42L58 86h-16z"),
        ("line", "M50 20v-7"),
    ),
    "sleeping bag": (
        ("body", "M34 28c0-12 8-18 16-18s16 6 16 18l6 20c2 16-4 40-10 40h-24c-6 0-12-24-10-40z"),
        ("white", disc(50, 28, 10, 11)),
        ("light", disc(50, 30, 7, 7)),
        ("thin", "M50 41v46M33 52c10 4 24 4 34 0M32 66c12 4 24 4 36 0"),
    ),
    "mat": (
        ("light", "M20 70l48-34h22l-46 34z"),
        ("body", "M44 70l46-34v10L46 86h-12a16 16 0 0 0 10-16z"),
        ("body", disc(30, 72, 16)),
        ("white", disc(30, 72, 10)),
        ("dark", disc(30, 72, 5)),
    ),
    "stove": (
        ("white", "M50 16c10 10 12 16 12 22a12 12 0 0 1-24 0c0-6 8-8 12-22z"),
        ("light", "M50 28c5 5 6 8 6 11a6 6 0 0 1-12 0c0-3 4-4 6-11z"),
        ("line", "M30 46h40M36 46v8M64 46v8"),
        ("body", "M34 54h32a8 8 0 0 1 8 8v18a8 8 0 0 1-8 8h-32a8 8 0 0 1-8-8v-18a8 8 0 0 1 8-8z"),
        ("dark", disc(50, 72, 6)),
    ),
    "pot": (
        ("line", "M32 40c0-30 36-30 36 0"),
        ("body", "M20 44h60v30a14 14 0 0 1-14 14h-32a14 14 0 0 1-14-14z"),
        ("dark", box(16, 38, 68, 8, 4)),
        ("dark", disc(50, 36, 4)),
    ),
    "lantern": (
        ("line", "M36 28c0-22 28-22 28 0"),
        ("dark", "M38 22h24l6 10h-36z"),
        ("white", box(34, 32, 32, 36, 4)),
        ("light", disc(50, 52, 9, 12)),
        ("thin", "M42 32v36M58 32v36"),
        ("body", "M32 68h36l4 20h-44z"),
    ),
    "camping chair": (
        ("line", "M24 88L70 56M76 88L30 56M26 16l6 42M74 16l-6 42"),
        ("body", "M25 16h50l-5 40h-40z"),
        ("light", "M28 54h44l6 10h-56z"),
    ),
}  # fmt: skip
