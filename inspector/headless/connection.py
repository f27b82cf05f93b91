"""From the connection options to a Connection; every secret comes from the environment."""

import os
import time
from collections.abc import Mapping

from inspector.core.credentials import (
    api_key_scheme,
    header_of,
    parse_headers,
    read_variable,
    variable_values,
    with_header,
)
from inspector.errors import UsageError
from inspector.headless.options import ConnectionOptions
from inspector.headless.terminal import print_notice
from inspector.settings import DEFAULT_TIMEOUT_SECONDS, DEFAULT_TTL_SECONDS, Connection, Mint
from inspector.wire.card import BEARER
from inspector.wire.urls import origin, root


def connection_of(options: ConnectionOptions) -> Connection:
    """The connection that `options` describe.

    Raises:
        UsageError: a secret or file is missing, or cannot be used as it is.
    """
    from inspector.net.http import tls_context

    if options.insecure:
        print_notice("--insecure: certificates are NOT checked")
    if options.jwks is not None and not options.jwks.is_file():
        raise UsageError(f"--jwks {options.jwks}: no such file")
    mint = read_mint_flags(options, os.environ)
    headers = parse_headers(options.header, os.environ)
    secrets = variable_values(options.header, os.environ)
    own = credential_headers(options, mint, os.environ)
    for header in own:
        headers = with_header(headers, header)
        secrets += (header[1],)
    for variable in (options.token_env, options.api_key_env):
        secrets += (os.environ[variable].strip(),) if variable is not None else ()
    connection = Connection(
        headers=headers,
        timeout_seconds=options.timeout or DEFAULT_TIMEOUT_SECONDS,
        is_insecure=options.insecure,
        ca_file=options.cacert,
        client_cert=options.client_cert,
        client_key=options.client_key,
        mint=mint,
        secrets=(*secrets, mint.key) if mint else secrets,
        allowed_origins=tuple(_origin(url) for url in options.allow_origin),
        jwks_file=options.jwks,
        protocol=options.protocol,
        is_saved=not options.no_save,
        is_authenticated=bool(own),
    )
    # a certificate that cannot be used is reported before anything is sent or drawn
    tls_context(connection)
    return connection


def credential_headers(
    options: ConnectionOptions, mint: Mint | None, environment: Mapping[str, str]
) -> list[tuple[str, str]]:
    """The header of --token-env, --api-key-env or --jwt-alg; at most one of them is given."""
    _refuse_orphans(options)
    if options.token_env is not None:
        where = f"--token-env {options.token_env}"
        secret = read_variable("--token-env", options.token_env, environment)
        return [header_of(BEARER, secret, where)]
    if options.api_key_env is not None:
        where = f"--api-key-env {options.api_key_env}"
        secret = read_variable("--api-key-env", options.api_key_env, environment)
        return [
            header_of(api_key_scheme(options.header_name, options.header_format), secret, where)
        ]
    if mint is not None:
        from inspector.core.minting import mint_token

        return [header_of(BEARER, mint_token(mint, time.time()), "--jwt-alg")]
    return []


def read_mint_flags(options: ConnectionOptions, environment: Mapping[str, str]) -> Mint | None:
    if options.jwt_alg is None:
        return None
    from inspector.core.minting import read_mint

    return read_mint(
        options.jwt_alg,
        key_file=options.jwt_key,
        secret_variable=options.jwt_secret_env,
        claims=options.jwt_claim,
        ttl_seconds=DEFAULT_TTL_SECONDS if options.jwt_ttl is None else options.jwt_ttl,
        environment=environment,
        flags="--jwt-",
    )


def _refuse_orphans(options: ConnectionOptions) -> None:
    """Refuse flags that shape a credential which is not given: they would be ignored."""
    shaping = {
        "--header-name": (options.header_name, "--api-key-env", options.api_key_env),
        "--header-format": (options.header_format, "--api-key-env", options.api_key_env),
        "--jwt-key": (options.jwt_key, "--jwt-alg", options.jwt_alg),
        "--jwt-secret-env": (options.jwt_secret_env, "--jwt-alg", options.jwt_alg),
        "--jwt-claim": (options.jwt_claim or None, "--jwt-alg", options.jwt_alg),
        "--jwt-ttl": (options.jwt_ttl, "--jwt-alg", options.jwt_alg),
        "--client-key": (options.client_key, "--client-cert", options.client_cert),
    }
    for flag, (value, needed, given) in shaping.items():
        if value is not None and given is None:
            raise UsageError(f"{flag} has no effect without {needed}", f"add {needed}")


def _origin(url: str) -> str:
    if origin(url) is None:
        raise UsageError(
            f"--allow-origin {url!r} is not an origin", "write it as https://HOST:PORT"
        )
    return root(url)
