"""Pictures by address: drawn on demand, of anything that can be drawn, and of nothing else."""

from __future__ import annotations

from litestar import Response, get
from litestar.exceptions import NotFoundException
from litestar.params import FromPath

from rankloop.demo.drawing import SCALES, SHADES, picture
from rankloop.demo.products import PATTERNS, Product
from rankloop.demo.silhouettes import SILHOUETTES

A_DAY = {"Cache-Control": "max-age=86400"}


def picture_path(kind: str, colour: str, pattern: str = "solid", size: str = "large") -> str:
    """Where a picture is.

    >>> picture_path("mug", "blue", "striped", "small")
    '/pictures/mug_blue_striped_small.svg'
    """
    return f"/pictures/{kind.replace(' ', '+')}_{colour}_{pattern}_{size}.svg"


def picture_of(product: Product) -> str:
    """Where the picture of a product is."""
    return picture_path(product.kind, product.colour, product.pattern, product.size)


@get("/pictures/{name:str}")
async def draw(name: FromPath[str]) -> Response[str]:
    """A picture; it is the same for everyone, always."""
    parts = name.removesuffix(".svg").replace("+", " ").split("_")
    known = (SILHOUETTES, SHADES, PATTERNS, SCALES)
    if len(parts) != len(known) or not all(part in some for part, some in zip(parts, known, strict=True)):
        raise NotFoundException(
            f"no picture is called {name[:50]!r}: expected one like mug_blue_striped_small.svg"
        )
    return Response(picture(*parts), media_type="image/svg+xml", headers=A_DAY)
