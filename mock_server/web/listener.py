"""The socket that the server listens on, bound before anything else is set up."""

import errno
import socket

from mock_server.errors import StartError

BACKLOG = 2048


def bind(interface: str, port: int) -> socket.socket:
    """Listen on `interface`; port 0 takes a free one.

    Raises:
        StartError: the address cannot be had; with what to do.
    """
    try:
        return _bind(interface, port)
    except OSError as error:
        text = f"port {port} on {interface!r} cannot be had: {error.strerror}"
        raise StartError([f"{text}; {_way_out(error)}"]) from error


def _way_out(error: OSError) -> str:
    match error.errno:
        case errno.EADDRINUSE:
            return "end what listens there, or choose another with --port (0 picks a free one)"
        case errno.EACCES:
            return "this user may not take it; choose one above 1023 with --port"
        case _:
            return "name an address of this machine with --interface, such as 127.0.0.1"


def _bind(interface: str, port: int) -> socket.socket:
    found = socket.getaddrinfo(interface, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    family, kind, protocol, _, address = found[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        # Two sockets may be bound to a port that nobody listens on.
        listener.listen(BACKLOG)
    except OSError:
        listener.close()
        raise
    listener.set_inheritable(True)
    return listener


def port_of(listener: socket.socket) -> int:
    return int(listener.getsockname()[1])
