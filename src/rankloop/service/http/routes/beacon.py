"""Beacon script: what a web page loads to report clicks."""

from __future__ import annotations

from importlib.resources import files

from litestar import Response, get

SCRIPT = files("rankloop.service.http.routes").joinpath("page_script.js").read_bytes()


@get("/rankloop.js", media_type="text/javascript", include_in_schema=False)
async def script() -> Response[bytes]:
    """The script that reports clicks."""
    return Response(SCRIPT, media_type="text/javascript; charset=utf-8")
