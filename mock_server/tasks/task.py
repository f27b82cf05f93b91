"""A2A tasks and messages as the mock holds them, free of any protocol version's spelling."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.model import Json, coerce_bounded
from mock_server.errors import IllegalTransition, InvalidSlotValue
from mock_server.records import record
from mock_server.tasks.json_text import parse_json


class TaskState(StrEnum):
    """Spelt as in the DataPart; the wire has its own spelling (server.md OUT-3)."""

    SUBMITTED = "submitted"
    WORKING = "working"
    INPUT_REQUIRED = "input_required"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELED = "canceled"
    REJECTED = "rejected"
    AUTH_REQUIRED = "auth_required"

    @property
    def is_terminal(self) -> bool:
        return self in TERMINAL_STATES


TERMINAL_STATES = frozenset(
    {TaskState.COMPLETED, TaskState.FAILED, TaskState.CANCELED, TaskState.REJECTED}
)


class Role(StrEnum):
    USER = "user"
    AGENT = "agent"


@record
class TextPart:
    text: str
    metadata: Mapping[str, Json] | None = None


@record
class DataPart:
    data: Mapping[str, Json]
    metadata: Mapping[str, Json] | None = None


@record
class FilePart:
    """`file` as it came: `uri` or base64 `bytes`, `name`, `mimeType`; the mock never opens it."""

    file: Mapping[str, Json]
    metadata: Mapping[str, Json] | None = None


Part: TypeAlias = TextPart | DataPart | FilePart


@record
class Message:
    """`context_id` and `task_id` are None where a client left them out."""

    message_id: str
    role: Role
    parts: tuple[Part, ...]
    context_id: str | None = None
    task_id: str | None = None
    metadata: Mapping[str, Json] | None = None
    extensions: tuple[str, ...] | None = None
    reference_task_ids: tuple[str, ...] | None = None


@record
class Status:
    """`timestamp` is UTC; a task that only was submitted has none, as a2a-sdk 0.3.26 sends it."""

    state: TaskState
    timestamp: datetime | None = None
    message: Message | None = None


@record
class Artifact:
    artifact_id: str
    parts: tuple[Part, ...]
    name: str | None = None


@record
class Task:
    id: str
    context_id: str
    status: Status
    history: tuple[Message, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    metadata: Mapping[str, Json] = field(default_factory=dict[str, Json])


@record
class StatusUpdate:
    """`is_final`: nothing follows it in this turn (A2A 0.3 `final`)."""

    status: Status
    is_final: bool = False


@record
class ArtifactUpdate:
    """`appends` adds the parts to the artifact of that id, else they replace it."""

    artifact: Artifact
    appends: bool = False
    is_last_chunk: bool = False


Update: TypeAlias = StatusUpdate | ArtifactUpdate


def submitted(task_id: str, context_id: str, message: Message) -> Task:
    """The task that `message` opens; one that it names is a task before it."""
    stamped = replace(message, task_id=task_id, context_id=context_id)
    return Task(
        id=task_id,
        context_id=context_id,
        status=Status(TaskState.SUBMITTED),
        history=(stamped,),
        metadata={"previousTaskId": message.task_id} if message.task_id else {},
    )


def continued(task: Task, message: Message, at: datetime) -> Task:
    """Return `task` as it goes on with `message`; what it asked moves to the history."""
    asked = (task.status.message,) if task.status.message else ()
    stamped = replace(message, task_id=task.id, context_id=task.context_id)
    return replace(
        task, status=Status(TaskState.WORKING, at), history=(*task.history, *asked, stamped)
    )


def apply(task: Task, update: Update) -> Task:
    """Return `task` after `update`; a status message that is replaced moves to the history.

    Raises:
        IllegalTransition: `task` is already terminal.
    """
    if task.status.state.is_terminal:
        raise IllegalTransition(task.id, task.status.state)
    match update:
        case StatusUpdate(status=status):
            replaced = (task.status.message,) if task.status.message else ()
            history = (*task.history, *replaced)
            # Two of these a turn: `replace` would take five times as long.
            return Task(task.id, task.context_id, status, history, task.artifacts, task.metadata)
        case ArtifactUpdate():
            return replace(task, artifacts=_with_artifact(task.artifacts, update))


def _with_artifact(artifacts: tuple[Artifact, ...], update: ArtifactUpdate) -> tuple[Artifact, ...]:
    new = update.artifact
    ids = [artifact.artifact_id for artifact in artifacts]
    if new.artifact_id not in ids:
        return (*artifacts, new)
    place = ids.index(new.artifact_id)
    if update.appends:
        new = replace(artifacts[place], parts=(*artifacts[place].parts, *new.parts))
    return (*artifacts[:place], new, *artifacts[place + 1 :])


@dataclass(frozen=True, slots=True)
class PushAuthentication:
    """How the callback knows us; the first of `schemes` is used."""

    schemes: tuple[str, ...]
    credentials: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class PushConfig:
    """`id` is None until it is registered; a URL may hold a secret, so none of it is shown."""

    url: str = field(repr=False)
    id: str | None = None
    token: str | None = field(default=None, repr=False)
    authentication: PushAuthentication | None = None


SLOTS_MARKER = "SLOTS:"
SLOTS_LINE = re.compile(r"^[ \t]*" + SLOTS_MARKER + r"[ \t]*(\{.*\})[ \t]*\r?$\n?", re.MULTILINE)
FENCE = "```json"
NULL_WORDS = frozenset({"none", "null", "undefined"})
SLOTS_KEY = "slots"

Slots = Mapping[str, Json]


@record
class Reading:
    """`message` has its markers stripped; `slots` are raw, the winners of the total order."""

    message: Message
    text: str
    slots: Slots
    carries_slots: bool
    metadata: Slots


@record
class Seeds:
    """Slots ready to be written, and those whose value the slot does not admit (SLOT-3)."""

    slots: tuple[tuple[str, Json], ...]
    skipped: tuple[InvalidSlotValue, ...]


def read(message: Message, request_metadata: Slots | None = None) -> Reading:
    """Separate what the user said from what the orchestrator brings."""
    in_lines: list[Slots] = []
    in_fences: list[Slots] = []
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, TextPart):
            text = _strip_fence(_strip_lines(part.text, in_lines), in_fences)
            if text == part.text:
                parts.append(part)
            elif text:
                parts.append(replace(part, text=text))
        else:
            parts.append(part)
    sources = [
        *in_lines,
        *in_fences,
        *_in_metadata(request_metadata),
        *_in_metadata(message.metadata),
    ]
    data_parts = [part for part in message.parts if isinstance(part, DataPart)]
    sources += [slots for part in data_parts for slots in _in_metadata(part.data)]
    metadata = message.metadata or {}
    kept = tuple(parts)
    return Reading(
        message=message if kept == message.parts else replace(message, parts=kept),
        text="\n".join(part.text for part in parts if isinstance(part, TextPart)),
        slots={name: value for source in sources for name, value in source.items()},
        carries_slots=any(sources),
        metadata={key: value for key, value in metadata.items() if key != SLOTS_KEY},
    )


def seeds(assistant: Assistant, slots: Slots) -> Seeds:
    """Return `slots` as the domain admits them; names that are not the domain's are left out."""
    admitted: list[tuple[str, Json]] = []
    skipped: list[InvalidSlotValue] = []
    for name, value in slots.items():
        slot = assistant.slots.get(name)
        if slot is None or slot.is_builtin:
            continue
        try:
            admitted.append((name, coerce_bounded(slot, _or_null(value))))
        except InvalidSlotValue as problem:
            skipped.append(problem)
    return Seeds(tuple(admitted), tuple(skipped))


def _strip_lines(text: str, found: list[Slots]) -> str:
    if SLOTS_MARKER not in text:
        return text

    def take(line: re.Match[str]) -> str:
        slots = _slots_of(line[1])
        if slots is None:
            return line[0]
        found.append(slots)
        return ""

    stripped = SLOTS_LINE.sub(take, text)
    return text if stripped == text else stripped.strip()


def _strip_fence(text: str, found: list[Slots]) -> str:
    start = text.rfind(FENCE)
    trailing = text[start + len(FENCE) :].rstrip()
    if start < 0 or not trailing.endswith("```"):
        return text
    slots = _slots_of(trailing.removesuffix("```"))
    if slots is None:
        return text
    found.append(slots)
    return text[:start].strip()


def _slots_of(text: str) -> Slots | None:
    try:
        value = parse_json(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _in_metadata(metadata: Slots | None) -> list[Slots]:
    slots = (metadata or {}).get(SLOTS_KEY)
    return [slots] if isinstance(slots, dict) else []


def _or_null(value: Json) -> Json:
    is_null_word = isinstance(value, str) and value.strip().casefold() in NULL_WORDS
    return None if is_null_word else value
