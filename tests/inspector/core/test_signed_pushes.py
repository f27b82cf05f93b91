"""An agent that signs its notifications: its keys come from its own origin and nowhere else."""

import asyncio
import json
from itertools import count
from typing import TYPE_CHECKING, Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm

from inspector.core.commands import FetchCard
from inspector.core.entries import Log, PushReceived, PushVerdict, RequestSent
from inspector.core.push_receiver import ReceiverOptions
from inspector.core.push_verification import TOKEN_HEADER
from inspector.core.session import Session
from inspector.core.target import parse_target
from inspector.net.http import HttpTransport
from inspector.settings import Connection

if TYPE_CHECKING:
    from tests.inspector.conftest import RawServer, StartServer

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
