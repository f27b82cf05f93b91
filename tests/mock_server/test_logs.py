"""What a log line looks like, and what never gets into one."""

import io
import json
import logging
import re
from collections.abc import Generator
from pathlib import Path
from threading import Event

import pytest
import structlog

from mock_server.logs import (
    MAX_UNWRITTEN,
    LogFormat,
    configure_logging,
    logging_in_background,
)

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJvcmNoZXN0cmF0b3IifQ.c2lnbmF0dXJl"


@pytest.fixture
def stream() -> Generator[io.StringIO]:
    """What is logged, with the logging of the whole suite restored afterwards."""
    root = logging.getLogger()
    handlers, level, configured = [*root.handlers], root.level, structlog.get_config()
    for handler in handlers:
        root.removeHandler(handler)
    yield io.StringIO()
    for handler in [*root.handlers]:
        root.removeHandler(handler)
    for handler in handlers:
        root.addHandler(handler)
    root.setLevel(level)
    structlog.configure(**configured)


def line_of(stream: io.StringIO, log_format: LogFormat, event: str, **fields: object) -> str:
    configure_logging(stream, log_format)
    structlog.stdlib.get_logger("a2a_server").warning(event, **fields)
    return stream.getvalue()


@pytest.mark.req("LOG-1")
def test_text_line_has_time_level_event_and_fields(stream: io.StringIO) -> None:
    line = line_of(stream, LogFormat.TEXT, "a2a_server.x.y", context_id="c1", count=3, text="a b")
    time, _, rest = line.partition(" ")
    assert time.endswith("Z")
    assert rest == "warning a2a_server.x.y context_id=c1 count=3 text='a b'\n"


@pytest.mark.req("LOG-1")
def test_json_line_is_one_object(stream: io.StringIO) -> None:
    line = line_of(stream, LogFormat.JSON, "a2a_server.x.y", context_id="c1", seconds=0.5)
    entry = json.loads(line)
    assert [*entry][:3] == ["timestamp", "level", "event"]
    assert (entry["event"], entry["level"]) == ("a2a_server.x.y", "warning")
    assert (entry["context_id"], entry["seconds"]) == ("c1", 0.5)


@pytest.mark.req("LOG-1")
@pytest.mark.parametrize("log_format", LogFormat)
@pytest.mark.parametrize(
    "hostile", ["a\nwarning forged", "\x1b[2J", "\u2028", "\ud800", "a=b", "", "\x9b31m"]
)
def test_foreign_text_stays_in_its_field(
    stream: io.StringIO, log_format: LogFormat, hostile: str
) -> None:
    line = line_of(stream, log_format, "a2a_server.x.y", context_id=hostile)
    assert line.count("\n") == 1
    assert line.removesuffix("\n").isprintable()
    assert line.encode()


@pytest.mark.req("LOG-1")
@pytest.mark.parametrize("log_format", LogFormat)
@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"bad token {JWT}", JWT),
        ("Authorization: Bearer s3cr3t-t0ken", "s3cr3t-t0ken"),
        ("authorization: basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
        ("http://joe:hunter2@callback.example/x", "hunter2"),
        ("GET /status?token=hunter2&x=1", "hunter2"),
    ],
)
def test_what_looks_like_a_credential_is_hidden(
    stream: io.StringIO, log_format: LogFormat, text: str, secret: str
) -> None:
    line = line_of(stream, log_format, "a2a_server.x.y", reason=text)
    assert secret not in line
    assert "[hidden]" in line


@pytest.mark.req("LOG-1")
@pytest.mark.parametrize("log_format", LogFormat)
def test_lines_of_libraries_have_the_same_form(stream: io.StringIO, log_format: LogFormat) -> None:
    configure_logging(stream, log_format)
    logging.getLogger("some.library").warning("no %s\nat all", "luck")
    line = stream.getvalue()
    if log_format is LogFormat.JSON:
        assert json.loads(line)["event"] == "no luck\nat all"
    else:
        assert line.endswith(" warning no luck\\nat all\n")


@pytest.mark.req("LOG-1")
def test_exception_follows_its_line_and_is_a_field_in_json(stream: io.StringIO) -> None:
    for log_format in LogFormat:
        configure_logging(stream, log_format)
        try:
            raise ValueError(JWT)
        except ValueError:
            structlog.stdlib.get_logger("a2a_server").exception("a2a_server.x.y", task_id="t")
    head, first, *_, second = stream.getvalue().splitlines()
    assert head.endswith("error   a2a_server.x.y task_id=t")
    assert first == "Traceback (most recent call last):"
    assert "ValueError: [hidden]" in json.loads(second)["exception"]
    assert JWT not in stream.getvalue()


ROOT = Path(__file__).resolve().parents[2]
LOGGED = re.compile(
    r"logger\.(?:info|warning|error|exception)\(\s*f?\"([^\"]+)\"|event=f?\"([^\"]+)\""
)
DOCUMENTED = re.compile(r"^\| `(a2a_[a-z0-9_.]+)`", re.MULTILINE)


class FullPipe(io.StringIO):
    """A stream that takes nothing until it `is_read`."""

    def __init__(self) -> None:
        super().__init__()
        self.is_read = Event()

    def write(self, text: str, /) -> int:
        self.is_read.wait()
        return super().write(text)


@pytest.mark.req("LOG-1")
@pytest.mark.usefixtures("stream")
def test_log_that_nobody_reads_stops_nothing() -> None:
    pipe = FullPipe()
    configure_logging(pipe)
    logger = structlog.stdlib.get_logger("a2a_server")
    with logging_in_background():
        for number in range(MAX_UNWRITTEN + 10):
            logger.info("a2a_server.x", number=number)
        pipe.is_read.set()
    numbers = re.findall(r"number=(\d+)$", pipe.getvalue(), re.MULTILINE)
    assert numbers[:MAX_UNWRITTEN] == [*map(str, range(MAX_UNWRITTEN))]
    assert len(numbers) <= MAX_UNWRITTEN + 1


@pytest.mark.req("LOG-1")
def test_every_event_is_in_the_reference_and_the_other_way_round() -> None:
    logged = {
        "".join(match).replace("{EXECUTOR}", "a2a_server.rasa_a2a_agent_executor")
        for file in (ROOT / "mock_server").rglob("*.py")
        for match in LOGGED.findall(file.read_text())
    }
    page = (ROOT / "docs" / "reference" / "log-events.md").read_text()
    assert set(DOCUMENTED.findall(page)) == logged
