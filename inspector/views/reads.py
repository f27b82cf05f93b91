"""An entry of the log as the views get it: parsed and checked.

A `Read` holds the parsed payload only until the views have taken from it what they keep; the
bytes stay in the log's entries.
"""

from dataclasses import dataclass
from typing import TypeAlias

from inspector.core.decoding import ReplyReader, Source
from inspector.core.entries import (
    ASIDE,
    Failed,
    FrameReceived,
    Purpose,
    PushReceived,
    RequestSent,
    ResponseEnded,
    ResponseStarted,
)
from inspector.wire.dialect import Ask, Dialect, Reply, Request, Result
from inspector.wire.endpoints import DEFAULT
from inspector.wire.findings import Finding
from inspector.wire.progress import Progress

STREAMS = frozenset({Purpose.STREAM, Purpose.RESUBSCRIBE})
STARTS_TASK = frozenset({Purpose.SEND, Purpose.STREAM})


@dataclass(frozen=True, slots=True)
class Call:
    """An exchange under way. `request` holds no ask any more; `task_id` is the task it named.

    `callback` is where notifications of its task come in; "" where they were not asked for.
    `redirected_from` is the exchange that it goes on from; `is_redirect` says that another one goes
    on from it.
    """

    exchange: int
    purpose: Purpose
    asked_ms: float
    request: Request
    task_id: str | None
    context_id: str | None
    message_id: str | None
    registers: bool
    progress: Progress
    status: int | None = None
    has_frame: bool = False
    has_reply: bool = False
    callback: str = ""
    is_replay: bool = False
    redirected_from: int | None = None
    is_redirect: bool = False
    dialect: Dialect = DEFAULT

    @property
    def reader(self) -> ReplyReader:
        """How its replies are read."""
        return ReplyReader(self.dialect, self.request.operation)

    @property
    def is_aside(self) -> bool:
        """No part of the conversation, as a replay of it is none."""
        return self.purpose in ASIDE or self.is_replay

    @property
    def is_stream(self) -> bool:
        return self.purpose in STREAMS


@dataclass(frozen=True, slots=True)
class Asked:
    """A request; `ask` is empty beside the conversation."""

    entry: RequestSent
    call: Call
    ask: Ask

    @property
    def raw_body(self) -> str:
        """What a turn is in words where it holds no message: then the user wrote its body."""
        if self.ask.message is not None:
            return ""
        method = self.call.request.method
        return f"raw body: {method}" if method else "raw body without a method"


@dataclass(frozen=True, slots=True)
class Began:
    """The head of a response."""

    entry: ResponseStarted
    call: Call
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Received:
    """A body or an event; `reply` is None for a keep-alive, `result` for what brought none.

    `is_news`: no other channel has already reported a later moment.
    """

    entry: FrameReceived
    call: Call
    reply: Reply | None
    result: Result | None
    findings: tuple[Finding, ...]
    is_news: bool

    @property
    def source(self) -> Source:
        """Where its result can be read again."""
        return Source(self.entry, self.call.reader)


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of an exchange, whichever it was."""

    entry: ResponseEnded | Failed
    call: Call
    findings: tuple[Finding, ...]

    @property
    def is_redirect(self) -> bool:
        """The request goes on in another exchange: what it began is not over."""
        return self.call.is_redirect and isinstance(self.entry, ResponseEnded)


@dataclass(frozen=True, slots=True)
class Pushed:
    """A notification. `result` is None where `problem` says why; news only if it was accepted.

    `turn` is the exchange under way whose task it is about, as its callback says.
    """

    entry: PushReceived
    result: Result | None
    problem: str
    findings: tuple[Finding, ...]
    is_news: bool
    turn: int | None = None

    @property
    def source(self) -> Source:
        """Where its result can be read again."""
        return Source(self.entry)


Read: TypeAlias = Asked | Began | Received | Ended | Pushed


def header(response: ResponseStarted, name: str) -> str:
    return next((value for key, value in response.headers if key.lower() == name), "")
