"""The yardstick: the same framework reads the same body and gives the order back, and does nothing else."""

from __future__ import annotations

import socket
import sys
from typing import Any

import msgspec
import uvicorn
from litestar import Litestar, Request, post
from litestar.params import JSONBody

from rankloop.service.http.rank_body import RankBody
from rankloop.service.http.server import bind

DECODER = msgspec.json.Decoder(RankBody)


class OneStep(Request[Any, Any, Any]):
    """Reads JSON straight into what the handler takes: half of what Litestar's own way costs."""

    async def json(self) -> RankBody:
        """The body."""
        return DECODER.decode(await self.body())


@post("/v1/rank", status_code=200)
async def echo(data: JSONBody[RankBody]) -> list[str]:
    """The first k, as they came."""
    return [candidate.object_id for candidate in data.candidates[: data.k]]


def main() -> None:
    """Serve on a free port, and say which."""
    app = Litestar([echo], request_class=OneStep, openapi_config=None, logging_config=None)
    listening: socket.socket = bind("127.0.0.1", 0)
    listening.listen()
    sys.stdout.write(f"http://127.0.0.1:{listening.getsockname()[1]}\n")
    sys.stdout.flush()
    config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="off")
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main()
