"""HTTP by httpx: every byte as it came, redirects left to the caller."""

import os
import ssl
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from pathlib import Path

import httpx

from inspector.errors import UsageError
from inspector.net.events import (
    USER_AGENT,
    Broken,
    Chunk,
    Ended,
    FailureKind,
    Headers,
    NetEvent,
    Outgoing,
    Sending,
    Started,
)
from inspector.settings import Connection

CONNECT_TIMEOUT_SECONDS = 10.0


class HttpTransport:
    """One client with its connections and cookies; `aclose` it when the session ends."""

    def __init__(
        self, connection: Connection, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self._clock = clock
        self._client = httpx.AsyncClient(
            verify=tls_context(connection),
            timeout=httpx.Timeout(None, connect=CONNECT_TIMEOUT_SECONDS),
            follow_redirects=False,
            # the log has the bytes as sent, so nothing may come compressed
            headers={"Accept-Encoding": "identity", "User-Agent": USER_AGENT},
        )

    async def exchange(self, outgoing: Outgoing) -> AsyncGenerator[NetEvent, None]:
        watch = _ConnectWatch(self._clock)
        try:
            request = self._client.build_request(
                outgoing.method,
                outgoing.url,
                headers=_encode(outgoing.headers),
                content=outgoing.body or None,
                extensions={"trace": watch.trace},
            )
            yield Sending(_decode(request.headers.raw))
            response = await self._client.send(request, stream=True)
            try:
                yield Started(
                    response.status_code,
                    response.http_version,
                    _decode(response.headers.raw),
                    watch.connect_ms,
                )
                async for content in response.aiter_raw():
                    yield Chunk(content)
            finally:
                await response.aclose()
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            yield Broken(_kind(error), _describe(error))
        else:
            yield Ended()

    async def aclose(self) -> None:
        await self._client.aclose()


class _ConnectWatch:
    """Measures the time to connect, TLS included, from httpcore's trace events."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._started: float | None = None
        self.connect_ms: float | None = None

    async def trace(self, name: str, _info: object) -> None:
        if name == "connection.connect_tcp.started":
            self._started = self._clock()
        elif name in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            self.connect_ms = (self._clock() - (self._started or 0)) * 1000


def _kind(error: Exception) -> FailureKind:
    match error:
        case httpx.NetworkError() if any(isinstance(one, ssl.SSLError) for one in _chain(error)):
            return FailureKind.TLS
        case httpx.ConnectError() | httpx.ConnectTimeout() | httpx.ProxyError():
            return FailureKind.CONNECT
        case httpx.TimeoutException():
            return FailureKind.TIMEOUT
        case httpx.NetworkError():
            return FailureKind.DISCONNECTED
        case httpx.RemoteProtocolError() if "closed" in str(error) or "disconnected" in str(error):
            return FailureKind.DISCONNECTED
        case _:
            return FailureKind.PROTOCOL


def _describe(error: Exception) -> str:
    """What the system said where it said something, else what httpx makes of it."""
    if isinstance(error, httpx.ConnectTimeout):
        return f"no connection within {CONNECT_TIMEOUT_SECONDS:g} s"
    for cause in _chain(error):
        if isinstance(cause, ConnectionError) and cause.errno:
            return os.strerror(cause.errno)
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror
    return str(error) or type(error).__name__


def _chain(error: BaseException) -> Iterator[BaseException]:
    """`error` and what led to it."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def _encode(headers: Headers) -> list[tuple[bytes, bytes]]:
    """What came in headers goes out as the same bytes."""
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]


def _decode(raw: list[tuple[bytes, bytes]]) -> Headers:
    return tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in raw)


def tls_context(connection: Connection) -> ssl.SSLContext:
    """Return the context that `connection` asks for; without a file the system's own trust.

    Raises:
        UsageError: a file that is not there or holds no certificate.
    """
    context = _trusting(connection.ca_file)
    if connection.is_insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if connection.client_cert is not None:
        _show_certificate(context, connection.client_cert, connection.client_key)
    return context


def _trusting(ca_file: Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=str(ca_file) if ca_file else None)
    except FileNotFoundError as error:
        raise UsageError(f"--cacert {ca_file}: no such file") from error
    except OSError as error:
        raise UsageError(f"--cacert {ca_file}: {_tls_reason(error)}") from error


def _show_certificate(context: ssl.SSLContext, certificate: Path, key: Path | None) -> None:
    def refuse_password() -> str:
        # without this OpenSSL asks for it itself, in the middle of the screen
        raise UsageError(
            f"--client-cert: the private key in {key or certificate} is encrypted",
            f"openssl pkey -in {key or certificate} -out open.pem writes it without its password",
        )

    try:
        context.load_cert_chain(certificate, key, refuse_password)
    except OSError as error:
        missing = next((one for one in (certificate, key) if one and not one.is_file()), None)
        if missing is not None:
            raise UsageError(f"--client-cert {missing}: no such file") from error
        raise UsageError(
            f"--client-cert {certificate}: {_tls_reason(error)}",
            "one PEM file with the certificate and its private key, or --client-key FILE beside it",
        ) from error


def _tls_reason(error: OSError) -> str:
    if isinstance(error, ssl.SSLError):
        return "no certificate in PEM, or not the one that belongs to the key"
    return error.strerror or str(error)
