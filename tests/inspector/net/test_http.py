"""The HTTP transport over real sockets: bytes as they came, failures by their kind."""

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import pytest

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
from inspector.net.http import HttpTransport
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
