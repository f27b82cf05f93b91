"""What long streams and large notifications cost in memory: the peak of the whole process.

    python -m benchmarks.streams [--mib 256] [--frame-kib 1024] [--pushes 55]

An agent streams artifact chunks until so much has come; a receiver gets notifications of 7.5 MB.
Sessions go to a folder of their own. Nothing is asserted: tests count what objects hold.
"""

import argparse
import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import urlsplit

MODES = (("--stream",), ("--stream", "--json"), ("--stream", "--json", "--no-save"))
PUSH_BYTES = 7_500_000
LINE = "lorem ipsum dolor sit amet "


def agent(stream_bytes: int, frame_bytes: int) -> ThreadingHTTPServer:
    """An A2A agent that answers every message with the stream; its port is free."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            url = f"http://{self.headers['Host']}/"
            self._answer("application/json", [json.dumps(card(url)).encode()])

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self._answer("text/event-stream", events(asked["id"], stream_bytes, frame_bytes))

        def _answer(self, media_type: str, pieces: "Iterator[bytes] | list[bytes]") -> None:
            self.send_response(200)
            self.send_header("Content-Type", media_type)
            self.end_headers()
            for piece in pieces:
                self.wfile.write(piece)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return ThreadingHTTPServer(("127.0.0.1", 0), Handler)


def card(url: str) -> dict[str, object]:
    return {
        "protocolVersion": "0.3.0",
        "name": "stream",
        "description": "streams",
        "version": "1",
        "url": url,
        "preferredTransport": "JSONRPC",
        "capabilities": {"streaming": True},
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "s", "name": "s", "description": "s", "tags": ["s"]}],
    }


def events(request_id: str, stream_bytes: int, frame_bytes: int) -> Iterator[bytes]:
    """A task, one artifact in chunks of about `frame_bytes`, and the task's end."""
    ids = {"taskId": "t", "contextId": "c"}

    def event(**result: object) -> bytes:
        reply = {"jsonrpc": "2.0", "id": request_id, "result": result}
        return b"data: " + json.dumps(reply).encode() + b"\n\n"

    def chunk(text: str, number: int) -> bytes:
        artifact = {"artifactId": "a", "parts": [{"kind": "text", "text": text}]}
        more = {"append": number > 0, "lastChunk": False}
        return event(kind="artifact-update", artifact=artifact, **ids, **more)

    yield event(kind="task", id="t", contextId="c", status={"state": "working"})
    room = max(1, frame_bytes - len(chunk("", 1)))
    text = (LINE * (room // len(LINE) + 1))[:room]
    for number in range(stream_bytes // frame_bytes):
        yield chunk(text, number)
    yield event(kind="status-update", status={"state": "completed"}, final=True, **ids)


def start(folder: str, *words: str) -> "subprocess.Popen[bytes]":
    home = {"XDG_STATE_HOME": folder, "XDG_CONFIG_HOME": folder}
    return subprocess.Popen(
        [sys.executable, "-m", "inspector", *words],
        env={**os.environ, **home},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def peak_mb(process: "subprocess.Popen[bytes]") -> float:
    """Read what is left of its output, and return the peak of its resident memory."""
    assert process.stdout is not None
    while process.stdout.read(1 << 20):
        pass
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6


def post(url: str, token: str) -> None:
    """Post one notification that fills its 7.5 MB with the text of an artifact."""
    parts = [{"kind": "text", "text": "x" * PUSH_BYTES}]
    task = {
        "kind": "task",
        "id": "t",
        "contextId": "c",
        "status": {"state": "working"},
        "artifacts": [{"artifactId": "a", "parts": parts}],
    }
    place = urlsplit(url)
    assert place.hostname is not None
    connection = http.client.HTTPConnection(place.hostname, place.port)
    connection.request("POST", place.path, json.dumps(task), {"X-A2A-Notification-Token": token})
    assert connection.getresponse().status == 200
    connection.close()


def receiver_peak_mb(folder: str, pushes: int) -> float:
    process = start(folder, "listen", "--json")
    assert process.stdout is not None
    output = process.stdout
    ready = json.loads(output.readline())
    reader = Thread(target=lambda: all(output.readline() for _ in range(pushes)))
    reader.start()
    for _ in range(pushes):
        post(ready["ready"], ready["token"])
    reader.join()
    process.send_signal(signal.SIGINT)
    return peak_mb(process)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the memory of long streams.")
    parser.add_argument("--mib", type=int, default=256)
    parser.add_argument("--frame-kib", type=int, default=1024)
    parser.add_argument("--pushes", type=int, default=55)
    options = parser.parse_args()
    # the stream is broken off beyond its bound, so it stays a little below
    server = agent(options.mib * 1024 * 1020, options.frame_kib * 1024)
    Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    with tempfile.TemporaryDirectory() as folder:
        for mode in MODES:
            words = ("send", url, "hello", *mode, "--timeout", "900")
            print(f"send {' '.join(mode)}: {peak_mb(start(folder, *words)):.0f} MB", flush=True)
        print(f"listen: {receiver_peak_mb(folder, options.pushes):.0f} MB")


if __name__ == "__main__":
    main()
