"""Static assets: style and scripts of the pages; nothing is fetched from elsewhere."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from functools import cache
from importlib.resources import files

from litestar import Response, get

from rankloop.charts import DRAW

STYLE = files("rankloop.dashboard").joinpath("style.css").read_bytes()
BUNDLE = "import sys; from rankloop.charts import library; sys.stdout.write(library())"
A_DAY = {"Cache-Control": "max-age=86400"}
A_MOMENT = {"Cache-Control": "max-age=60"}


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
    """The drawing library."""
    script = await asyncio.to_thread(bundle)
    return Response(script, media_type="text/javascript; charset=utf-8", headers=A_DAY)


@cache
def bundle() -> bytes:
    """Made by a process of its own: it takes seconds and 100 MB, which a service has better uses for."""
    return subprocess.run([sys.executable, "-c", BUNDLE], check=True, capture_output=True).stdout
