"""What is selected, and what the panels show of it."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from record_session import decode_entries

from inspector.core.entries import Entry, Failed, Purpose, RequestSent
from inspector.net.events import FailureKind
from inspector.tui.log_view import LogView
from inspector.tui.messages import Place
from inspector.views import log_views

LOG = Path(__file__).parent / "logs" / "transfer.jsonl"


@pytest.fixture
def recorded() -> list[Entry]:
    with LOG.open(encoding="utf-8") as lines:
        return list(decode_entries(lines))


def asked(entries: Sequence[Entry], purpose: Purpose, body: bytes) -> RequestSent:
    """The request of a new exchange after `entries`."""
    last, exchange = entries[-1], max(entry.exchange for entry in entries) + 1
    moment = (last.seq + 1, last.at_ms + 1)
    return RequestSent(*moment, exchange, purpose, "POST", "http://a/", (), body)


def failed(request: RequestSent) -> Failed:
    return Failed(
        request.seq + 1, request.at_ms + 1, request.exchange, FailureKind.TIMEOUT, "broken"
    )


@pytest.mark.req("TIME-3", "DATA-1")
def test_failed_turn_has_no_data_of_the_turn_before_it(recorded: list[Entry]) -> None:
    request = asked(recorded, Purpose.SEND, b'{"method": "message/send"}')
    before = LogView().with_views(log_views.fold(recorded))
    running = LogView().with_views(log_views.fold([*recorded, request]))
    view = LogView().with_views(log_views.fold([*recorded, request, failed(request)]))
    assert before.turn is not None
    assert running.turn == before.turn
    assert view.turn is None
    assert view.at(Place(request.exchange, request.seq)).turn is None
    assert view.at(Place(before.turn.exchange, before.turn.seq)).turn == before.turn


@pytest.mark.req("TIME-3", "DATA-1")
def test_failed_turn_on_a_known_task_has_no_data_of_it(recorded: list[Entry]) -> None:
    before = LogView().with_views(log_views.fold(recorded))
    task_id = before.tasks[-1].task_id
    body = '{"method": "%s", "params": {"id": "%s", "message": {"taskId": "%s"}}}'
    for purpose, method, has_data in (
        (Purpose.SEND, "message/send", False),
        (Purpose.GET, "tasks/get", True),
    ):
        request = asked(recorded, purpose, (body % (method, task_id, task_id)).encode())
        view = LogView().with_views(log_views.fold([*recorded, request, failed(request)]))
        selected = view.at(Place(request.exchange, request.seq)).turn
        assert (selected is not None) is has_data
