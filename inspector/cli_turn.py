"""The flags of a turn: everything that the composer of the terminal app can do."""

import argparse
from pathlib import Path

from inspector.cli_numbers import integer, port, seconds


def add_turn(parser: argparse.ArgumentParser) -> None:
    turn = parser.add_argument_group("turn")
    add = turn.add_argument
    add("--slot", action="append", default=[], metavar="NAME=VALUE", help="JSON or text; repeats")
    add("--slots", type=Path, metavar="FILE", help="a JSON object of slots")
    add("--slot-set", metavar="NAME", help="slots kept for this target under NAME")
    add(
        "--slots-as",
        action="append",
        choices=("metadata", "request", "data", "line", "fence"),
        metavar="SHAPE",
        help="metadata (default), request, data, line or fence; repeats",
    )
    add("--context", metavar="ID", help="go on with this conversation")
    add("--message-id", metavar="ID", help="default: a new one")
    add("--task", metavar="ID", help="the task that this message belongs to")
    add("--metadata", action="append", default=[], metavar="K=V", help="JSON or text; repeats")
    add("--part", action="append", default=[], metavar="FILE", help=_PART_HELP)
    add("--history-length", type=integer, metavar="N", help="messages of history to ask for")
    add("--accept", action="append", default=[], metavar="MODE", help="a media type; repeats")
    add("--snippet", metavar="NAME", help="a turn kept for this target; other flags add to it")
    add("--raw", metavar="FILE", help="a whole request body, sent byte for byte; - reads stdin")
    _add_ways(turn)
    add("--twice", action="store_true", help="twice at once with one id; exit 1 unless one is 409")
    add("--expect-state", metavar="STATE", help="exit 1 unless the task is in STATE at the end")


def _add_ways(turn: "argparse._ArgumentGroup") -> None:  # pyright: ignore[reportPrivateUsage] # argparse gives its groups no public name
    add = turn.add_argument
    follow = turn.add_mutually_exclusive_group()
    follow.add_argument("--stream", action="store_true", help="follow the task as it happens")
    follow.add_argument("--no-blocking", action="store_true", help="do not wait for the task's end")
    add("--poll", action="store_true", help="ask for the task until it rests, as Rasa does")
    add("--push", action="store_true", help="receive push notifications of the task")
    add("--resubscribe", action="store_true", help="follow its stream, again where one drops")
    add(
        "--push-port",
        type=port,
        default=0,
        metavar="N",
        help="where --push listens (default: free)",
    )
    add("--public-url", metavar="URL", help="what --push registers: a tunnel to that port")
    add("--patience", type=seconds, metavar="SECONDS", help=_PATIENCE_HELP)


_PATIENCE_HELP = "how long --push waits for a notification that is due (default: 5)"
_PART_HELP = """\
a file, sent as a file part; a JSON file that is a part with its `kind`, or such JSON itself,
is sent as it is; repeats"""
