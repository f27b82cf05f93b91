"""What the mock weighs: the growth of the process over many finished tasks, and its peak when
everything that comes is large.

    python -m benchmarks.memory [--turns 120] [--mb 8] [--only WORD]

Each case has a server of its own, the bank, and prints its resident memory at the end and at its
peak. Nothing is asserted: tests count what objects hold.
"""

import argparse
import http.client
import json
import socket
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.load import drive
from benchmarks.servers import ROOT, Candidate, Running, mock, run

CONNECTIONS = 32
# What grows once, whatever comes: free lists, buffers, the allocator's first arenas.
SETTLING_SHARE = 5
LIMIT_SECONDS = 30.0
MEGABYTE = 1_000_000
LONG_BODIES = 8
LONG_BODY_BYTES = 69 * MEGABYTE
BANK = ROOT / "examples" / "bank"
PUSHES = "a2a_server: {description: a bank, push_notifications_enabled: true}\n"


@dataclass(frozen=True, slots=True)
class Growth:
    """Each task was of a context of its own, so its conversation is counted with it."""

    tasks: int
    bytes_per_task: float


def growth(candidate: Candidate, tasks: int) -> Growth:
    """Let `candidate` finish `tasks` and look how much it has grown."""
    with run(candidate, core=None) as server:
        _finish(server.url, candidate.text, tasks // SETTLING_SHARE, "settle")
        before = server.resident_bytes
        finished = _finish(server.url, candidate.text, tasks, "measure")
        return Growth(finished, (server.resident_bytes - before) / finished)


def _finish(url: str, text: str, tasks: int, prefix: str) -> int:
    sample = drive(url, text, prefix, connections=CONNECTIONS, seconds=LIMIT_SECONDS, turns=tasks)
    return sample.turns


@dataclass(frozen=True, slots=True)
class Size:
    """Each of `turns` messages is in a context of its own and `message_bytes` long."""

    turns: int
    message_bytes: int


def contexts_at_rest(server: Running, size: Size) -> None:
    """Turns that are over, each of a context of its own."""
    for number in range(size.turns):
        _send(server, number, [{"kind": "text", "text": "x" * size.message_bytes}])


def open_questions(server: Running, size: Size) -> None:
    """Turns that end in a question, each of a context of its own."""
    for number in range(size.turns):
        long = {"kind": "data", "data": {"note": "x" * size.message_bytes}}
        _send(server, number, [{"kind": "text", "text": "I want to transfer money"}, long])


def long_bodies(server: Running, _: Size) -> None:
    """Bodies that come at once and are longer than the limit."""
    with ThreadPoolExecutor(LONG_BODIES) as senders:
        sent = [senders.submit(_post, server, b"x" * LONG_BODY_BYTES) for _ in range(LONG_BODIES)]
        assert {one.result() for one in sent} == {413}


def notifications(server: Running, size: Size) -> None:
    """Turns with a callback that takes what is posted and never answers."""
    with closing(socket.create_server(("127.0.0.1", 0), backlog=1000)) as callback:
        url = f"http://127.0.0.1:{callback.getsockname()[1]}/"
        configuration = {"blocking": True, "pushNotificationConfig": {"url": url}}
        for number in range(size.turns):
            part = {"kind": "text", "text": "x" * size.message_bytes}
            _send(server, number, [part], configuration=configuration)


def _send(
    server: Running, number: int, parts: Sequence[Mapping[str, object]], **params: object
) -> None:
    message = {"role": "user", "messageId": f"m{number}", "contextId": f"c{number}", "parts": parts}
    request = {
        "jsonrpc": "2.0",
        "id": number,
        "method": "message/send",
        "params": {"message": message, **params},
    }
    assert _post(server, json.dumps(request).encode()) == 200


def _post(server: Running, body: bytes) -> int:
    place = urlsplit(server.url)
    assert place.hostname is not None
    with closing(http.client.HTTPConnection(place.hostname, place.port)) as connection:
        connection.request("POST", "/", body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        answer.read()
        return answer.status


CASES: tuple[Callable[[Running, Size], None], ...] = (
    contexts_at_rest,
    open_questions,
    long_bodies,
    notifications,
)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the memory that large messages take.")
    parser.add_argument("--turns", type=int, default=120)
    parser.add_argument("--mb", type=float, default=8)
    parser.add_argument("--only", default="", metavar="WORD", help="cases with WORD in their name")
    options = parser.parse_args()
    size = Size(options.turns, int(options.mb * MEGABYTE))
    with tempfile.TemporaryDirectory() as folder:
        endpoints = Path(folder) / "endpoints.yml"
        endpoints.write_text(PUSHES)
        flags = ("--allow-local-push", "--endpoints", str(endpoints))
        candidate = mock("the bank", BANK, "", *flags)
        for case in CASES:
            if options.only in case.__name__:
                with run(candidate, core=None) as server:
                    case(server, size)
                    name = case.__name__.replace("_", " ")
                    now, peak = server.resident_bytes, server.peak_bytes
                    line = f"{name}: {now / MEGABYTE:.0f} MB, peak {peak / MEGABYTE:.0f} MB"
                    print(line, flush=True)


if __name__ == "__main__":
    main()
