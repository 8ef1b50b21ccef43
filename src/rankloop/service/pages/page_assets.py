"""Static assets: style and scripts of the pages; nothing is fetched from elsewhere."""

from __future__ import annotations

from importlib.resources import files

from litestar import Response, get

from rankloop.charts import DRAW, read_vega

FIRST = ("tokens", "elements", "shell", "components", "tables", "charts")  # then those of single pages
A_DAY = {"Cache-Control": "max-age=86400"}
A_MOMENT = {"Cache-Control": "max-age=60"}


def stylesheet() -> bytes:
    """All of `styles/` in one file: tokens and components first, then the pages' own by name."""
    folder = files("rankloop.service.pages").joinpath("styles")
    names = {path.name.removesuffix(".css") for path in folder.iterdir() if path.name.endswith(".css")}
    ordered = (*FIRST, *sorted(names - set(FIRST)))
    return b"\n".join(folder.joinpath(f"{name}.css").read_bytes() for name in ordered)


STYLE = stylesheet()


@get("/assets/style.css")
async def style() -> Response[bytes]:
    """How it looks."""
    return Response(STYLE, media_type="text/css; charset=utf-8", headers=A_MOMENT)


@get("/assets/draw.js")
async def draw() -> Response[bytes]:
    """What draws the charts: the same script as in reports."""
    return Response(DRAW.encode(), media_type="text/javascript; charset=utf-8", headers=A_MOMENT)


@get("/assets/vega.js")
async def vega() -> Response[bytes]:
    """The drawing library: for those who may see the pages, because it is large."""
    return Response(read_vega().encode(), media_type="text/javascript; charset=utf-8", headers=A_DAY)
