"""From what a user asks to the request that asks it of the agent, and back to the turn."""

import base64
import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, TypeVar

from inspector.core.commands import (
    Also,
    CancelTask,
    FollowMode,
    GetTask,
    Resubscribe,
    SendTurn,
    SlotShape,
    Turn,
)
from inspector.core.entries import Headers, Purpose, RequestSent
from inspector.core.redaction import SECRET_HEADERS, Redactor
from inspector.errors import UsageError
from inspector.folders import typed_path
from inspector.net.events import is_written_by_transport
from inspector.wire.dialect import (
    Ask,
    Callback,
    Dialect,
    Endpoint,
    File,
    Message,
    Operation,
    Outgoing,
    Part,
)
from inspector.wire.endpoints import DEFAULT, dialect_of
from inspector.wire.json_values import Json, encode_json, parse_json
from inspector.wire.mock_admin import WANTS_TRACE
from inspector.wire.slots import add_fence, add_line, data_part, in_metadata, seedings
from inspector.wire.tokens import MASK

MOST_BYTES = 100 * 1024 * 1024
CommandT = TypeVar("CommandT", bound=SendTurn | GetTask | CancelTask | Resubscribe)


def read_user_file(path: Path, where: str) -> bytes:
    """The content of `path`; `where` names it in errors.

    Raises:
        UsageError: it cannot be read, or is longer than anything that is sent.
    """
    try:
        with path.open("rb") as stream:
            return read_to_end(stream, where)
    except OSError as error:
        raise UsageError(f"{where}: {error.strerror}") from error


def read_to_end(stream: BinaryIO, where: str, most_bytes: int = MOST_BYTES) -> bytes:
    """What `stream` holds.

    Raises:
        UsageError: it does not end within `most_bytes`.
    """
    content = stream.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise UsageError(f"{where}: more than {most_bytes} bytes", "name something smaller")
    return content


def read_part(source: str, dialect: Dialect = DEFAULT) -> Part:
    """The part in `source`: JSON text, a JSON file with a part in it, or any file as a part.

    JSON is in the words of `dialect`, and goes out as it is.

    Raises:
        UsageError: JSON that is no part, or a file that cannot be read.
    """
    if source.lstrip().startswith("{"):
        return _part_of(source, dialect)
    path = typed_path(source)
    content = read_user_file(path, str(path))
    if path.suffix == ".json" and (part := dialect.read_part(parse_json(content).value)):
        return part
    media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    file = File(path.name, media_type, base64.b64encode(content).decode())
    return Part(file=file, label="file")


def _part_of(text: str, dialect: Dialect) -> Part:
    parsed = parse_json(text.encode(errors="replace"))
    part = dialect.read_part(parsed.value)
    if part is None:
        found = parsed.problem or f"an object {dialect.lacks_as_part}"
        raise UsageError(f"expected a part as JSON; {found}", f"write it as {dialect.part_example}")
    return part


def compose(turn: Turn, message_id: str = "", callback: Callback | None = None) -> Ask:
    """What `turn` asks; `message_id` serves where it names none.

    `callback` says where the task's notifications go.
    """
    is_stream = turn.follow is FollowMode.STREAM
    in_request = turn.slots and SlotShape.REQUEST in turn.slot_shapes
    return Ask(
        message=Message(
            parts=_parts(turn),
            message_id=turn.message_id or message_id,
            context_id=turn.context_id,
            task_id=turn.task_id,
            metadata=_metadata(turn),
        ),
        metadata=in_metadata({}, turn.slots) if in_request else {},
        history_length=turn.history_length,
        accepted_output_modes=turn.accepted_output_modes,
        is_blocking=None if is_stream else turn.follow is FollowMode.BLOCKING,
        callback=callback,
        raw=turn.raw,
    )


def operation_of(turn: Turn) -> Operation:
    """How `turn` is sent, where it has no body of its own that says so."""
    return Operation.STREAM if turn.follow is FollowMode.STREAM else Operation.SEND


def _parts(turn: Turn) -> tuple[Part, ...]:
    text = turn.text
    if turn.slots and SlotShape.LINE in turn.slot_shapes:
        text = add_line(text, turn.slots)
    # the fence must end the text, so it comes after the line
    if turn.slots and SlotShape.FENCE in turn.slot_shapes:
        text = add_fence(text, turn.slots)
    parts = (Part(text=text, label="text"),) if text else ()
    parts += turn.parts
    if turn.slots and SlotShape.DATA in turn.slot_shapes:
        parts += (data_part(turn.slots),)
    return parts


def _metadata(turn: Turn) -> Mapping[str, Json]:
    if turn.slots and SlotShape.METADATA in turn.slot_shapes:
        return in_metadata(turn.metadata, turn.slots)
    return dict(turn.metadata)


CONTEXT_HEADER = "X-A2A-Context-Id"
ACCEPT_JSON: Headers = (("Accept", "application/json"),)

_PURPOSES = {
    Operation.SEND: Purpose.SEND,
    Operation.STREAM: Purpose.STREAM,
    Operation.GET: Purpose.GET,
    Operation.CANCEL: Purpose.CANCEL,
    Operation.RESUBSCRIBE: Purpose.RESUBSCRIBE,
}


@dataclass(frozen=True, slots=True)
class AgentRequest:
    """What an operation asks of the agent, and the headers that go with it."""

    operation: Operation
    ask: Ask
    request_id: str
    headers: Headers = ()
    is_replay: bool = False

    @property
    def purpose(self) -> Purpose:
        return _PURPOSES[self.operation]

    def outgoing(self, endpoint: Endpoint, credentials: Headers) -> Outgoing:
        """Credentials, those of the turn's headers included, stay with the card's origin."""
        extra = self.headers
        if endpoint.is_trusted:
            extra += credentials
        else:
            extra = tuple(one for one in extra if one[0].lower() not in SECRET_HEADERS)
        dialect = dialect_of(endpoint)
        outgoing = dialect.encode(
            self.operation, self.ask, url=endpoint.url, request_id=self.request_id
        )
        headers = overlay(outgoing.headers, extra)
        return replace(
            outgoing,
            headers=headers,
            endpoint=replace(endpoint, findings=()),
            is_replay=self.is_replay,
        )


_OPERATIONS = {
    GetTask: Operation.GET,
    CancelTask: Operation.CANCEL,
    Resubscribe: Operation.RESUBSCRIBE,
}


def request_of(command: GetTask | CancelTask | Resubscribe, request_id: str) -> AgentRequest:
    """The request about a task; its context routes it to the replica that has it."""
    history_length = command.history_length if isinstance(command, GetTask) else None
    ask = Ask(task_id=command.task_id, history_length=history_length)
    operation = _OPERATIONS[type(command)]
    is_replay = isinstance(command, CancelTask) and command.is_replay
    return AgentRequest(operation, ask, request_id, routing(command.context_id), is_replay)


def request_of_turn(
    turn: Turn,
    dialect: Dialect,
    *,
    request_id: str,
    message_id: str,
    callback: Callback | None = None,
) -> AgentRequest:
    """The request that sends `turn`; a raw body says what it asks for, where that is known."""
    operation = operation_of(turn)
    if turn.raw is not None:
        asked = dialect.read_request(turn.raw).operation
        operation = asked if asked is not None and asked in _PURPOSES else operation
    ask = compose(turn, message_id, callback)
    return AgentRequest(operation, ask, request_id, turn.headers, turn.is_replay)


def unmasked(command: CommandT, redactor: Redactor) -> CommandT:
    """`command` with the ids of which the log, and so its views, know only the masks.

    Raises:
        UsageError: a mask hides an id that this session never saw.
    """

    def real(id: str | None) -> str | None:
        found = redactor.original(id) if id else id
        if found is None and id is not None:
            raise UsageError(
                f"the id {id!r} is masked: it holds a secret, which no saved session keeps",
                "begin a new context, or give the id",
            )
        return found

    match command:
        case SendTurn(turn):
            raw = None if turn.raw is None else redactor.restored(turn.raw)
            headers = tuple(
                (name, real(value) or "") if name == CONTEXT_HEADER else (name, value)
                for name, value in turn.headers
            )
            context_id, task_id = real(turn.context_id), real(turn.task_id)
            turn = replace(turn, context_id=context_id, task_id=task_id, raw=raw, headers=headers)
            return replace(command, turn=turn)
        case GetTask() | CancelTask() | Resubscribe():
            task_id, context_id = real(command.task_id) or "", real(command.context_id)
            return replace(command, task_id=task_id, context_id=context_id)


def routing(context_id: str | None) -> Headers:
    """The header that routes a call without a contextId to the replica that has the context.

    An agent may give contexts ids that no header can hold; such a call goes without.
    """
    if not context_id or not is_header_value(context_id):
        return ()
    return ((CONTEXT_HEADER, context_id),)


def is_header_value(text: str) -> bool:
    """Whether a header can hold `text` for sure: printable ASCII (RFC 9110 §5.5)."""
    return text.isascii() and text.isprintable()


def overlay(headers: Headers, others: Headers) -> Headers:
    """`headers` and `others`, which take the place of those with the same names."""
    named = {name.lower() for name, _ in others}
    return tuple(one for one in headers if one[0].lower() not in named) + others


TURNS = frozenset({Purpose.SEND, Purpose.STREAM})

# What dialects write themselves.
_OF_DIALECT = frozenset({"content-type", "accept"})


def read_sent_turn(request: RequestSent, *, as_sent: bool = False) -> Turn:
    """The turn that `request` sent; header values that the log masks are left out.

    To be shown or copied it is masked as the log is; `as_sent` it is as it went out.

    Raises:
        UsageError: it is wanted `as_sent`, and only the masks of a saved session are left of it.
    """
    if as_sent and request.is_masked:
        raise UsageError(
            "this turn held a secret, which no saved session keeps", "write it again to send it"
        )
    dialect = dialect_of(request.endpoint)
    body = request.sent_body if as_sent else request.body
    sent = dialect.read_request(body)
    follow = _read_follow(request.purpose, sent.ask)
    turn = _read_turn(sent.ask, follow, dialect)
    # where notifications go is the session's to say, anew for each task
    callback = sent.ask.callback
    # an id of another type is the user's own, and to be sent again as it is
    id = sent.id if isinstance(sent.id, str) else ""
    ask = compose(turn, "", callback)
    again = dialect.encode(operation_of(turn), ask, url=request.url, request_id=id).body
    if again != body:
        turn = Turn(turn.text, context_id=turn.context_id, message_id=turn.message_id, raw=body)
    is_pushed = callback is not None and turn.raw is None
    also = frozenset({Also.PUSH}) if is_pushed else frozenset[Also]()
    return replace(turn, follow=follow, also=also, headers=_own_headers(request.headers))


def _read_turn(ask: Ask, follow: FollowMode, dialect: Dialect) -> Turn:
    message = ask.message or Message()
    parts = message.parts
    slots, shapes = _read_slots(ask, dialect)
    metadata = message.metadata
    if SlotShape.METADATA in shapes:
        metadata = {name: value for name, value in metadata.items() if name != "slots"}
    if SlotShape.DATA in shapes:
        parts = parts[:-1]
    text = ""
    if parts and (first := parts[0].text) is not None:
        text, parts = _without_markers(first, slots, shapes), parts[1:]
    return Turn(
        text,
        slots=slots,
        slot_shapes=shapes or (SlotShape.METADATA,),
        context_id=message.context_id,
        message_id=message.message_id,
        task_id=message.task_id,
        metadata=metadata,
        parts=parts,
        history_length=ask.history_length,
        accepted_output_modes=ask.accepted_output_modes,
        follow=follow,
    )


def _read_slots(ask: Ask, dialect: Dialect) -> tuple[dict[str, Json], tuple[SlotShape, ...]]:
    """The slots of the strongest place, and the shapes of all places that hold just the same."""
    found = [seeding for seeding in seedings(ask) if seeding.slots]
    if not found:
        return {}, ()
    slots = found[-1].slots
    same = {seeding.shape for seeding in found if encode_json(seeding.slots) == encode_json(slots)}
    last = ask.message.parts[-1:] if ask.message is not None else ()
    if not last or dialect.write_part(last[0]) != dialect.write_part(data_part(slots)):
        same.discard(SlotShape.DATA)
    shapes = tuple(shape for shape in SlotShape if shape in same)
    return (slots, shapes) if shapes else ({}, ())


def _without_markers(text: str, slots: dict[str, Json], shapes: tuple[SlotShape, ...]) -> str:
    """`text` before `slots` were written into it; what the user wrote there stays."""
    # they were added in the order of SlotShape, so the last one comes off first
    for shape, add in ((SlotShape.FENCE, add_fence), (SlotShape.LINE, add_line)):
        if shape in shapes:
            marker = add("", slots)
            text = text.removesuffix(marker).removesuffix("\n") if text.endswith(marker) else text
    return text


def _read_follow(purpose: Purpose, ask: Ask) -> FollowMode:
    if purpose is Purpose.STREAM:
        return FollowMode.STREAM
    return FollowMode.NO_BLOCKING if ask.is_blocking is False else FollowMode.BLOCKING


def _own_headers(headers: Headers) -> Headers:
    """What the user gave the turn, without what the app, a dialect or the transport adds to it."""
    return tuple(
        (name, value)
        for name, value in headers
        if not is_written_by_transport(name, value)
        and name.lower() not in _OF_DIALECT
        and (name, value) != WANTS_TRACE
        and MASK not in value
    )
