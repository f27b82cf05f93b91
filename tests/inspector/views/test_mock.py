"""What a connected mock is known to be, from what its admin API answered and told."""

import json
from typing import TYPE_CHECKING, Any

import pytest

from inspector.core.entries import (
    Channel,
    Entry,
    FrameReceived,
    Purpose,
    RequestSent,
    ResponseStarted,
)
from inspector.net.events import FailureKind
from inspector.views import mock
from inspector.views.mock import MockView
from inspector.wire.mock_admin import Model, Reload

if TYPE_CHECKING:
    from tests.inspector.views.conftest import Script

FAULT: dict[str, Any] = {
    "id": "f-1",
    "match": {},
    "effect": {"kind": "delay", "seconds": 2.0},
    "fired": 0,
    "remaining": 1,
}


class Talk:
    """The log of a session with a mock."""

    def __init__(self, script: "Script") -> None:
        self.script = script

    def ask(self, path: str, answer: Any, *, method: str = "GET", status: int = 200) -> "Talk":
        self.begin(path, method).respond(status).frame(json.dumps(answer).encode()).end()
        return self

    def begin(self, path: str, method: str = "GET") -> "Script":
        number = self.script.begin()
        self.script.on(number)
        seq = len(self.script.entries) + 1
        url = f"http://a/__admin/{path}"
        request = RequestSent(seq, seq * 10.0, number, Purpose.ADMIN, method, url, (), b"")
        self.script.entries.append(request)
        return self.script

    def listen(self) -> int:
        """Begin the stream of events and return its exchange."""
        self.begin("events?kinds=x").respond(media_type="text/event-stream")
        return self.script.entries[-1].exchange

    def tell(self, stream: int, kind: str, value: Any) -> "Talk":
        seq = len(self.script.entries) + 1
        raw = f"event: {kind}\r\ndata: {json.dumps(value)}\r\n\r\n".encode()
        self.script.entries.append(FrameReceived(seq, seq * 10.0, stream, Channel.SSE, raw))
        return self

    @property
    def view(self) -> MockView:
        return fold(self.script.entries)


def fold(entries: list[Entry]) -> MockView:
    view = mock.EMPTY
    for entry in entries:
        view = mock.step(view, entry)
    return view


@pytest.fixture
def talk(script: "Script") -> Talk:
    """A session that has found out that the agent is a mock with 4 flows."""
    return Talk(script).ask("model", {"is_loaded": True, "flows": 4})


def test_answer_about_the_model_makes_it_a_mock(talk: Talk) -> None:
    assert talk.view.model == Model(is_loaded=True, flows=4)
    assert not talk.view.is_listening


@pytest.mark.parametrize(
    ("answer", "status"),
    [({"is_loaded": True}, 200), ({"flows": 4, "is_loaded": 1}, 200), ({}, 404)],
)
def test_stranger_is_no_mock(script: "Script", answer: Any, status: int) -> None:
    view = Talk(script).ask("model", answer, status=status).view
    assert (view.model, view.complaint) == (None, "")


def test_reloads_are_told_with_their_flows_or_their_problems(talk: Talk) -> None:
    stream = talk.listen()
    assert talk.view.is_listening
    talk.tell(stream, "reload", {"outcome": "reloaded", "flows": 7})
    assert (talk.view.reload, talk.view.reloads) == (Reload(7), 1)
    assert talk.view.model == Model(is_loaded=True, flows=7)
    problem = {"file": "flows.yml", "line": 9, "code": "c", "text": "t", "mend": "m"}
    talk.tell(stream, "reload", {"outcome": "failed", "problems": [problem]})
    reload = talk.view.reload
    assert reload is not None
    assert [(one.file, one.line, one.text) for one in reload.problems] == [("flows.yml", 9, "t")]
    assert talk.view.model == Model(is_loaded=True, flows=7)
    talk.tell(stream, "reload", {"outcome": "odd"}).tell(stream, "other", {})
    assert talk.view.reloads == 2


@pytest.mark.req("RELOAD-1")
def test_next_stream_says_anew_whether_the_files_load(talk: Talk) -> None:
    stream = talk.listen()
    talk.tell(stream, "reload", {"outcome": "failed", "problems": [{"file": "flows.yml"}]})
    assert talk.view.reload
    talk.script.on(stream).end()
    assert talk.view.reload
    talk.listen()
    assert talk.view.reload is None


def test_end_of_the_stream_is_noticed(talk: Talk, script: "Script") -> None:
    stream = talk.listen()
    seq = len(script.entries) + 1
    script.entries.append(FrameReceived(seq, seq * 10.0, stream, Channel.SSE, b": ping\r\n\r\n"))
    script.on(stream).fail(FailureKind.DISCONNECTED)
    assert not talk.view.is_listening


def test_armed_faults_are_those_that_the_mock_told_last(talk: Talk) -> None:
    stream = talk.listen()
    talk.ask("faults", {"faults": [FAULT]})
    assert [fault.id for fault in talk.view.live_faults] == ["f-1"]
    talk.ask("faults", {"faults": [{**FAULT, "id": "f-2"}]}, method="POST", status=201)
    assert [fault.id for fault in talk.view.armed] == ["f-1", "f-2"]
    talk.tell(stream, "faults", {"faults": [{**FAULT, "remaining": 0}]})
    assert [(one.id, one.is_spent) for one in talk.view.armed] == [("f-1", True)]
    assert talk.view.live_faults == ()
    assert talk.view.armed[0].kind == "delay"
    talk.ask("faults/f-1", {"faults": []}, method="DELETE")
    assert talk.view.armed == ()
    talk.tell(stream, "faults", {}).ask("faults/f-1", {})
    assert talk.view.armed == ()


def test_refusal_says_what_is_wrong_and_where(talk: Talk) -> None:
    problems = [{"path": "effect.seconds", "text": "field required"}]
    refused = {"error": "this is no fault", "problems": problems}
    talk.ask("faults", refused, method="POST", status=422)
    assert talk.view.complaint == "effect.seconds: field required"
    talk.ask("faults", {"faults": []})
    assert talk.view.complaint == ""
    talk.ask("faults", {"error": "no"}, status=401)
    assert talk.view.complaint == "no"
    talk.ask("faults", "odd", status=401)
    assert talk.view.complaint == "the mock refused it"


def test_turn_is_marked_with_what_was_armed_and_what_hit(talk: Talk, script: "Script") -> None:
    stream = talk.listen()
    talk.ask("faults", {"faults": [FAULT, {**FAULT, "id": "f-2", "remaining": None}]})
    script.send("hi", contextId="c")
    turn = script.entries[-1].exchange
    assert [one.has_hit for one in talk.view.marks[turn]] == [False, False]
    talk.tell(stream, "fault", {"fault": "f-1", "method": "message/send", "context": "c"})
    marks = {one.fault.id: one.has_hit for one in talk.view.marks[turn]}
    assert marks == {"f-1": True, "f-2": False}
    assert [(one.fired, one.remaining) for one in talk.view.armed] == [(1, 0), (0, None)]
    talk.tell(stream, "fault", {"fault": "f-2", "method": "message/send", "context": "d"})
    assert [(one.fired, one.remaining) for one in talk.view.armed] == [(1, 0), (1, None)]
    talk.tell(stream, "fault", {"fault": "gone", "method": "message/send", "context": "c"})
    talk.tell(stream, "fault", {})
    assert len(talk.view.marks[turn]) == 2


def test_fault_of_a_notification_marks_the_turn_of_its_context(
    talk: Talk, script: "Script"
) -> None:
    stream = talk.listen()
    script.send("hi")
    turn = script.entries[-1].exchange
    script.request(Purpose.CANCEL, "tasks/cancel", {"id": "t"})
    cancel = script.entries[-1].exchange
    talk.ask("faults", {"faults": [FAULT]})
    talk.tell(stream, "fault", {"fault": "f-1", "method": None, "context": "c"})
    assert [one.has_hit for one in talk.view.marks[turn]] == [True]
    talk.tell(stream, "fault", {"fault": "f-1", "method": "tasks/cancel", "context": None})
    assert [one.has_hit for one in talk.view.marks[cancel]] == [True]


def test_offered_faults_have_their_parameters(talk: Talk) -> None:
    when = {"enum": ["before", "after"], "type": "string"}
    delay = {
        "description": "Waits.",
        "required": ["seconds"],
        "properties": {
            "kind": {"const": "delay"},
            "seconds": {"type": "number", "description": "so long"},
            "when": {"$ref": "#/components/schemas/Moment", "default": "before"},
        },
    }
    mapping = {"delay": "#/components/schemas/Delay", "odd": 7}
    fault = {"properties": {"effect": {"discriminator": {"mapping": mapping}}}}
    schemas = {"Fault": fault, "Delay": delay, "Moment": when}
    talk.ask("openapi.json", {"components": {"schemas": schemas}})
    kind, odd = talk.view.offer
    assert (kind.name, kind.summary, odd.parameters) == ("delay", "Waits.", ())
    seconds, moment = kind.parameters
    assert (seconds.type, seconds.is_required) == ("number", True)
    assert (moment.default, moment.choices) == ("before", ("before", "after"))


def test_turn_is_explained_once_it_is_over(talk: Talk, script: "Script") -> None:
    script.send("hi").respond()
    started = script.entries.pop()
    assert isinstance(started, ResponseStarted)
    headers = (("X-Mock-Trace-Id", "trace-1"),)
    turn = started.exchange
    script.entries.append(
        ResponseStarted(started.seq, started.at_ms, turn, 200, "HTTP/1.1", headers)
    )
    assert (talk.view.untold[turn], len(talk.view.trace_ids)) == ("trace-1", 0)
    script.end()
    assert (talk.view.trace_ids[turn], talk.view.untold) == ("trace-1", {})
    talk.ask("traces/trace-0", {"error": "there is no trace"}, status=404)
    assert talk.view.lost_traces == {"trace-0"}
    events = [
        {"event": "Understood"},
        {"event": "FlowStarted", "flow_id": "transfer"},
        {"event": "FrameMoved", "flow_id": "transfer", "step_id": "ask"},
        {"event": "FrameMoved", "flow_id": "pattern_collect", "step_id": "ask"},
        {"event": "SlotSet", "name": "a", "value": 1, "source": "user"},
        {"event": "BotUttered", "text": "Hi", "response": None},
        {"event": "ActionExecuted", "name": "act", "failure": {"a": 1}},
    ]
    rules = [
        {"rule": "flow", "fired": True, "reason": "r"},
        {"rule": "STATE-8", "fired": True, "reason": "x"},
    ]
    dropped = {"command": "SetSlot", "name": "b", "value": None, "reason": "unknown"}
    trace: dict[str, Any] = {
        "id": "trace-1",
        "turn": {"events": events, "trace": rules},
        "commands": [{"command": "StartFlow", "flow_id": "transfer", "is_trigger": False}],
        "dropped_commands": [dropped],
        "state_candidates": [{"rule": "STATE-8", "fired": True, "reason": "x"}],
    }
    talk.ask("traces/trace-1", trace).ask("traces/odd", {})
    told = talk.view.traces["trace-1"]
    assert [rule.name for rule in told.rules] == ["flow"]
    assert [rule.name for rule in told.states] == ["STATE-8"]
    assert told.commands == ("StartFlow(transfer)",)
    assert told.dropped == (("SetSlot(b, null)", "unknown"),)
    assert [(move.name, move.about) for move in told.moves] == [
        ("FlowStarted", "transfer"),
        ("Step", "transfer  ask"),
        ("SlotSet", "a = 1  by user"),
        ("BotUttered", "Hi"),
        ("ActionExecuted", 'act  failure {"a": 1}'),
    ]
    assert [*talk.view.traces] == ["trace-1"]


def test_what_is_none_of_its_business_leaves_the_view_alone(talk: Talk, script: "Script") -> None:
    before = talk.view
    script.request(Purpose.CARD, "", {}).respond().frame(b"{}").end()
    script.push(script.task())
    talk.ask("contexts", {"total": 0})
    assert talk.view == before
    stranger = fold([entry for entry in script.send("hi").entries if entry.exchange > 1])
    assert stranger.recent == ()
