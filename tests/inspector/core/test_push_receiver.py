"""The receiver of a session over real sockets: what it takes, answers, hands on and keeps."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from itertools import count
from typing import TYPE_CHECKING, Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm

from inspector.core.bodies import START_BYTES, Body, BodyMemory
from inspector.core.commands import FetchCard
from inspector.core.entries import (
    Failed,
    Log,
    PushReceived,
    PushVerdict,
    RequestSent,
    ResponseStarted,
)
from inspector.core.exchanger import Exchanger
from inspector.core.push_receiver import (
    BURST,
    MAX_LOGGED_BYTES,
    MOST_REFUSED,
    RESENT_HEADER,
    Injection,
    Receiver,
    ReceiverOptions,
)
from inspector.core.push_verification import TOKEN_HEADER
from inspector.core.redaction import MASK, Redactor
from inspector.core.session import Session
from inspector.core.target import parse_target
from inspector.errors import UsageError
from inspector.net.http import HttpTransport
from inspector.net.receiver import Bounds
from inspector.settings import Connection
from inspector.wire.dialect import Callback

if TYPE_CHECKING:
    from tests.conftest import Hosting
    from tests.inspector.conftest import RawServer, StartServer


pytestmark = pytest.mark.anyio

BODY = json.dumps({"id": "t", "kind": "task", "status": {"state": "working"}}).encode()


class Setting:
    """An open receiver that expects any task, with what came of it."""

    def __init__(self, keys: bytes | None = None) -> None:
        self.log = Log(lambda: 0)
        self.exchanger = Exchanger(HttpTransport(Connection()), self.log, Redactor())
        self.keys = keys
        self.key_urls: list[str | None] = []
        self.receiver = Receiver(self.exchanger, self._fetch_keys, clock=lambda: 0)
        self.client = httpx.AsyncClient(timeout=60)
        self.token = ""
        self.place = ""

    async def _fetch_keys(self, url: str | None) -> bytes | None:
        self.key_urls.append(url)
        return self.keys

    async def post(self, body: bytes = BODY, **headers: str) -> int:
        """Post what an agent would, with `headers` besides, and return the status."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        answer = await self.client.post(
            self.place, content=body, headers={TOKEN_HEADER: self.token, **named}
        )
        return answer.status_code

    @property
    def pushes(self) -> list[PushReceived]:
        return [entry for entry in self.log.entries if isinstance(entry, PushReceived)]

    async def until_logged(self, kind: type[object], count: int = 1) -> None:
        """Wait until the log holds `count` entries of `kind`."""
        reached = asyncio.Event()

        def look(_: object = None) -> None:
            if sum(isinstance(one, kind) for one in self.log.entries) >= count:
                reached.set()

        unsubscribe = self.log.subscribe(look)
        look()
        async with asyncio.timeout(60):
            await reached.wait()
        unsubscribe()


@asynccontextmanager
async def opened(
    options: ReceiverOptions | None = None, keys: bytes | None = None
) -> AsyncGenerator[Setting]:
    setting = Setting(keys)
    setting.place = f"http://127.0.0.1:{await setting.receiver.start(options=options)}/"
    setting.token = setting.receiver.register(is_for_any=True).token
    try:
        yield setting
    finally:
        await setting.client.aclose()
        await setting.receiver.stop()
        await setting.exchanger.aclose()


@pytest.mark.req("PUSHRX-1")
async def test_a_notification_is_verified_logged_and_answered() -> None:
    async with opened() as setting:
        assert setting.receiver.is_open
        assert setting.receiver.url.startswith("http://127.0.0.1:")
        assert await setting.post() == 200
        assert await setting.post(b"nonsense") == 400
        assert await setting.post(X_A2A_Notification_Token="wrong") == 401
        answer = await setting.client.get(setting.receiver.url)
        assert answer.status_code == 405
    assert [(one.verdict, one.status) for one in setting.pushes] == [
        (PushVerdict.ACCEPTED, 200),
        (PushVerdict.BAD_BODY, 400),
        (PushVerdict.FORGED, 401),
        (PushVerdict.REFUSED, 405),
    ]
    assert not setting.receiver.is_open
    assert setting.receiver.url == ""
    assert setting.pushes[0].body == BODY
    assert [one.exchange for one in setting.pushes] == [1, 2, 3, 4]


@pytest.mark.req("PUSHRX-1")
async def test_no_token_is_in_the_log_wherever_an_agent_repeats_it() -> None:
    async with opened() as setting:
        body = json.dumps({"kind": "task", "id": "t", "echo": setting.token}).encode()
        assert await setting.post(body, X_Echo=f"got {setting.token}", Authorization="Key s") == 200
    assert setting.token not in repr(setting.log.entries)
    headers = {name.lower(): value for name, value in setting.pushes[0].headers}
    assert headers["x-echo"] == f"got {MASK}"
    assert headers["authorization"] == MASK


@pytest.mark.req("PUSHRX-1")
async def test_a_token_is_for_the_first_task_that_it_comes_with() -> None:
    async with opened() as setting:
        seen: list[PushReceived] = []
        registration = setting.receiver.register(seen.append)
        assert registration.callback == Callback(registration.url, registration.token)
        assert registration.url.startswith(setting.receiver.url)
        assert registration.url != setting.receiver.register().url
        for body, status in ((BODY, 200), (BODY.replace(b'"t"', b'"x"'), 404)):
            assert await setting.post(body, X_A2A_Notification_Token=registration.token) == status
    assert [one.status for one in seen] == [200]
    assert setting.pushes[1].verdict is PushVerdict.UNKNOWN_TASK


@pytest.mark.req("PUSHRX-2")
async def test_verified_ones_are_mistreated_as_told() -> None:
    async with opened() as setting:
        setting.receiver.injection = Injection(503)
        assert await setting.post() == 503
        assert await setting.post(X_A2A_Notification_Token="wrong") == 401
        setting.receiver.injection = Injection(302)
        answer = await setting.client.post(
            setting.receiver.url, content=BODY, headers={TOKEN_HEADER: setting.token}
        )
        assert (answer.status_code, answer.headers["location"]) == (302, "/redirected")
        setting.receiver.injection = Injection(delay_seconds=0.05)
        assert await setting.post() == 200
        setting.receiver.injection = Injection(is_dropping=True)
        with pytest.raises(httpx.RemoteProtocolError):
            await setting.post()
        setting.receiver.injection = Injection(is_hanging=True)
        with pytest.raises(httpx.ReadTimeout):
            await setting.client.post(
                setting.receiver.url,
                content=BODY,
                headers={TOKEN_HEADER: setting.token},
                timeout=httpx.Timeout(60, read=0.2),
            )
        setting.receiver.injection = Injection()
        assert await setting.post() == 200
    assert [one.status for one in setting.pushes] == [503, 401, 302, 200, None, None, 200]
    assert [one.verdict for one in setting.pushes].count(PushVerdict.ACCEPTED) == 6


@pytest.mark.req("PUSHRX-2")
async def test_verified_ones_are_handed_on_unchanged_and_in_order(callback_host: "Hosting") -> None:
    async with callback_host() as host, opened() as setting:
        setting.receiver.forward_url = f"{host.url}/in"
        bodies = [BODY.replace(b"working", str(n).encode()) for n in range(5)]
        for body in bodies:
            await setting.post(body, X_Extra="kept")
        await setting.post(X_A2A_Notification_Token="wrong")
        await setting.post(b"nonsense")
        posted = await host.wait_for(5)
        await setting.until_logged(ResponseStarted, 5)
    assert [one.body for one in posted] == bodies
    assert {one.line for one in posted} == {"POST /in HTTP/1.1"}
    assert {one.headers["x-extra"] for one in posted} == {"kept"}
    assert {one.headers[TOKEN_HEADER.lower()] for one in posted} == {setting.token}
    sent = [entry for entry in setting.log.entries if isinstance(entry, RequestSent)]
    assert [one.purpose for one in sent] == ["forward"] * 5
    assert setting.token not in repr(sent)


@pytest.mark.req("PUSHRX-3")
async def test_a_redirect_takes_nothing_elsewhere(callback_host: "Hosting") -> None:
    async with callback_host() as host, callback_host() as other, opened() as setting:
        for code in (301, 302, 307, 308):
            path = f"/{code}"
            location = f"location: {other.url}/\r\nlocation: {path}\r\n" * (code == 301)
            location = location or f"location: {path}\r\n"
            host.replies[path] = (
                f"HTTP/1.1 {code} X\r\n{location}content-length: 0\r\n\r\n".encode()
            )
            setting.receiver.forward_url = host.url + path
            await setting.post()
        await setting.until_logged(ResponseStarted, 4)
        assert len(await host.wait_for(4)) == 4
        sent = [entry for entry in setting.log.entries if isinstance(entry, RequestSent)]
        assert len(sent) == 4


@pytest.mark.req("PUSHRX-3")
async def test_it_is_no_way_round_in_a_circle() -> None:
    async with opened() as setting, opened() as other:
        with pytest.raises(UsageError, match="leads back"):
            setting.receiver.forward_url = setting.receiver.url + "again"
        with pytest.raises(UsageError, match="not an http"):
            setting.receiver.forward_url = "file:///etc/passwd"
        other.receiver.register(token=setting.token, is_for_any=True)
        setting.receiver.forward_url = other.receiver.url
        other.receiver.forward_url = setting.receiver.url
        await setting.post()
        await setting.until_logged(PushReceived, 2)
        after = BODY.replace(b"working", b"completed")
        await setting.post(after)
        await other.until_logged(PushReceived, 2)
    # they are handed on in order: what came back would have come before what was posted after it
    assert [one.body for one in other.pushes] == [BODY, after]


@pytest.mark.req("PUSHRX-3")
async def test_what_waits_to_be_handed_on_is_bounded(callback_host: "Hosting") -> None:
    async with callback_host() as host, opened() as setting:
        host.replies["/"] = None
        setting.receiver.forward_url = f"{host.url}/"
        for _ in range(103):
            await setting.post()
        await setting.until_logged(Failed)
        [failed, *_] = [entry for entry in setting.log.entries if isinstance(entry, Failed)]
        assert failed.message == "not forwarded: 100 others wait already"
        await host.wait_for(1)


@pytest.mark.req("PUSHRX-3")
async def test_what_waits_to_be_handed_on_is_bounded_in_bytes(callback_host: "Hosting") -> None:
    async with callback_host() as host, opened() as setting:
        host.replies["/"] = None
        setting.receiver.forward_url = f"{host.url}/"
        body = BODY + b" " * (6 * 1024 * 1024)
        for _ in range(5):
            await setting.post(body)
        await setting.until_logged(Failed)
        [failed, *_] = [entry for entry in setting.log.entries if isinstance(entry, Failed)]
        assert failed.message == "not forwarded: 2 others wait already"
        await host.wait_for(1)


@pytest.mark.req("PUSHRX-3")
async def test_large_notifications_do_not_stay_in_memory() -> None:
    async with opened() as setting:
        setting.log.memory = BodyMemory(most_bytes=20_000)
        body = BODY + b" " * 9_000
        for _ in range(10):
            assert await setting.post(body) == 200
    assert setting.log.memory.held_bytes <= 20_000
    held = [one.content for one in setting.pushes if isinstance(one.content, Body)]
    assert sum(one.held_bytes for one in held) <= 20_000 + 10 * START_BYTES
    assert [one.size_bytes for one in held] == [len(body)] * 10


@pytest.mark.req("PUSHRX-3")
async def test_what_is_turned_away_does_not_fill_the_log() -> None:
    async with opened() as setting:
        body = BODY + b" " * 10_000
        forged = [await setting.post(body, X_A2A_Notification_Token="x") for _ in range(BURST)]
        flood = [await setting.post() for _ in range(20)]
    assert (set(forged), set(flood)) == ({401}, {429})
    assert [one.verdict for one in setting.pushes] == [PushVerdict.FORGED] * MOST_REFUSED
    assert {len(one.body) for one in setting.pushes} == {MAX_LOGGED_BYTES}


@pytest.mark.req("PUSHRX-3")
async def test_a_flood_with_the_right_token_is_slowed_down() -> None:
    async with opened() as setting:
        statuses = [await setting.post() for _ in range(BURST + 20)]
    assert statuses == [200] * BURST + [429] * 20
    assert len(setting.pushes) == BURST + 20


@pytest.mark.req("PUSHRX-3")
async def test_a_foreign_host_is_refused_and_the_public_one_is_not() -> None:
    public = ReceiverOptions(public_url="https://tunnel.test/a2a")
    async with opened(public) as setting:
        assert setting.receiver.url == "https://tunnel.test/a2a"
        assert setting.receiver.register().url.startswith("https://tunnel.test/a2a/")
        for host, status in (("tunnel.test", 200), ("evil.test", 421)):
            await setting.post(Host=host)
            assert setting.pushes[-1].status == status


async def test_a_public_url_must_be_one() -> None:
    with pytest.raises(UsageError, match="--public-url"):
        async with opened(ReceiverOptions(public_url="tunnel.test")):
            pytest.fail("opened")


@pytest.mark.req("PUSHRX-1")
async def test_resent_ones_go_into_the_log_or_on(callback_host: "Hosting") -> None:
    async with callback_host() as host, opened() as setting:
        await setting.post()
        assert await setting.receiver.resend(1)
        assert not await setting.receiver.resend(7)
        setting.receiver.forward_url = f"{host.url}/"
        assert await setting.receiver.resend(1)
        [posted] = await host.wait_for(1)
    assert posted.headers[TOKEN_HEADER.lower()] == setting.token
    first, again = setting.pushes
    assert (again.verdict, again.status, again.body) == (first.verdict, 200, BODY)
    assert again.headers[-1] == (RESENT_HEADER, "1")


@pytest.mark.req("PUSHRX-1")
async def test_a_jwt_must_hold_where_keys_can_be_had() -> None:
    token = "eyJhbGciOiJub25lIn0.e30."
    async with opened() as setting:
        assert await setting.post(Authorization=f"Bearer {token}") == 200
        assert await setting.post(Authorization="Bearer opaque") == 200
    assert setting.key_urls == [None]
    required = ReceiverOptions(jwks_url="http://agent.test/keys")
    async with opened(required, b"none") as setting:
        assert await setting.post() == 401
        assert await setting.post(Authorization=f"Bearer {token}") == 401
    assert setting.key_urls == ["http://agent.test/keys"]


@pytest.mark.req("PUSHRX-3")
async def test_garbage_is_logged_and_nothing_breaks() -> None:
    async with opened(ReceiverOptions(bounds=Bounds(body_bytes=100))) as setting:
        for sent in (b"garbage\r\n\r\n", b"POST //[ HTTP/1.1\r\nHost: [::1\r\n\r\n"):
            await send_raw(setting, sent)
        assert await setting.post(bytes(101)) == 413
        assert await setting.post() == 200
    assert [one.status for one in setting.pushes] == [400, 400, 413, 200]
    assert all(one.url.startswith("http://") for one in setting.pushes)


@pytest.mark.req("PUSHRX-3")
async def test_a_request_that_stops_midway_is_logged() -> None:
    async with opened(ReceiverOptions(bounds=Bounds(head_seconds=0.2))) as setting:
        await send_raw(setting, b"POST / H")
    assert [one.status for one in setting.pushes] == [408]


async def send_raw(setting: Setting, sent: bytes) -> None:
    """Send bytes, and wait until the receiver has ended the connection."""
    port = httpx.URL(setting.receiver.url).port
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    await reader.read()
    writer.close()


KEY = ec.generate_private_key(ec.SECP256R1())
JWKS = {"keys": [{**json.loads(ECAlgorithm.to_jwk(KEY.public_key())), "kid": "k"}]}
TASK: dict[str, Any] = {"kind": "task", "id": "t", "status": {"state": "working"}}


def serve_keys(start_server: "StartServer") -> "RawServer":
    """A server with a card that leads to itself, and with keys at the usual place."""

    async def handle(head: str, _: bytes, writer: asyncio.StreamWriter) -> None:
        host = next(line[6:] for line in head.split("\r\n") if line.lower().startswith("host: "))
        is_keys = "jwks" in head.split()[1]
        body = json.dumps(JWKS if is_keys else {"name": "A", "url": f"http://{host}/rpc"}).encode()
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)

    return start_server(handle)


async def verdict(session: Session, key: ec.EllipticCurvePrivateKey | None) -> PushVerdict:
    """What becomes of a notification that is signed with `key`."""
    registration = session.receiver.register()
    headers = {TOKEN_HEADER: registration.token}
    if key is not None:
        headers["Authorization"] = f"Bearer {jwt.encode({}, key, 'ES256', {'kid': 'k'})}"
    async with httpx.AsyncClient(timeout=60) as client:
        await client.post(session.receiver.url, json=TASK, headers=headers)
    entry = session.log.entries[-1]
    assert isinstance(entry, PushReceived)
    return entry.verdict


@pytest.mark.anyio
@pytest.mark.req("PUSHRX-1")
async def test_keys_are_those_of_the_agents_own_origin(start_server: "StartServer") -> None:
    agent, stranger, ids = serve_keys(start_server), serve_keys(start_server), count(1)
    transport, log = HttpTransport(Connection()), Log(lambda: 0)
    session = Session(parse_target(agent.url), transport, log, new_id=lambda: f"id{next(ids)}")
    await session.run(FetchCard())
    await session.receiver.start()
    assert await verdict(session, KEY) is PushVerdict.ACCEPTED
    assert await verdict(session, None) is PushVerdict.ACCEPTED
    other = ec.generate_private_key(ec.SECP256R1())
    assert await verdict(session, other) is PushVerdict.FORGED
    asked = [entry.url for entry in session.log.entries if isinstance(entry, RequestSent)]
    assert asked[1:] == [f"{agent.url}.well-known/jwks.json"]
    await session.receiver.start(options=ReceiverOptions(jwks_url=f"{stranger.url}jwks"))
    for key in (None, KEY):
        assert await verdict(session, key) is PushVerdict.FORGED
    assert stranger.requests == []
    await session.aclose()
