"""One POST over real sockets: pinned to its address, proving its name, followed nowhere."""

import asyncio
import ssl
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from mock_server.errors import PostFailed
from mock_server.push.delivery import Delivery, Times
from mock_server.push.policy import Destination, Target, parse_host

if TYPE_CHECKING:
    from tests.conftest import Hosting


pytestmark = pytest.mark.anyio

JSON = {"Content-Type": "application/json"}
REDIRECT = "HTTP/1.1 302 Found\r\nlocation: {}\r\ncontent-length: 0\r\n\r\n"


def at(
    port: int,
    name: str = "callback.example",
    *,
    scheme: str = "http",
    path: str = "/hook",
    addresses: str = "127.0.0.1",
) -> Destination:
    """`name`, which no resolver knows, at `addresses`."""
    target = Target(scheme, parse_host(name), port, path)
    return Destination(target, tuple(ip_address(address) for address in addresses.split()))


async def failure(delivery: Delivery, destination: Destination) -> str:
    with pytest.raises(PostFailed) as caught:
        await delivery(destination, JSON, b"{}")
    return caught.value.reason


@pytest.mark.req("PUSH-2", "PUSH-5")
async def test_post_goes_to_the_address_in_the_hosts_name(callback_host: "Hosting") -> None:
    async with callback_host() as host:
        headers = {**JSON, "X-A2A-Notification-Token": "tok"}
        await Delivery()(at(host.port, path="/hook?a=%20b"), headers, b'{"id":"t"}')
        (posted,) = host.posted
        assert posted.line == "POST /hook?a=%20b HTTP/1.1"
        assert posted.headers == {
            "host": f"callback.example:{host.port}",
            "content-type": "application/json",
            "x-a2a-notification-token": "tok",
            "content-length": "10",
            "user-agent": "a2a-mock",
        }
        assert posted.body == b'{"id":"t"}'


@pytest.mark.req("PUSH-4")
async def test_redirect_is_a_failure_and_not_followed(callback_host: "Hosting") -> None:
    async with callback_host() as host, callback_host() as elsewhere:
        host.replies["/hook"] = REDIRECT.format(f"{elsewhere.url}/").encode()
        assert await failure(Delivery(), at(host.port)) == "status 302"
        assert len(host.posted) == 1
        assert elsewhere.posted == []


@pytest.mark.req("PUSH-4")
@pytest.mark.parametrize("status", [300, 304, 404, 500])
async def test_only_2xx_is_success(callback_host: "Hosting", status: int) -> None:
    async with callback_host() as host:
        reply = f"HTTP/1.1 {status} Word\r\ncontent-length: 0\r\n\r\n"
        host.replies["/hook"] = reply.encode()
        assert await failure(Delivery(), at(host.port)) == f"status {status}"
        assert len(host.posted) == 1


@pytest.mark.req("PUSH-4")
async def test_hanging_callback_is_left_in_time(callback_host: "Hosting") -> None:
    async with callback_host() as host:
        host.replies["/hook"] = None
        delivery = Delivery(Times(overall_seconds=0.1))
        assert await failure(delivery, at(host.port)) == "no answer in time"


@pytest.mark.req("PUSH-4")
async def test_endless_answer_is_not_read(callback_host: "Hosting") -> None:
    async with callback_host() as host:
        host.replies["/hook"] = b"HTTP/1.1 200 OK\r\ncontent-length: 99999999\r\n\r\nx"
        await Delivery()(at(host.port), JSON, b"{}")


@pytest.mark.req("PUSH-4")
async def test_what_is_no_answer_fails_the_post(callback_host: "Hosting") -> None:
    async with callback_host() as host:
        for reply in (b"SSH-2.0-x\r\n\r\n", b"HTTP/1.1 200 OK\r\nbroken", b""):
            host.replies["/hook"] = reply
            assert await failure(Delivery(), at(host.port)) == "RemoteProtocolError"


@pytest.mark.req("PUSH-4")
async def test_next_address_is_tried_where_no_connection_was_made(callback_host: "Hosting") -> None:
    async with callback_host() as host:
        await Delivery()(at(host.port, addresses="127.0.0.9 127.0.0.1"), JSON, b"{}")
        assert len(host.posted) == 1
        host.replies["/hook"] = b""
        both = at(host.port, addresses="127.0.0.1 127.0.0.1")
        assert await failure(Delivery(), both) == "RemoteProtocolError"
        assert len(host.posted) == 2


@pytest.mark.req("PUSH-4")
async def test_nobody_listening_is_a_failure(callback_host: "Hosting") -> None:
    async with callback_host() as host:
        port = host.port
    assert (await failure(Delivery(), at(port))).startswith("ConnectError")


async def test_connections_are_not_shared_between_posts(callback_host: "Hosting") -> None:
    async with callback_host() as host:
        delivery = Delivery()
        names = [f"host{number}.example" for number in range(8)]
        posts = [delivery(at(host.port, name), JSON, b"{}") for name in names]
        await asyncio.gather(*posts)
        seen = {posted.headers["host"].partition(":")[0] for posted in host.posted}
        assert seen == {*names}


@contextmanager
def certified(folder: Path, name: str) -> Generator[tuple[ssl.SSLContext, ssl.SSLContext]]:
    """The TLS contexts of a server that proves to be `name`, and of a client that trusts it."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    file = folder / f"{name}.pem"
    file.write_bytes(private + pem)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(file)
    yield server, ssl.create_default_context(cadata=pem.decode())
    file.unlink()


@pytest.mark.req("PUSH-5")
async def test_certificate_must_be_the_names(callback_host: "Hosting", tmp_path: Path) -> None:
    with certified(tmp_path, "callback.example") as (server, trust):
        async with callback_host(server) as host:
            delivery = Delivery(trust=trust)
            await delivery(at(host.port, scheme="https"), JSON, b"{}")
            assert len(host.posted) == 1
            other = at(host.port, "other.example", scheme="https")
            assert "certificate" in await failure(delivery, other)
            by_address = at(host.port, "127.0.0.1", scheme="https")
            assert "certificate" in await failure(delivery, by_address)
            untrusting = at(host.port, scheme="https")
            assert "certificate" in await failure(Delivery(), untrusting)
            assert len(host.posted) == 1


@pytest.mark.req("PUSH-5")
async def test_name_is_sent_in_the_tls_handshake(callback_host: "Hosting", tmp_path: Path) -> None:
    told: list[str | None] = []
    with certified(tmp_path, "callback.example") as (server, trust):

        def note(_: ssl.SSLSocket | ssl.SSLObject, name: str | None, __: ssl.SSLContext) -> None:
            told.append(name)

        server.sni_callback = note
        async with callback_host(server) as host:
            await Delivery(trust=trust)(at(host.port, scheme="https"), JSON, b"{}")
    assert told == ["callback.example"]
