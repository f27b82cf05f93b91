"""The flags of `a2a-mock serve`."""

import argparse
from pathlib import Path

from mock_server import argument_types
from mock_server.command_parser import Commands, add_command
from mock_server.profiles import PROFILES, RASA

DEFAULT_PORT = 5005
DEFAULT_MAX_BODY = 10 * 1024 * 1024


def add_serve(commands: Commands) -> None:
    serve = add_command(
        commands,
        "serve",
        "serve a project as an A2A sub agent",
        "a2a-mock serve",
        "a2a-mock serve my-assistant --port 0 --watch",
    )
    add = serve.add_argument
    add("project", nargs="?", type=Path, help="default: the bundled bank")
    add("--interface", default="127.0.0.1", metavar="HOST", help="address to listen on")
    add("--port", type=argument_types.port, default=DEFAULT_PORT, help="0 picks a free one")
    add("--profile", choices=[*PROFILES], default=RASA.name, help="dialect to speak")
    add("--endpoints", type=Path, metavar="FILE", help="instead of endpoints.yml")
    add("--mock", type=Path, metavar="FILE", help="instead of mock.yml")
    add("--relax", action="store_true", help="supply the session_config and description it lacks")
    add("--description", metavar="TEXT", help="what the card says of the agent")
    add("--url", type=argument_types.url, help="address that the card gives to clients")
    _add_secrets(serve)
    _add_limits(serve)
    _add_pushes(serve)
    _add_reloading(serve)


def _add_secrets(serve: argparse.ArgumentParser) -> None:
    add = serve.add_argument_group("certificate and tokens").add_argument
    add("--ssl-certificate", type=Path, metavar="FILE", help="serve HTTPS with it")
    add("--ssl-keyfile", type=Path, metavar="FILE", help="its private key")
    add("--ssl-password", metavar="VAR", help="the variable that holds the key's password")
    add(
        "--auth-token-env",
        metavar="VAR",
        help="the variable that holds Rasa's token for /status and /model",
    )
    add(
        "--admin-token-env",
        metavar="VAR",
        help="the variable that holds the token for /__admin, which it needs off loopback",
    )


def _add_limits(serve: argparse.ArgumentParser) -> None:
    add = serve.add_argument_group("run").add_argument
    add(
        "--load-delay",
        type=argument_types.seconds,
        default=0.0,
        metavar="SECONDS",
        help="how long no model is loaded: placeholder card, failing turns",
    )
    add(
        "--max-body",
        type=argument_types.byte_count,
        default=DEFAULT_MAX_BODY,
        metavar="BYTES",
        help="longest request that is read (default 10 MiB)",
    )
    add("--log-format", choices=["text", "json"], default="text", help="how stderr is written")
    add("--seed", type=int, metavar="N", help="the same ids and the same chance in every run")


def _add_pushes(serve: argparse.ArgumentParser) -> None:
    add = serve.add_argument_group("push notifications").add_argument
    add(
        "--allow-local-push",
        action="store_true",
        help="let push notifications go to this machine, where a real server sends none",
    )
    add(
        "--push-authorization",
        choices=["on", "off"],
        default="on",
        help="off: no Authorization header on push notifications, as a2a-sdk 0.3.26",
    )


def _add_reloading(serve: argparse.ArgumentParser) -> None:
    add = serve.add_argument_group("reloading").add_argument
    add("--watch", action="store_true", help="serve each version of the project that is saved")
    add("--watch-card", action="store_true", help="the card follows, too (implies --watch)")
    add(
        "--on-reload",
        choices=["preserve", "clean"],
        default="preserve",
        help="whether a conversation in a changed flow goes on or begins anew",
    )
