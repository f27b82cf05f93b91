"""The seam between what the inspector does and how one generation of A2A writes it.

A dialect is one version of the protocol over one binding. It encodes what an operation asks and
reads what comes back into the types below; whatever uses these knows no word of the wire.
"""

import base64
import binascii
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, Protocol, TypeAlias, TypeVar, overload

from inspector.wire.findings import Finding
from inspector.wire.json_values import Json

Headers: TypeAlias = tuple[tuple[str, str], ...]
T = TypeVar("T")


class Operation(StrEnum):
    """What can be asked of an agent, in any version and over any binding."""

    SEND = "send"
    STREAM = "stream"
    GET = "get"
    LIST = "list"
    CANCEL = "cancel"
    RESUBSCRIBE = "resubscribe"
    PUSH_SET = "push-set"
    PUSH_GET = "push-get"
    PUSH_LIST = "push-list"
    PUSH_DELETE = "push-delete"
    CARD = "card"
    EXTENDED_CARD = "extended-card"


class Binding(StrEnum):
    """How operations travel, as a card spells it."""

    JSONRPC = "JSONRPC"
    GRPC = "GRPC"
    HTTP_JSON = "HTTP+JSON"

    @property
    def flag(self) -> str:
        """Its name in flags and in what the commands print (cli.md)."""
        return {Binding.JSONRPC: "jsonrpc", Binding.GRPC: "grpc", Binding.HTTP_JSON: "rest"}[self]

    @property
    def label(self) -> str:
        """Its name in a sentence."""
        return {Binding.JSONRPC: "JSON-RPC", Binding.GRPC: "gRPC"}.get(self, self.value)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where an agent is called and in which dialect; `reason` says why there and so.

    `is_trusted`: credentials may go to its origin. `findings` are what is odd about it.
    """

    url: str
    version: str
    binding: Binding
    reason: str = ""
    is_trusted: bool = True
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A request to make; the transport adds the headers that HTTP itself needs.

    `endpoint` is the agent's, where the request is one of its protocol's; `is_replay`: it is made
    by a live replay; `redirected_from` is the exchange whose answer sent it on.
    """

    method: str
    url: str
    headers: Headers = ()
    body: bytes = b""
    endpoint: Endpoint | None = None
    is_replay: bool = False
    redirected_from: int | None = None


class OnDemand(Sequence[T], Generic[T]):
    """What `raw` holds, read when somebody looks: at one item, or once at all of them."""

    __slots__ = ("_raw", "_read", "_whole")

    def __init__(self, raw: Sequence[Json], read: Callable[[Json], T]) -> None:
        self._raw = raw
        self._read = read
        self._whole: tuple[T, ...] | None = None

    def __len__(self) -> int:
        return len(self._raw)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...
    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        if isinstance(index, slice):
            return tuple(map(self._read, self._raw[index]))
        return self._read(self._raw[index]) if self._whole is None else self._whole[index]

    def __iter__(self) -> Iterator[T]:
        if self._whole is None:
            self._whole = tuple(map(self._read, self._raw))
        return iter(self._whole)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OnDemand | tuple):
            return NotImplemented
        return tuple(self) == tuple(other)  # pyright: ignore[reportUnknownArgumentType]: any items

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


# What messages hold


@dataclass(frozen=True, slots=True)
class File:
    """A file in a part: `encoded` is its content in Base64, `uri` where else it is."""

    name: str | None
    media_type: str | None
    encoded: str | None = None
    uri: str | None = None

    @property
    def size_bytes(self) -> int:
        """The size of the content, counted without decoding it."""
        encoded = self.encoded or ""
        return len(encoded) * 3 // 4 - encoded[-2:].count("=")

    def content(self) -> bytes:
        """The file itself.

        Raises:
            ValueError: it is not Base64.
        """
        try:
            return base64.b64decode(self.encoded or "", validate=True)
        except binascii.Error as error:
            raise ValueError(f"the file {self.name!r} is not Base64: {error}") from error

    @property
    def safe_name(self) -> str:
        """A name for this machine: no folder, nothing hidden, letters that every system knows."""
        last = (self.name or "").replace("\\", "/").rsplit("/", 1)[-1]
        kept = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in last)
        return kept.lstrip(".")[:100] or "unnamed"


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a message or an artifact. `label` is the dialect's word for its sort.

    `raw` is the part as it stands on the wire; None for one that no dialect has written yet.
    """

    text: str | None = None
    data: Json = None
    has_data: bool = False
    file: File | None = None
    label: str = "part"
    raw: Json = None


def files(parts: Iterable[Part]) -> tuple[File, ...]:
    """The files of `parts`."""
    return tuple(part.file for part in parts if part.file is not None)


def texts(parts: Iterable[Part]) -> tuple[str, ...]:
    """The texts of `parts`."""
    return tuple(part.text for part in parts if part.text is not None)


def data_parts(parts: Iterable[Part]) -> tuple[Json, ...]:
    """The contents of the DataParts among `parts`."""
    return tuple(part.data for part in parts if part.has_data)


# What is asked


@dataclass(frozen=True, slots=True)
class Message:
    """A message of the user's."""

    parts: tuple[Part, ...] = ()
    message_id: str | None = None
    context_id: str | None = None
    task_id: str | None = None
    metadata: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True)
class Callback:
    """Where notifications go; `raw` is the whole configuration where it came from the wire."""

    url: str
    token: str | None = None
    raw: Mapping[str, Json] | None = None


@dataclass(frozen=True, slots=True)
class Ask:
    """What an operation asks, without the words of any dialect. None leaves a field out.

    `raw` is a whole body that goes out byte for byte in the place of everything else.
    """

    message: Message | None = None
    task_id: str | None = None
    metadata: Mapping[str, Json] = field(default_factory=dict[str, Json])
    history_length: int | None = None
    accepted_output_modes: tuple[str, ...] = ()
    is_blocking: bool | None = None
    callback: Callback | None = None
    raw: bytes | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """A request read back from its bytes, whatever they are.

    `operation` is None where it asks for none that is known, `method` is the dialect's word.
    """

    id: Json = None
    operation: Operation | None = None
    method: str | None = None
    ask: Ask = Ask()


# What comes back


class ResultKind(StrEnum):
    TASK = "task"
    MESSAGE = "message"
    STATUS_UPDATE = "status-update"
    ARTIFACT_UPDATE = "artifact-update"
    PUSH_CONFIG = "push-config"
    UNKNOWN = "unknown"


# what reports on a task
TASK_KINDS = frozenset(
    {ResultKind.TASK, ResultKind.MESSAGE, ResultKind.STATUS_UPDATE, ResultKind.ARTIFACT_UPDATE}
)


@dataclass(frozen=True, slots=True)
class ArtifactChunk:
    """One artifact, or a piece to append to it."""

    artifact_id: str
    name: str
    parts: Sequence[Part]
    is_append: bool
    is_last: bool


@dataclass(frozen=True, slots=True)
class Result:
    """What a reply or a notification reports on a task.

    `kind` is a ResultKind, or the wire's own word where it is none. `state` is one of
    `states.STATES`, or the wire's spelling where the dialect knows no such state; `spelling` is
    always the wire's. `is_final` means that nothing more will come of this exchange.
    `timestamp_ms` is the agent's own time of the status, since 1970 UTC.
    """

    kind: str
    task_id: str | None
    context_id: str | None
    state: str | None = None
    is_final: bool = False
    message_id: str | None = None
    parts: Sequence[Part] = ()
    artifacts: Sequence[ArtifactChunk] = ()
    timestamp_ms: float | None = None
    spelling: str | None = None


class ErrorReason(StrEnum):
    """What the errors mean that a specification names."""

    PARSE_ERROR = "parse-error"
    METHOD_NOT_FOUND = "method-not-found"
    INVALID_PARAMS = "invalid-params"
    TASK_NOT_FOUND = "task-not-found"
    TASK_NOT_CANCELABLE = "task-not-cancelable"
    PUSH_NOT_SUPPORTED = "push-not-supported"
    UNSUPPORTED_OPERATION = "unsupported-operation"
    CONTENT_TYPE_NOT_SUPPORTED = "content-type-not-supported"


@dataclass(frozen=True, slots=True)
class AgentError:
    code: int | None
    message: str
    data: Json = None
    reason: ErrorReason | None = None

    @property
    def name(self) -> str:
        """How a sentence names it."""
        return "an error without a code" if self.code is None else f"error {self.code}"

    @property
    def text(self) -> str:
        """The code, where there is one, and the message."""
        return self.message if self.code is None else f"{self.code} {self.message}"


@dataclass(frozen=True, slots=True)
class Reply:
    """A body or an event as its dialect reads it.

    `problem` says why it is no reply at all; otherwise `error` or `result` is there. `envelope`
    is all of it and `payload` what stands for the result, both as received. A silent one is an
    event without data, such as a keep-alive; one that is not terminated was cut off.
    """

    envelope: Json
    payload: Json = None
    result: Result | None = None
    error: AgentError | None = None
    problem: str = ""
    warning: str = ""
    is_silent: bool = False
    is_terminated: bool = True


@dataclass(frozen=True, slots=True)
class Notification:
    """`problem` says why a body is no notification; otherwise `result` is there.

    `wrapper` is the member that held the result, "" for a bare one. `warning` names what is not
    JSON and was read as text.
    """

    value: Json
    result: Result | None = None
    problem: str = ""
    wrapper: str = ""
    warning: str = ""


@dataclass(frozen=True, slots=True)
class Sections:
    """The sections of a specification that findings about replies quote."""

    task: str
    status: str
    task_state: str
    stream: str
    status_update: str
    artifact_update: str
    streaming: str
    transport: str
    push: str


@dataclass(frozen=True, slots=True)
class CardSections:
    """The sections of a specification that findings about cards quote."""

    card: str
    discovery: str
    tls: str
    credentials: str
    url: str
    interfaces: str
    transports: str
    security: str
    skills: str


class Dialect(Protocol):
    """One version of A2A over one binding: bytes on one side, the types above on the other."""

    @property
    def version(self) -> str: ...

    @property
    def binding(self) -> Binding: ...

    @property
    def name(self) -> str:
        """The specification, as findings and messages name it: `A2A 0.3`."""
        ...

    @property
    def sections(self) -> Sections: ...

    def encode(self, operation: Operation, ask: Ask, *, url: str, request_id: str) -> Outgoing:
        """The request that asks for `operation` at the endpoint's `url`."""
        ...

    def compact(self, body: bytes) -> bytes:
        """The request in `body` as `encode` lays it out, where that says the same."""
        ...

    def readdress(
        self,
        body: bytes,
        *,
        request_id: str,
        context_id: str,
        message_id: str | None,
        task_id: str | None,
    ) -> bytes:
        """The request in `body` with other ids; it waits for its answer and has no callback."""
        ...

    def read_request(self, body: bytes) -> Request:
        """The request in `body`, as far as it can be read."""
        ...

    def read(self, raw: bytes, of: Operation | None, *, is_event: bool = False) -> Reply:
        """The reply in a body or, where `is_event`, in one event of a stream; never raises."""
        ...

    def check(self, reply: Reply, request: Request) -> tuple[Finding, ...]:
        """What is wrong with a reply to `request`, taken by itself."""
        ...

    def wrong_answer(self, reply: Reply, of: Operation | None) -> str:
        """What `reply` holds in the place of what `of` asks for; "" where it may be an answer."""
        ...

    def cause_of_wrong_answer(self, reply: Reply) -> str:
        """Why an agent may answer like this."""
        ...

    def read_notification(self, body: bytes) -> Notification: ...

    def check_notification(self, notification: Notification) -> tuple[Finding, ...]: ...

    def read_part(self, raw: Json) -> Part | None:
        """`raw` as a part; None where it is not one."""
        ...

    @property
    def lacks_as_part(self) -> str:
        """What an object that is no part lacks: "without …"."""
        ...

    @property
    def part_example(self) -> str: ...

    def write_part(self, part: Part) -> Json:
        """`part` as it stands on the wire."""
        ...

    def describe(self, ask: Ask) -> Mapping[str, Json]:
        """What goes out for `ask`, by the place on the wire that holds it."""
        ...
