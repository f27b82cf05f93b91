"""The HTTP transport over real sockets: bytes as they came, failures by their kind."""

import asyncio
import datetime
import ipaddress
import ssl
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import NameOID

from inspector.errors import UsageError
from inspector.net.events import (
    Broken,
    Chunk,
    Ended,
    FailureKind,
    NetEvent,
    Outgoing,
    Sending,
    Started,
)
from inspector.net.http import HttpTransport, tls_context
from inspector.settings import Connection

if TYPE_CHECKING:
    from conftest import StartServer


@pytest.fixture
async def transport() -> AsyncIterator[HttpTransport]:
    made = HttpTransport(Connection())
    yield made
    await made.aclose()


async def events_of(transport: HttpTransport, outgoing: Outgoing) -> list[NetEvent]:
    return [event async for event in transport.exchange(outgoing)]


@pytest.mark.anyio
@pytest.mark.req("WIRE-1")
async def test_an_exchange_is_told_event_by_event(
    transport: HttpTransport, start_server: "StartServer"
) -> None:
    async def handle(_head: str, body: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 202 Accepted\r\nX-A: 1\r\nX-a: 2\r\nContent-Length: 4\r\n\r\n")
        writer.write(body[:4])

    server = start_server(handle)
    outgoing = Outgoing("POST", server.url, (("X-Mine", "yes"),), b"\x00\xff\r\n!")
    sending, started, chunk, ended = await events_of(transport, outgoing)
    assert isinstance(sending, Sending)
    sent = {name.lower(): value for name, value in sending.headers}
    assert sent["x-mine"] == "yes"
    assert sent["accept-encoding"] == "identity"
    assert isinstance(started, Started)
    assert (started.status, started.http_version) == (202, "HTTP/1.1")
    assert [value for name, value in started.headers if name.lower() == "x-a"] == ["1", "2"]
    assert started.connect_ms is not None
    assert chunk == Chunk(b"\x00\xff\r\n")
    assert ended == Ended()
    [(head, body)] = server.requests
    assert body == outgoing.body
    assert all(name.lower() in head.lower() for name in sent)


@pytest.mark.anyio
async def test_a_compressed_body_is_not_unpacked(
    transport: HttpTransport, start_server: "StartServer"
) -> None:
    async def handle(_head: str, _body: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc")

    events = await events_of(transport, Outgoing("GET", start_server(handle).url))
    assert Chunk(b"abc") in events


@pytest.mark.anyio
async def test_redirects_are_not_followed(
    transport: HttpTransport, start_server: "StartServer"
) -> None:
    async def handle(_head: str, _body: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n")

    server = start_server(handle)
    await events_of(transport, Outgoing("GET", server.url))
    assert len(server.requests) == 1


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (b"", FailureKind.DISCONNECTED),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", FailureKind.DISCONNECTED),
        (b"garbage\r\n\r\n", FailureKind.PROTOCOL),
        (b"HTTP/1.1 200 OK\r\nX: " + b"y" * 200_000 + b"\r\n\r\n", FailureKind.PROTOCOL),
    ],
)
async def test_a_broken_reply_has_its_kind(
    reply: bytes, kind: FailureKind, transport: HttpTransport, start_server: "StartServer"
) -> None:
    async def handle(_head: str, _body: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(reply)

    events = await events_of(transport, Outgoing("GET", start_server(handle).url))
    assert isinstance(events[-1], Broken)
    assert events[-1].kind is kind


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("url", "kind", "message"),
    [
        ("http://127.0.0.1:1/", FailureKind.CONNECT, "Connection refused"),
        ("ftp://x/", FailureKind.PROTOCOL, "unsupported protocol"),
        ("http://[::1", FailureKind.PROTOCOL, "Invalid"),
        ("http://xn--/", FailureKind.PROTOCOL, "Malformed"),
    ],
)
async def test_a_request_that_cannot_be_made_is_broken(
    url: str, kind: FailureKind, message: str, transport: HttpTransport
) -> None:
    events = await events_of(transport, Outgoing("GET", url))
    assert isinstance(events[-1], Broken)
    assert events[-1].kind is kind
    assert message in events[-1].message


@pytest.mark.anyio
async def test_a_port_without_tls_is_a_tls_failure(transport: HttpTransport) -> None:
    async def refuse(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        events = await events_of(transport, Outgoing("GET", f"https://127.0.0.1:{port}/"))
    assert isinstance(events[-1], Broken)
    assert events[-1].kind is FailureKind.TLS


@pytest.mark.anyio
async def test_headers_go_out_as_the_bytes_that_came(
    transport: HttpTransport, start_server: "StartServer"
) -> None:
    async def handle(_head: str, _body: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    server = start_server(handle)
    await events_of(transport, Outgoing("GET", server.url, (("X-A", "f\xfcr"),)))
    [(head, _)] = server.requests
    assert "x-a: f\xfcr" in head.lower()
    for header in (("X-A", "\u20ac"), ("X-A", "\udc80"), ("X-\u20ac", "1"), ("X-A", "a\r\nb")):
        events = await events_of(transport, Outgoing("GET", server.url, (header,)))
        assert isinstance(events[-1], Broken)
        assert events[-1].kind is FailureKind.PROTOCOL
    assert len(server.requests) == 1


@pytest.mark.anyio
@pytest.mark.req("COMP-2")
async def test_cookies_come_back_to_their_host_alone(
    transport: HttpTransport, start_server: "StartServer"
) -> None:
    """The sticky cookie of a load balancer leads the next request to the same replica."""

    async def handle(_head: str, _body: bytes, writer: asyncio.StreamWriter) -> None:
        cookie = "a2a-context-id=c1; Path=/; Max-Age=3600; HttpOnly; SameSite=Lax"
        writer.write(f"HTTP/1.1 200 OK\r\nSet-Cookie: {cookie}\r\n".encode())
        writer.write(b"Content-Length: 0\r\nConnection: close\r\n\r\n")

    server = start_server(handle)
    for url in (server.url, server.url, server.url.replace("127.0.0.1", "localhost")):
        await events_of(transport, Outgoing("POST", url, body=b"{}"))
    cookies = ["cookie: a2a-context-id=c1" in head.lower() for head, _ in server.requests]
    assert cookies == [False, True, False]


pytestmark = pytest.mark.anyio
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"


class Pair:
    """A self-signed certificate for 127.0.0.1 and its key, each in a file and both in one."""

    def __init__(self, folder: Path, name: str) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        now = datetime.datetime.now(datetime.UTC)
        address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
        certificate = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.SubjectAlternativeName([address]), critical=False)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(key, hashes.SHA256())
        )
        pem = certificate.public_bytes(Encoding.PEM)
        self.certificate = folder / f"{name}.crt"
        self.key, self.locked = folder / f"{name}.key", folder / f"{name}.locked"
        self.both = folder / f"{name}.pem"
        bare = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        lock = BestAvailableEncryption(b"password")
        self.certificate.write_bytes(pem)
        self.key.write_bytes(bare)
        self.locked.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, lock))
        self.both.write_bytes(pem + bare)


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return Pair(tmp_path_factory.mktemp("agent"), "agent")


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return Pair(tmp_path_factory.mktemp("client"), "client")


@asynccontextmanager
async def serving(agent: Pair, client: Pair | None = None) -> AsyncGenerator[str]:
    """Answer every request; with `client`, only whoever shows its certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(agent.both)
    if client is not None:
        context.verify_mode = ssl.CERT_REQUIRED
        # TLS 1.3 tells the missing certificate after the handshake, where a reset may come first
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        context.load_verify_locations(client.certificate)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(OK)
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context)
    async with server:
        yield f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/"


async def ask(url: str, connection: Connection) -> NetEvent:
    """What came of a request: its status, or how it broke off."""
    transport = HttpTransport(connection)
    events = [event async for event in transport.exchange(Outgoing("GET", url))]
    await transport.aclose()
    return next(event for event in events if isinstance(event, Started | Broken))


@pytest.mark.req("CONN-4")
async def test_a_certificate_of_ones_own_is_trusted(agent: Pair) -> None:
    async with serving(agent) as url:
        event = await ask(url, Connection(ca_file=agent.certificate))
        assert isinstance(event, Started)


@pytest.mark.req("CONN-4")
async def test_an_unknown_certificate_is_refused(agent: Pair) -> None:
    async with serving(agent) as url:
        event = await ask(url, Connection())
        assert isinstance(event, Broken)
        assert event.kind is FailureKind.TLS


@pytest.mark.req("CONN-4")
async def test_insecure_trusts_everybody(agent: Pair) -> None:
    async with serving(agent) as url:
        assert isinstance(await ask(url, Connection(is_insecure=True)), Started)


@pytest.mark.req("CONN-4")
@pytest.mark.parametrize("is_insecure", [False, True])
async def test_a_client_certificate_is_shown(agent: Pair, client: Pair, is_insecure: bool) -> None:
    trust = None if is_insecure else agent.certificate
    async with serving(agent, client) as url:
        for certificate, key in ((client.both, None), (client.certificate, client.key)):
            connection = Connection(
                ca_file=trust, is_insecure=is_insecure, client_cert=certificate, client_key=key
            )
            assert isinstance(await ask(url, connection), Started)


@pytest.mark.req("CONN-4")
async def test_a_missing_client_certificate_is_a_tls_failure(agent: Pair, client: Pair) -> None:
    async with serving(agent, client) as url:
        event = await ask(url, Connection(ca_file=agent.certificate))
        assert isinstance(event, Broken)
        assert event.kind is FailureKind.TLS


@pytest.mark.parametrize(
    ("certificate", "key", "complaint"),
    [
        ("certificate", None, "no certificate in PEM, or not the one that belongs to the key"),
        ("certificate", "locked", "is encrypted"),
        ("key", "key", "no certificate in PEM"),
    ],
)
@pytest.mark.req("CONN-4")
async def test_a_certificate_that_cannot_be_shown_is_told(
    client: Pair, certificate: str, key: str | None, complaint: str
) -> None:
    connection = Connection(
        client_cert=getattr(client, certificate), client_key=getattr(client, key) if key else None
    )
    with pytest.raises(UsageError, match=complaint):
        tls_context(connection)


async def test_files_that_are_not_there_are_named(client: Pair, tmp_path: Path) -> None:
    gone = tmp_path / "gone.pem"
    for connection in (
        Connection(ca_file=gone),
        Connection(client_cert=gone),
        Connection(client_cert=client.certificate, client_key=gone),
    ):
        with pytest.raises(UsageError, match=r"gone\.pem: no such file"):
            tls_context(connection)


@pytest.mark.req("CONN-4")
async def test_a_proxy_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(OK)
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        for name in ("no_proxy", "NO_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{port}")
        assert isinstance(await ask("http://bank.test/card", Connection()), Started)
    assert asked[0].startswith(b"GET http://bank.test/card HTTP/1.1\r\n")
