"""Certificates that are read or refused, and bodies that are read to their end or given up."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from mock_server.errors import StartError
from mock_server.web.http_server import (
    DRAINED_BYTES,
    BodyTooLarge,
    ClientGone,
    ConnectionLimits,
    Server,
    bind,
    port_of,
    read_body,
    tls_context,
)


@pytest.fixture(scope="module")
def password(secret: Callable[[str], str]) -> str:
    return secret("open, certificate!")


@pytest.fixture
def files(tmp_path: Path, password: str) -> Path:
    """A folder with a certificate, its key in clear, encrypted and beside it, and another's key."""
    key, other = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now)
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), True)
        .sign(key, SHA256())
        .public_bytes(Encoding.PEM)
    )
    pem, form = Encoding.PEM, PrivateFormat.PKCS8
    clear = key.private_bytes(pem, form, NoEncryption())
    encryption = BestAvailableEncryption(password.encode())
    (tmp_path / "cert.pem").write_bytes(certificate)
    (tmp_path / "key.pem").write_bytes(clear)
    (tmp_path / "encrypted.pem").write_bytes(key.private_bytes(pem, form, encryption))
    (tmp_path / "both.pem").write_bytes(certificate + clear)
    (tmp_path / "other.pem").write_bytes(other.private_bytes(pem, form, NoEncryption()))
    return tmp_path


def problems_of(certificate: Path, keyfile: Path | None, password: str | None) -> str:
    with pytest.raises(StartError) as caught:
        tls_context(certificate, keyfile, password)
    return "\n".join(caught.value.problems)


@pytest.mark.req("HTTP-4")
def test_certificate_is_read_with_its_key(files: Path, password: str) -> None:
    certificate = files / "cert.pem"
    for context in (
        tls_context(certificate, files / "key.pem", None),
        tls_context(certificate, files / "key.pem", password),
        tls_context(certificate, files / "encrypted.pem", password),
        tls_context(files / "both.pem", None, None),
    ):
        assert context.cert_store_stats()["x509"] == 0


@pytest.mark.req("HTTP-4")
@pytest.mark.req("CFG-7")
def test_missing_files_are_reported_together(files: Path) -> None:
    reported = problems_of(files / "a.pem", files / "b.pem", None)
    assert reported == (
        f"--ssl-certificate: found no file {str(files / 'a.pem')!r}\n"
        f"--ssl-keyfile: found no file {str(files / 'b.pem')!r}"
    )


@pytest.mark.req("HTTP-4")
@pytest.mark.parametrize("given", [None, "wrong"])
def test_wrong_password_is_reported_and_not_asked_for(files: Path, given: str | None) -> None:
    reported = problems_of(files / "cert.pem", files / "encrypted.pem", given)
    assert "see --ssl-keyfile and --ssl-password" in reported
    assert "wrong " not in reported.replace("wrong password", "")


@pytest.mark.req("HTTP-4")
def test_file_that_is_not_a_certificate_is_named_as_such(files: Path) -> None:
    (files / "card.json").write_text("{}")
    assert "it holds no certificate in PEM" in problems_of(files / "card.json", None, None)


@pytest.mark.req("HTTP-4")
@pytest.mark.parametrize("keyfile", ["other.pem", "cert.pem", None])
def test_key_of_another_certificate_is_reported(files: Path, keyfile: str | None) -> None:
    named = None if keyfile is None else files / keyfile
    reported = problems_of(files / "cert.pem", named, None)
    assert "no certificate with its key can be read" in reported


def client(*chunks: bytes, then: Message | None = None) -> tuple[Receive, Iterator[Message]]:
    """A client that sends `chunks`, and what it has not sent yet."""
    end = then or {"type": "http.request", "body": b"", "more_body": False}
    left = iter(
        [*({"type": "http.request", "body": chunk, "more_body": True} for chunk in chunks), end]
    )

    async def receive() -> Message:
        return next(left)

    return receive, left


@pytest.mark.anyio
async def test_chunks_are_joined() -> None:
    receive, _ = client(b"ab", b"c")
    assert await read_body(receive, 3) == b"abc"


@pytest.mark.req("HTTP-5")
@pytest.mark.anyio
async def test_oversized_body_is_read_to_its_end() -> None:
    receive, left = client(b"ab", b"cd", b"ef")
    with pytest.raises(BodyTooLarge):
        await read_body(receive, 3)
    assert next(left, None) is None


@pytest.mark.req("HTTP-5")
@pytest.mark.anyio
async def test_endless_body_is_given_up() -> None:
    huge = b" " * (DRAINED_BYTES // 2)
    receive, left = client(huge, huge, huge, huge)
    with pytest.raises(BodyTooLarge):
        await read_body(receive, 3)
    assert next(left, None) is not None


@pytest.mark.anyio
async def test_client_that_hangs_up_has_no_body() -> None:
    receive, _ = client(b"ab", then={"type": "http.disconnect"})
    with pytest.raises(ClientGone):
        await read_body(receive, 3)


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    try:
        body = await read_body(receive, 100)
    except ClientGone:
        return
    await Response(body)(scope, receive, send)


@asynccontextmanager
async def listening(limits: ConnectionLimits) -> AsyncGenerator[int]:
    """The port of a server that echoes bodies."""
    with bind("127.0.0.1", 0) as listener:
        ready = asyncio.Event()
        server = Server(echo, ready.set, limits=limits)
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        await ready.wait()
        try:
            yield port_of(listener)
        finally:
            server.should_exit = True
            await serving


HEAD = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("sent", "part"), [(b"", "head"), (HEAD[:20], "head"), (HEAD, "body"), (HEAD + b"a", "body")]
)
async def test_request_that_does_not_arrive_is_given_up(
    sent: bytes, part: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with listening(ConnectionLimits(request_seconds=0.05)) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)
        assert await reader.read() == b""
        writer.close()
    assert "a2a_mock.connection.timeout" in caplog.text
    assert f"'part': '{part}'" in caplog.text


@pytest.mark.anyio
async def test_connection_past_the_cap_is_closed(caplog: pytest.LogCaptureFixture) -> None:
    async with listening(ConnectionLimits(max_connections=1)) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(HEAD + b"ab")
        assert await reader.readline() == b"HTTP/1.1 200 OK\r\n"
        late, second = await asyncio.open_connection("127.0.0.1", port)
        assert await late.read() == b""
        for opened in (writer, second):
            opened.close()
    assert "a2a_mock.connection.refused" in caplog.text
