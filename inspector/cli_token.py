"""The flags of `a2a-inspect token`."""

from pathlib import Path

from inspector.cli_numbers import duration
from inspector.cli_parser import Commands, add_command


def add_token(commands: Commands) -> None:
    summary = "make a signed token for development"
    token = add_command(
        commands,
        "token",
        summary,
        "a2a-inspect token --alg HS256 --secret-env SECRET --claim aud=bank --ttl 3600",
    )
    add = token.add_argument
    algorithms = ("HS256", "HS512", "RS256", "RS512", "ES256", "ES512", "PS256")
    add("--alg", required=True, choices=algorithms, metavar="ALG", help=", ".join(algorithms))
    key = token.add_mutually_exclusive_group(required=True)
    key.add_argument(
        "--key", type=Path, metavar="FILE", help="a private key in PEM, for all but HS"
    )
    key.add_argument("--secret-env", metavar="VAR", help="the variable with the secret, for HS")
    add("--claim", action="append", default=[], metavar="K=V", help="JSON or text; repeats")
    add(
        "--ttl",
        type=duration,
        default=600.0,
        metavar="SECONDS",
        help="until it expires; below 0 it has expired (default: 600)",
    )
