"""Certificates over real sockets: who is trusted, and who shows what."""

import asyncio
import datetime
import ipaddress
import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

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
from inspector.net.events import Broken, FailureKind, NetEvent, Outgoing, Started
from inspector.net.http import HttpTransport
from inspector.net.tls import tls_context
from inspector.settings import Connection

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
