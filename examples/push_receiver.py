"""A callback host to try push notifications with: `push_receiver.py FILE`.

It listens on a free port of this machine, writes its URL into FILE, and below it a line for each
task that is posted to it.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import TextIO


class Receiver(BaseHTTPRequestHandler):
    notes: TextIO

    def do_POST(self) -> None:
        task = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        token = self.headers.get("X-A2A-Notification-Token")
        self.notes.write(f"{task['status']['state']} token={token}\n")
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the line in the file tells enough."""


if __name__ == "__main__":
    with (
        Path(sys.argv[1]).open("w", buffering=1) as Receiver.notes,
        HTTPServer(("127.0.0.1", 0), Receiver) as server,
    ):
        url = f"http://127.0.0.1:{server.server_port}/"
        Receiver.notes.write(f"{url}\n")
        sys.stdout.write(f"listening on {url}\n")
        sys.stdout.flush()
        server.serve_forever()
