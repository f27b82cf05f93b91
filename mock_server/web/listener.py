"""The socket that the server listens on, bound before anything else is set up."""

import socket

BACKLOG = 2048


def bind(interface: str, port: int) -> socket.socket:
    """Listen on `interface`; port 0 takes a free one.

    Raises:
        OSError: the address cannot be had.
    """
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
