"""From the connection flags to a Connection; every secret comes from the environment."""

import argparse
import os
import time
from collections.abc import Mapping

from inspector.core.credentials import header_of, parse_headers, read_variable, with_header
from inspector.errors import UsageError
from inspector.headless.terminal import print_notice
from inspector.settings import DEFAULT_TIMEOUT_SECONDS, DEFAULT_TTL_SECONDS, Connection, Mint
from inspector.wire.card import BEARER, Scheme
from inspector.wire.urls import origin, root


def connection_of(arguments: argparse.Namespace) -> Connection:
    """What the connection flags say.

    Raises:
        UsageError: a secret or file that is not there, or that cannot be used as it is.
    """
    from inspector.net.http import tls_context

    if arguments.insecure:
        print_notice("--insecure: certificates are NOT checked")
    if arguments.jwks is not None and not arguments.jwks.is_file():
        raise UsageError(f"--jwks {arguments.jwks}: no such file")
    mint = read_mint_flags(arguments, os.environ)
    headers = parse_headers(arguments.header, os.environ)
    for header in credential_headers(arguments, mint, os.environ):
        headers = with_header(headers, header)
    connection = Connection(
        headers=headers,
        timeout_seconds=arguments.timeout or DEFAULT_TIMEOUT_SECONDS,
        is_insecure=arguments.insecure,
        ca_file=arguments.cacert,
        client_cert=arguments.client_cert,
        client_key=arguments.client_key,
        mint=mint,
        secrets=(mint.key,) if mint else (),
        allowed_origins=tuple(_origin(url) for url in arguments.allow_origin),
        jwks_file=arguments.jwks,
        is_saved=not arguments.no_save,
    )
    # a certificate that cannot be used is told before anything is sent or drawn
    tls_context(connection)
    return connection


def credential_headers(
    arguments: argparse.Namespace, mint: Mint | None, environment: Mapping[str, str]
) -> list[tuple[str, str]]:
    """The header of --token-env, --api-key-env or --jwt-alg; at most one of them is given."""
    _refuse_orphans(arguments)
    if arguments.token_env is not None:
        where = f"--token-env {arguments.token_env}"
        secret = read_variable("--token-env", arguments.token_env, environment)
        return [header_of(BEARER, secret, where)]
    if arguments.api_key_env is not None:
        where = f"--api-key-env {arguments.api_key_env}"
        secret = read_variable("--api-key-env", arguments.api_key_env, environment)
        return [header_of(_api_key_scheme(arguments), secret, where)]
    if mint is not None:
        from inspector.core.minting import mint_token

        return [header_of(BEARER, mint_token(mint, time.time()), "--jwt-alg")]
    return []


def read_mint_flags(arguments: argparse.Namespace, environment: Mapping[str, str]) -> Mint | None:
    if arguments.jwt_alg is None:
        return None
    from inspector.core.minting import read_mint

    return read_mint(
        arguments.jwt_alg,
        key_file=arguments.jwt_key,
        secret_variable=arguments.jwt_secret_env,
        claims=arguments.jwt_claim,
        ttl_seconds=DEFAULT_TTL_SECONDS if arguments.jwt_ttl is None else arguments.jwt_ttl,
        environment=environment,
        flags="--jwt-",
    )


def _api_key_scheme(arguments: argparse.Namespace) -> Scheme:
    """As Rasa sends it: a bearer token, unless a header is named, which has the bare key."""
    if arguments.header_name is None:
        return Scheme(template=arguments.header_format or BEARER.template)
    return Scheme(arguments.header_name, arguments.header_format or "{key}")


def _refuse_orphans(arguments: argparse.Namespace) -> None:
    """Flags that shape a credential which is not given would be ignored in silence."""
    shaping = {
        "--header-name": (arguments.header_name, "--api-key-env", arguments.api_key_env),
        "--header-format": (arguments.header_format, "--api-key-env", arguments.api_key_env),
        "--jwt-key": (arguments.jwt_key, "--jwt-alg", arguments.jwt_alg),
        "--jwt-secret-env": (arguments.jwt_secret_env, "--jwt-alg", arguments.jwt_alg),
        "--jwt-claim": (arguments.jwt_claim or None, "--jwt-alg", arguments.jwt_alg),
        "--jwt-ttl": (arguments.jwt_ttl, "--jwt-alg", arguments.jwt_alg),
        "--client-key": (arguments.client_key, "--client-cert", arguments.client_cert),
    }
    for flag, (value, needed, given) in shaping.items():
        if value is not None and given is None:
            raise UsageError(f"{flag} says nothing without {needed}", f"add {needed}")


def _origin(url: str) -> str:
    if origin(url) is None:
        raise UsageError(f"--allow-origin {url!r} is no origin", "write it as https://HOST:PORT")
    return root(url)
