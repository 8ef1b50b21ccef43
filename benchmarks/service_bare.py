"""The yardstick: the same framework reads the same body and gives the order back, and does nothing else."""

from __future__ import annotations

import socket
import sys

import uvicorn
from litestar import Litestar, post
from litestar.params import JSONBody

from rankloop.service.http.bodies import RankBody
from rankloop.service.http.reading import StrictRequest
from rankloop.service.http.server import bind


@post("/v1/rank", status_code=200)
async def echo(data: JSONBody[RankBody]) -> list[str]:
    """The first k, as they came."""
    return [candidate.object_id for candidate in data.candidates[: data.k]]


def main() -> None:
    """Serve on a free port, and say which."""
    app = Litestar([echo], request_class=StrictRequest, openapi_config=None, logging_config=None)
    listening: socket.socket = bind("127.0.0.1", 0)
    listening.listen()
    sys.stdout.write(f"http://127.0.0.1:{listening.getsockname()[1]}\n")
    sys.stdout.flush()
    config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="off")
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main()
