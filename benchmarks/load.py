"""A load generator that costs little: sockets without blocking, prepared bytes, one thread.

Each connection sends its next turn when the answer to the last one is complete. What is read of an
answer is its length, its state and the id of its task.
"""

import gc
import selectors
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

END_OF_HEAD = b"\r\n\r\n"
LENGTH = b"content-length:"
COMPLETED = b'"state":"completed"'
TASK_ID = b'"taskId":"'
ID_SIZE = 36
CHUNK = 65536
SILENCE_SECONDS = 10.0

BODY = (
    '{"jsonrpc":"2.0","id":"%s","method":"message/send","params":{"message":{"kind":"message",'
    '"messageId":"%s","role":"user","parts":[{"kind":"text","text":"%s"}]}}}'
)
HEAD = (
    "POST / HTTP/1.1\r\nHost: %s\r\nAccept: application/json\r\n"
    "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n"
)


class LoadFailed(Exception):
    """The server answered with something else than a completed task."""


@dataclass(frozen=True, slots=True)
class Sample:
    """What one server did in one round."""

    turns: int
    seconds: float
    latencies: tuple[float, ...]
    task_ids: frozenset[bytes]

    @property
    def rate(self) -> float:
        """Turns a second."""
        return self.turns / self.seconds

    def percentile(self, share: float) -> float:
        """Seconds that `share` of the turns took at most."""
        ordered = sorted(self.latencies)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


@dataclass(slots=True)
class _Connection:
    channel: socket.socket
    received: bytearray = field(default_factory=bytearray)
    sent_at: float = 0.0


def requests(host: str, text: str, prefix: str) -> Iterator[bytes]:
    """Blocking sends of `text`, each with a message id of its own."""
    number = 0
    while True:
        message_id = f"{prefix}-{number:09d}"
        body = BODY % (message_id, message_id, text)
        yield (HEAD % (host, len(body)) + body).encode()
        number += 1


def drive(
    url: str, text: str, prefix: str, *, connections: int, seconds: float, turns: int | None = None
) -> Sample:
    """Send `text` over and over for `seconds`, or until `turns` are answered.

    Raises:
        LoadFailed: an answer is no completed task, or none comes.
    """
    address = urlsplit(url)
    prepared = requests(address.netloc, text, prefix)
    opened = [
        _Connection(socket.create_connection((address.hostname, address.port), timeout=5))
        for _ in range(connections)
    ]
    was_collecting = gc.isenabled()
    gc.disable()
    try:
        return _exchange(opened, prepared, seconds, turns)
    finally:
        if was_collecting:
            gc.enable()
        for connection in opened:
            connection.channel.close()


def _exchange(
    opened: list[_Connection], prepared: Iterator[bytes], seconds: float, turns: int | None
) -> Sample:
    selector = selectors.DefaultSelector()
    latencies: list[float] = []
    task_ids: set[bytes] = set()
    clock = time.perf_counter
    began = clock()
    for connection in opened:
        connection.channel.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.channel.setblocking(False)
        selector.register(connection.channel, selectors.EVENT_READ, connection)
        _send(connection, next(prepared), clock())
    waiting = len(opened)
    while waiting:
        ready = selector.select(SILENCE_SECONDS)
        if not ready:
            raise LoadFailed(f"no answer in {SILENCE_SECONDS} seconds")
        for key, _ in ready:
            connection: _Connection = key.data
            connection.received += connection.channel.recv(CHUNK)
            answer = _complete(connection.received)
            if answer is None:
                continue
            now = clock()
            latencies.append(now - connection.sent_at)
            task_ids.add(_finished_task(answer))
            connection.received = bytearray()
            is_over = now - began >= seconds or (turns and len(latencies) + waiting > turns)
            if is_over:
                waiting -= 1
            else:
                _send(connection, next(prepared), now)
    ended = clock()
    selector.close()
    return Sample(len(latencies), ended - began, tuple(latencies), frozenset(task_ids))


def _send(connection: _Connection, request: bytes, now: float) -> None:
    connection.sent_at = now
    # A request is far shorter than a socket's buffer, which is empty whenever one is sent.
    connection.channel.send(request)


def _complete(received: bytearray) -> bytes | None:
    """The answer, once all of it is there."""
    end = received.find(END_OF_HEAD)
    if end < 0:
        return None
    head = bytes(received[:end]).lower()
    at = head.find(LENGTH) + len(LENGTH)
    length = int(head[at:].partition(b"\r")[0])
    if len(received) < end + len(END_OF_HEAD) + length:
        return None
    return bytes(received)


def _finished_task(answer: bytes) -> bytes:
    """The id of the task that `answer` reports as completed."""
    if COMPLETED not in answer or not answer.startswith(b"HTTP/1.1 200"):
        raise LoadFailed(f"not a completed task: {answer[:2000]!r}")
    at = answer.index(TASK_ID) + len(TASK_ID)
    return answer[at : at + ID_SIZE]
