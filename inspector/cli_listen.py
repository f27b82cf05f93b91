"""The flags of `a2a-inspect listen`."""

from pathlib import Path

from inspector.cli_numbers import delay, port, status
from inspector.cli_parser import Commands, add_command


def add_listen(commands: Commands) -> None:
    summary = "receive push notifications and show what comes"
    listen = add_command(
        commands,
        "listen",
        summary,
        "a2a-inspect listen --port 8765 --forward http://localhost:9000/callback",
        "a2a-inspect listen --port 8765 --fail 500 --delay 2",
    )
    add = listen.add_argument
    add("--port", type=port, default=0, metavar="N", help="default: a free one")
    add("--interface", default="127.0.0.1", metavar="HOST", help="default: 127.0.0.1")
    add("--public-url", metavar="URL", help="what agents are given: a tunnel to this port")
    add("--token-env", metavar="VAR", help="the variable with the token (default: a new one)")
    add("--jwks", metavar="URL", help="the agent's keys; its notifications must be signed JWTs")
    add("--forward", metavar="URL", help="hand verified notifications on to URL")
    add("--ssl-certificate", type=Path, metavar="FILE", help="listen on HTTPS with it")
    add("--ssl-keyfile", type=Path, metavar="FILE", help="its private key, where FILE has none")
    add("--json", action="store_true", help="print JSON Lines")
    fail = listen.add_argument_group("what verified notifications are answered, instead of 200")
    how = fail.add_mutually_exclusive_group()
    how.add_argument(
        "--fail", type=status, metavar="STATUS", help="this status, such as 500 or 302"
    )
    how.add_argument("--hang", action="store_true", help="nothing, for ever")
    how.add_argument("--drop", action="store_true", help="nothing: the connection is cut")
    fail.add_argument("--delay", type=delay, default=0.0, metavar="SECONDS", help="so much later")
