"""The receiver's server under attack, over real sockets: nothing hangs, nothing is kept."""

import asyncio
import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.errors import UsageError
from inspector.net.receiver import Allowance, Answer, Bounds, Gate, HttpReceiver, Incoming

pytestmark = pytest.mark.anyio

PATIENT = Bounds(
    body_bytes=1000,
    head_seconds=60.0,
    body_seconds=60.0,
    drain_seconds=60.0,
    hang_seconds=0.2,
    connections=4,
)
QUICK = replace(PATIENT, head_seconds=0.2, body_seconds=0.2)


class Listening:
    """A receiver that takes what comes and says 200, unless told otherwise."""

    def __init__(self, answer: Answer, gate: Gate, bounds: Bounds) -> None:
        self.port = 0
        self.taken: list[Incoming] = []
        self.arrived = asyncio.Event()
        self.receiver = HttpReceiver(self._handle, gate, bounds)
        self._answer = answer

    async def _handle(self, incoming: Incoming) -> Answer:
        self.taken.append(incoming)
        self.arrived.set()
        if incoming.refusal is not None:
            return Answer(incoming.refusal.status, text=incoming.refusal.reason)
        return self._answer

    async def ask(self, *pieces: bytes, ends: bool = False) -> bytes:
        """What comes back for `pieces`, until the connection ends."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
            if ends:
                writer.write_eof()
            async with asyncio.timeout(60):
                return await reader.read()
        except ConnectionError:
            return b""
        finally:
            writer.close()

    def refusals(self) -> list[int]:
        return [one.refusal.status for one in self.taken if one.refusal is not None]


@asynccontextmanager
async def listening(
    answer: Answer | None = None,
    *,
    bounds: Bounds = PATIENT,
    burst: int = 100,
    hosts: tuple[str, ...] = (),
    takes_addresses: bool = False,
    **place: Any,
) -> AsyncGenerator[Listening]:
    gate = Gate(hosts, Allowance(burst, 0, lambda: 0), takes_addresses=takes_addresses)
    server = Listening(answer or Answer(200), gate, bounds)
    server.port = await server.receiver.start(**place)
    try:
        yield server
    finally:
        await server.receiver.stop()


def post(
    body: bytes = b"{}", host: str = "localhost", method: str = "POST", headers: str = ""
) -> bytes:
    head = (
        f"{method} /hook HTTP/1.1\r\nHost: {host}\r\nContent-Length: {len(body)}\r\n{headers}\r\n"
    )
    return head.encode() + body


def status(answer: bytes) -> int:
    return int(answer.split()[1]) if answer else 0


@pytest.mark.req("PUSHRX-1")
async def test_a_request_is_taken_byte_for_byte() -> None:
    body = b"\x00\xff{}\r\n\r\n"
    async with listening(Answer(202, (("X-A", "b"),), text="good")) as server:
        answer = await server.ask(post(body, headers="X-Two: 1\r\nX-two: 2\r\n"))
        [taken] = server.taken
    assert answer.startswith(b"HTTP/1.1 202")
    assert answer.endswith(b"good")
    assert b"X-A: b" in answer
    assert (taken.method, taken.target, taken.body) == ("POST", "/hook", body)
    assert taken.headers[-2:] == (("X-Two", "1"), ("X-two", "2"))


async def test_a_client_that_asks_is_told_to_go_on() -> None:
    head = b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
    async with listening() as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(head + b"Expect: 100-continue\r\n\r\n")
        assert status(await reader.readuntil(b"\r\n\r\n")) == 100
        writer.write(b"2\r\n{}\r\n0\r\n\r\n")
        assert status(await reader.read()) == 200
        writer.close()
        assert server.taken[0].body == b"{}"


@pytest.mark.req("PUSHRX-3")
@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost:80", 200),
        ("127.0.0.1", 200),
        ("[::1]:9", 200),
        ("TUNNEL.test", 200),
        ("evil.test", 421),
        ("localhost.evil.test", 421),
        ("10.0.0.7", 421),
        ("", 421),
    ],
)
async def test_only_its_own_names_lead_to_it(host: str, expected: int) -> None:
    async with listening(hosts=("tunnel.test",)) as server:
        assert status(await server.ask(post(host=host))) == expected


@pytest.mark.req("PUSHRX-3")
@pytest.mark.parametrize(("host", "expected"), [("10.0.0.7:80", 200), ("evil.test", 421)])
async def test_on_all_interfaces_addresses_lead_to_it_and_names_do_not(
    host: str, expected: int
) -> None:
    async with listening(takes_addresses=True) as server:
        assert status(await server.ask(post(host=host))) == expected


@pytest.mark.req("PUSHRX-3")
async def test_a_body_of_100_mb_is_refused_by_its_length_alone() -> None:
    head = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 104857600\r\n\r\n"
    chunk = bytes(1024 * 1024)
    async with listening() as server:
        answer = await server.ask(head, *[chunk] * 100)
        assert status(answer) == 413
        [taken] = server.taken
    assert taken.body == b""


@pytest.mark.req("PUSHRX-3")
async def test_a_body_of_unknown_length_is_read_up_to_its_bound() -> None:
    head = b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    async with listening() as server:
        answer = await server.ask(head, *[b"100\r\n" + bytes(256) + b"\r\n"] * 400, ends=True)
        assert status(answer) == 413
        assert server.taken[0].body == b""


@pytest.mark.req("PUSHRX-3")
@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (b"POST / HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 20_000, 431),
        (b"garbage\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20, 400),
        (b"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", 400),
        (b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", 400),
        (
            b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            400,
        ),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", 405),
        (b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", 405),
        (b"HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n", 405),
        (b"CONNECT evil.test:443 HTTP/1.1\r\nHost: localhost\r\n\r\n", 405),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n\r\n", 405),
        (b"GET / HTTP/1.0\r\nHost: localhost\r\n\r\n", 405),
        (b"POST / HTTP/1.0\r\n\r\n", 421),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 421),
        (b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
        (
            b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
            413,
        ),
    ],
)
async def test_broken_requests_are_refused(sent: bytes, expected: int) -> None:
    async with listening() as server:
        assert status(await server.ask(sent)) == expected
        assert server.refusals() == [expected]


@pytest.mark.req("PUSHRX-3")
@pytest.mark.parametrize("rest", [b"", b"host\r\nContent-Length: 9\r\n\r\nab"])
async def test_slow_requests_are_refused(rest: bytes) -> None:
    async with listening(bounds=QUICK) as server:
        assert status(await server.ask(b"POST / HTTP/1.1\r\nHost: local" + rest)) == 408
        assert server.refusals() == [408]


@pytest.mark.req("PUSHRX-3")
@settings(max_examples=60)
@given(sent=st.binary(max_size=200) | st.binary(max_size=80).map(b"POST / HTTP/1.1\r\n".__add__))
def test_no_bytes_break_it(sent: bytes) -> None:
    async def ask() -> tuple[bytes, int]:
        async with listening() as server:
            answer = await server.ask(sent, ends=True)
            return answer, status(await server.ask(post()))

    answer, afterwards = asyncio.run(ask())
    assert not answer or 400 <= status(answer) < 600
    assert afterwards == 200


async def test_a_client_that_leaves_is_no_request() -> None:
    async with listening() as server:
        assert await server.ask(b"", ends=True) == b""
        assert await server.ask(post()[:-1], ends=True) != b""
        assert server.refusals() == [400]


@pytest.mark.req("PUSHRX-3")
async def test_a_flood_is_refused_before_its_bodies_are_read() -> None:
    async with listening(burst=3, bounds=Bounds()) as server:
        answers = await asyncio.gather(*(server.ask(post()) for _ in range(20)))
    assert sorted(status(one) for one in answers) == [200] * 3 + [429] * 17


@pytest.mark.req("PUSHRX-3")
async def test_connections_that_say_nothing_do_not_pile_up() -> None:
    async with listening(Answer(None, is_hanging=True), bounds=Bounds(connections=2)) as server:
        hanging = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(2)]
        for _, writer in hanging:
            writer.write(post())
            await writer.drain()
        assert status(await server.ask(post())) == 503
        for _, writer in hanging:
            writer.close()


@pytest.mark.req("PUSHRX-2")
async def test_an_answer_can_be_late_or_never_come() -> None:
    async with listening(Answer(None)) as server:
        assert await server.ask(post()) == b""
    async with listening(Answer(None, is_hanging=True)) as server:
        assert await server.ask(post()) == b""
    async with listening(Answer(200, delay_seconds=0.05)) as server:
        began = asyncio.get_running_loop().time()
        assert status(await server.ask(post())) == 200
        assert asyncio.get_running_loop().time() - began >= 0.05


async def test_stopping_breaks_off_what_hangs_and_frees_the_port() -> None:
    async with listening(Answer(None, is_hanging=True), bounds=Bounds()) as server:
        asking = asyncio.create_task(server.ask(post()))
        async with asyncio.timeout(60):
            await server.arrived.wait()
        await server.receiver.stop()
        await server.receiver.stop()
        assert await asking == b""
        async with listening(port=server.port) as again:
            assert status(await again.ask(post())) == 200


async def test_a_taken_port_is_named() -> None:
    async with listening() as server:
        with pytest.raises(UsageError, match=f"127.0.0.1 port {server.port}"):
            async with listening(port=server.port):
                pytest.fail("listens twice")


def write_certificate(folder: Path) -> tuple[Path, Path]:
    private = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, private.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(private, SHA256())
    )
    (folder / "cert.pem").write_bytes(certificate.public_bytes(Encoding.PEM))
    form = PrivateFormat.PKCS8
    (folder / "key.pem").write_bytes(private.private_bytes(Encoding.PEM, form, NoEncryption()))
    return folder / "cert.pem", folder / "key.pem"


@pytest.mark.req("PUSHRX-1")
async def test_with_a_certificate_it_is_https(tmp_path: Path) -> None:
    certificate, key = write_certificate(tmp_path)
    async with listening(certificate=certificate, key=key, bounds=Bounds()) as server:
        trust = ssl.create_default_context(cafile=str(certificate))
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", server.port, ssl=trust, server_hostname="localhost"
        )
        writer.write(post())
        assert status(await reader.read()) == 200
        writer.close()
    certificate.write_text("none")
    with pytest.raises(UsageError, match=r"cert\.pem"):
        async with listening(certificate=certificate, key=key):
            pytest.fail("listens without a certificate")


def test_an_allowance_fills_up_again() -> None:
    seconds = 0.0
    allowance = Allowance(2, 1.0, lambda: seconds)
    assert [allowance.take() for _ in range(3)] == [True, True, False]
    seconds = 1.0
    assert [allowance.take() for _ in range(2)] == [True, False]
    seconds = 100.0
    assert [allowance.take() for _ in range(3)] == [True, True, False]
