"""Log lines on stderr: for people, or one JSON object a line (server.md LOG-1).

An event's name says what happened, its fields where: docs/reference/log-events.md lists them all.
Whatever else writes through `logging`, uvicorn above all, comes out in the same form.
"""

import json
import logging
import re
from collections.abc import Generator
from contextlib import contextmanager
from enum import StrEnum
from queue import SimpleQueue
from threading import Thread
from typing import TextIO

import structlog
from structlog.stdlib import BoundLogger, ProcessorFormatter
from structlog.typing import EventDict, Processor, WrappedLogger

# Texts that look like a credential, hidden in case a secret is ever logged.
CREDENTIALS = re.compile(
    r"\beyJ[\w-]+\.[\w-]+\.[\w-]*"  # a JWT
    r"|(?i:(?<=bearer )|(?<=basic ))[\w.~+/=-]{8,}"  # an Authorization header
    r"|(?<=://)[^\s/@]*:[^\s/@]*(?=@)"  # user and password of a URL
    r"|(?<=[?&]token=)[^\s&#]+"  # Rasa's own token
)
MASK = "[hidden]"
MAX_UNWRITTEN = 2000
CLOSE_SECONDS = 5.0
# Libraries log warnings and errors only.
OWN_LOGGER = "a2a_server"
HEADER = frozenset({"timestamp", "level", "event", "exception"})
NEEDS_QUOTES = frozenset(" '\"=\\")


class LogFormat(StrEnum):
    TEXT = "text"
    JSON = "json"


def configure_logging(stream: TextIO, log_format: LogFormat = LogFormat.TEXT) -> None:
    """Send every log line of this process to `stream`."""
    route_events()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(line_formatter(log_format))
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.captureWarnings(True)
    logging.getLogger(OWN_LOGGER).setLevel(logging.INFO)


class _Background(logging.Handler):
    """Has `handler` write in a thread; past MAX_UNWRITTEN lines, later ones are lost."""

    def __init__(self, handler: logging.Handler) -> None:
        super().__init__()
        self._handler = handler
        self._unwritten: SimpleQueue[logging.LogRecord | None] = SimpleQueue()
        self._thread = Thread(target=self._write, name="log", daemon=True)
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        if self._unwritten.qsize() < MAX_UNWRITTEN:
            self._unwritten.put(record)

    def _write(self) -> None:
        while record := self._unwritten.get():
            self._handler.handle(record)

    def close(self) -> None:
        """Wait for what is not written yet, but not for a reader that takes nothing."""
        self._unwritten.put(None)
        self._thread.join(CLOSE_SECONDS)
        super().close()


@contextmanager
def logging_in_background() -> Generator[None]:
    """Let no line of the log wait for whoever reads stderr: a full pipe would stop every turn."""
    root = logging.getLogger()
    (direct,) = root.handlers
    background = _Background(direct)
    root.handlers = [background]
    try:
        yield
    finally:
        root.handlers = [direct]
        background.close()


def route_events() -> None:
    """Hand structlog's events to `logging`, as records that `line_formatter` can write."""
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.stdlib.add_log_level,
            ProcessorFormatter.wrap_for_formatter,
        ],
        wrapper_class=BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
    )


def line_formatter(log_format: LogFormat) -> logging.Formatter:
    """The formatter of our events, and of records from elsewhere."""
    shared: list[Processor] = [
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    writer = _write_text if log_format is LogFormat.TEXT else _write_json
    return ProcessorFormatter(
        processors=[*shared, ProcessorFormatter.remove_processors_meta, _hide_credentials, writer],
    )


def _hide_credentials(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    return {
        key: CREDENTIALS.sub(MASK, value) if isinstance(value, str) else value
        for key, value in event.items()
    }


def _write_text(_: WrappedLogger, __: str, event: EventDict) -> str:
    """`time level event key=value …`; foreign text can neither end a line nor colour it."""
    trace = event.get("exception")
    head = f"{event['timestamp']} {event['level']:<8}{_single_line(event['event'])}"
    fields = [f"{key}={_quoted(value)}" for key, value in event.items() if key not in HEADER]
    return " ".join([head, *fields]) + (f"\n{trace}" if trace else "")


def _quoted(value: object) -> str:
    text = str(value)
    is_plain = text.isprintable() and not NEEDS_QUOTES.intersection(text)
    return text if text and is_plain else repr(text)


def _single_line(text: object) -> str:
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in str(text))


def _write_json(_: WrappedLogger, __: str, event: EventDict) -> str:
    first = {key: event[key] for key in ("timestamp", "level", "event")}
    return json.dumps({**first, **event}, default=str)
