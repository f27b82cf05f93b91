"""A client of the admin API that a2a-mock serves beside its agent; all of it is in the log.

Other agents get no unexpected requests: an agent is asked whether it is a mock only if it listens
on this machine, or if the user named a variable with the admin token of the mock.
"""

import asyncio
import json
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from urllib.parse import quote

from inspector.core.commands import Json, Turn
from inspector.core.entries import Entry, FrameReceived, Headers, Purpose, ResponseStarted
from inspector.core.session import Session
from inspector.errors import UsageError
from inspector.net.events import Outgoing
from inspector.wire import mock_admin
from inspector.wire.json_values import encode_json, parse_json
from inspector.wire.mock_admin import WANTS_TRACE, FaultKind, Parameter
from inspector.wire.sse import parse_event
from inspector.wire.urls import is_loopback, root

# The mock's other events are about the turns of others, or repeat the answers to our own.
KINDS = "reload,fault,faults,model,reset"
FIRST_RETRY_SECONDS = 0.5
LAST_RETRY_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class AdminAnswer:
    """`status` is None where none came."""

    status: int | None
    value: Json


class MockClient:
    """`attend` finds out whether there is a mock and follows its events; the rest asks it things.

    `token` is the mock's admin token. `on_reload` is called for each version that serves.
    """

    def __init__(
        self, session: Session, *, token: str = "", on_reload: Callable[[], None] = lambda: None
    ) -> None:
        self.is_connected = False
        self._session = session
        self._token = token
        self._on_reload = on_reload
        self._is_attending = False

    async def attend(self) -> None:
        """Follow the mock's events for as long as there is a mock; do nothing with other agents.

        A mock that went away is looked for again: soon, then ever more rarely, and at once when
        the agent answers anything.
        """
        if self._is_attending or not self._may_ask():
            return
        self._is_attending = True
        try:
            if await self._greet():
                await self._follow_events()
        finally:
            self._is_attending = False

    def traced(self, turn: Turn) -> Turn:
        """`turn` as it is sent to a mock: its answer names the trace that explains it."""
        if not self.is_connected or WANTS_TRACE in turn.headers:
            return turn
        return replace(turn, headers=(*turn.headers, WANTS_TRACE))

    async def fetch_offer(self) -> None:
        """Ask which faults there are."""
        await self._ask("GET", mock_admin.DESCRIPTION)

    async def fetch_faults(self) -> None:
        await self._ask("GET", mock_admin.FAULTS)

    async def fetch_trace(self, trace_id: str) -> None:
        await self._ask("GET", f"{mock_admin.TRACES}/{quote(trace_id, safe='')}")

    async def arm(self, fault: dict[str, Json]) -> bool:
        """Arm what the admin API takes as a fault; False where the mock refuses it."""
        answer = await self._ask("POST", mock_admin.FAULTS, encode_json(fault))
        return answer.status == HTTPStatus.CREATED

    async def disarm(self, fault_id: str) -> None:
        await self._ask("DELETE", f"{mock_admin.FAULTS}/{quote(fault_id, safe='')}")

    async def disarm_all(self) -> None:
        await self._ask("DELETE", mock_admin.FAULTS)

    def _may_ask(self) -> bool:
        endpoint = self._session.endpoint
        if endpoint is None:
            return False
        return is_loopback(endpoint.url) or bool(self._token and endpoint.is_trusted)

    async def _greet(self) -> bool:
        """Ask for the model and the faults; False if the agent is not a mock."""
        answer = await self._ask("GET", mock_admin.MODEL)
        is_mock = answer.status == HTTPStatus.OK and mock_admin.read_model(answer.value) is not None
        self.is_connected = is_mock
        if is_mock:
            await self.fetch_faults()
        return is_mock

    async def _follow_events(self) -> None:
        delay = FIRST_RETRY_SECONDS
        while True:
            if self.is_connected:
                await self._listen()
                self.is_connected, delay = False, FIRST_RETRY_SECONDS
            await self._pause(delay)
            delay = min(2 * delay, LAST_RETRY_SECONDS)
            await self._greet()

    async def _listen(self) -> None:
        """Follow one stream of events to its end."""
        path = f"{mock_admin.EVENTS}?kinds={KINDS}"
        async with asyncio.TaskGroup() as group:
            refreshes: set[asyncio.Task[None]] = set()

            def take(entry: Entry) -> None:
                if isinstance(entry, FrameReceived) and self._renews_faults(entry):
                    refreshes.add(group.create_task(self.fetch_faults()))

            await self._session.listen(Purpose.ADMIN, self._outgoing("GET", path), take)
            for refresh in refreshes:
                refresh.cancel()

    def _renews_faults(self, frame: FrameReceived) -> bool:
        """Take an event; return whether the faults of mock.yml are armed again after it."""
        event = parse_event(frame.raw)
        if event.event == "reload" and event.data is not None:
            reload = mock_admin.read_reload(parse_json(event.data).value)
            if reload is None or reload.flows is None:
                return False
            self._on_reload()
            return True
        return event.event == "reset"

    async def _pause(self, seconds: float) -> None:
        """Wait until `seconds` are over or the agent has answered something."""
        has_answered = asyncio.Event()

        def take(entry: Entry) -> None:
            if isinstance(entry, ResponseStarted):
                has_answered.set()

        unsubscribe = self._session.subscribe(take)
        try:
            async with asyncio.timeout(seconds):
                await has_answered.wait()
        except TimeoutError:
            return
        finally:
            unsubscribe()

    async def _ask(self, method: str, path: str, body: bytes = b"") -> AdminAnswer:
        if self._session.endpoint is None:
            return AdminAnswer(None, None)
        answered: list[Entry] = []
        await self._session.fetch(
            Purpose.ADMIN, self._outgoing(method, path, body), answered.append
        )
        status = next((one.status for one in answered if isinstance(one, ResponseStarted)), None)
        bodies = [one.raw for one in answered if isinstance(one, FrameReceived)]
        return AdminAnswer(status, parse_json(bodies[-1]).value if bodies else None)

    def _outgoing(self, method: str, path: str, body: bytes = b"") -> Outgoing:
        endpoint = self._session.endpoint
        assert endpoint is not None
        headers: Headers = (("Content-Type", "application/json"),) if body else ()
        if self._token and endpoint.is_trusted:
            headers += (("Authorization", f"Bearer {self._token}"),)
        return Outgoing(method, root(endpoint.url) + path.removeprefix("/"), headers, body)


# Beside the effect's own parameters; `match.` stands before a criterion's name.
_FAULT_FIELDS = ("count", "probability")
_MATCH = "match."

# What is tried first where the mock has no default.
_SUGGESTED: Mapping[str, Json] = {
    "status": 503,
    "seconds": 2,
    "state": "failed",
    "merge": {"capabilities": {"streaming": False}},
}
_OF_TYPE: Mapping[str, Json] = {"integer": 1, "number": 1, "boolean": True, "object": {}}


def suggest(kind: FaultKind, count: int | None = 1) -> dict[str, Json]:
    """The fault of `kind` as the admin API takes it, for the next `count` requests or all."""
    effect: dict[str, Json] = {"kind": kind.name}
    for parameter in kind.parameters:
        if parameter.is_required:
            effect[parameter.name] = _suggested(parameter)
    fault: dict[str, Json] = {"effect": effect}
    if count is not None:
        fault["count"] = count
    return fault


def spell(fault: Mapping[str, Json], kind: FaultKind) -> str:
    """`fault` as a line, the parameters with their defaults in it."""
    effect = fault.get("effect")
    given = effect if isinstance(effect, dict) else {}
    words = [kind.name]
    for parameter in kind.parameters:
        value = given.get(parameter.name, parameter.default)
        words += [_word(parameter.name, value)] if value is not None else []
    words += [_word(name, fault[name]) for name in _FAULT_FIELDS if name in fault]
    return " ".join(words)


def parse(text: str, kinds: Iterable[FaultKind]) -> dict[str, Json]:
    """The fault that a line describes; what its values must be, the mock itself knows.

    Raises:
        UsageError: there is no such kind or parameter.
    """
    try:
        name, *words = shlex.split(text) or [""]
    except ValueError as error:
        raise UsageError(f"{text!r}: {error}; write KIND NAME=VALUE …") from None
    known = {kind.name: kind for kind in kinds}
    if name not in known:
        raise UsageError(f"the mock has no fault {name!r}")
    parameters = [parameter.name for parameter in known[name].parameters]
    fault: dict[str, Json] = {}
    effect: dict[str, Json] = {"kind": name}
    match: dict[str, Json] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            raise UsageError(f"{word!r} is not NAME=VALUE")
        if key.startswith(_MATCH):
            match[key.removeprefix(_MATCH)] = value
        elif key in _FAULT_FIELDS:
            fault[key] = _value(value)
        elif key in parameters:
            effect[key] = _value(value)
        else:
            names = ", ".join((*parameters, *_FAULT_FIELDS, "match.method"))
            raise UsageError(f"{name} has no {key!r}; there are {names}")
    fault["effect"] = effect
    if match:
        fault["match"] = match
    return fault


def _suggested(parameter: Parameter) -> Json:
    if parameter.name in _SUGGESTED:
        value = _SUGGESTED[parameter.name]
        if not parameter.choices or value in parameter.choices:
            return value
    if parameter.choices:
        return parameter.choices[0]
    return _OF_TYPE.get(parameter.type, parameter.name)


def _word(name: str, value: Json) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return shlex.quote(f"{name}={text}")


def _value(text: str) -> Json:
    parsed = parse_json(text.encode())
    return text if parsed.problem else parsed.value
