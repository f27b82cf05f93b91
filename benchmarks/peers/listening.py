"""How every peer is served: the socket given, uvicorn with httptools and uvloop as in the mock."""

import socket
import sys
from collections.abc import Callable

import uvicorn
from starlette.types import ASGIApp

KEEP_ALIVE_SECONDS = 65


def serve(make_app: Callable[[str], ASGIApp]) -> None:
    """Serve what `make_app` makes for its URL, on a free port that is printed."""
    # asyncio turns Nagle's algorithm off only where the socket names its protocol.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
    config = uvicorn.Config(
        make_app(url),
        http="httptools",
        loop="uvloop",
        log_config=None,
        access_log=False,
        lifespan="off",
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
    )
    sys.stdout.write(f"ready: {url}\n")
    sys.stdout.flush()
    uvicorn.Server(config).run(sockets=[listener])
