"""The connection flags: every command that has a TARGET takes them."""

import argparse
from pathlib import Path

from inspector.cli_numbers import duration, seconds


def add_connection(parser: argparse.ArgumentParser) -> None:
    connection = parser.add_argument_group("connection")
    add = connection.add_argument
    secret = connection.add_mutually_exclusive_group()
    secret.add_argument("--token-env", metavar="VAR", help="the variable with a bearer token")
    secret.add_argument("--api-key-env", metavar="VAR", help="the variable with an api key")
    secret.add_argument(
        "--jwt-alg", metavar="ALG", help="make a token as `a2a-inspect token` does, and send it"
    )
    add("--header-name", metavar="N", help="the api key's header (default: Authorization)")
    add("--header-format", metavar="F", help="how the api key stands in it, such as 'Key {key}'")
    add("--jwt-key", type=Path, metavar="FILE", help="a private key in PEM, for all but HS")
    add("--jwt-secret-env", metavar="VAR", help="the variable with the secret, for HS")
    add("--jwt-claim", action="append", default=[], metavar="K=V", help="JSON or text; repeats")
    add("--jwt-ttl", type=duration, metavar="SECONDS", help="until it expires (default: 600)")
    add(
        "--header",
        action="append",
        default=[],
        metavar="'K: V'",
        help="sent to the card's origin only and always masked; V may name ${VARIABLES}; repeats",
    )
    add(
        "--allow-origin",
        action="append",
        default=[],
        metavar="URL",
        help="credentials may go there too, where the card points to it; repeats",
    )
    add("--protocol", choices=("0.3",), default="0.3", help="the A2A version (default: 0.3)")
    add("--cacert", type=Path, metavar="FILE", help="trust the certificates in FILE")
    add("--client-cert", type=Path, metavar="FILE", help="a certificate to show, with its key")
    add("--client-key", type=Path, metavar="FILE", help="its private key, where FILE has none")
    add("--insecure", action="store_true", help="accept any certificate: for tests only")
    add("--jwks", type=Path, metavar="FILE", help="the keys that signed cards are verified with")
    add("--no-save", action="store_true", help="keep no file of this session")
    add(
        "--timeout",
        type=seconds,
        metavar="SECONDS",
        help="for one exchange, from first to last byte (default: 120)",
    )
