"""`/__admin/contexts` and `/__admin/traces`: what the dialogues are about, and why."""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import BaseModel, Field, JsonValue
from starlette.requests import Request
from starlette.responses import Response

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.model import Json
from mock_server.faults.effects import STRICT
from mock_server.service.conversation import Conversation
from mock_server.service.service import Service
from mock_server.tasks.mapper import active_flow
from mock_server.tasks.report import visible_slots
from mock_server.tasks.trace import encode_decisions, encode_turn
from mock_server.web.admin_answers import NOT_FOUND, Refused, answer, query_as


class ContextQuery(BaseModel):
    """The first `limit` contexts after the first `offset`."""

    model_config = STRICT
    limit: int = Field(default=100, ge=1, le=10_000)
    offset: int = Field(default=0, ge=0)


@dataclass(frozen=True, slots=True)
class ContextView:
    """`task` waits for the user in `state`; `unfinished` turns run or wait in the queue."""

    context: str
    active_flow: str | None
    slots: dict[str, JsonValue]
    task: str | None
    state: str | None
    unfinished: int


@dataclass(frozen=True, slots=True)
class ContextList:
    """`total` counts those that are not in the list, too."""

    total: int
    contexts: tuple[ContextView, ...]


@dataclass(frozen=True, slots=True)
class FrameView:
    flow: str
    step: str
    type: str


@dataclass(frozen=True, slots=True)
class ContextDetail:
    """The stack from its bottom to its top."""

    context: ContextView
    stack: tuple[FrameView, ...]


@dataclass(frozen=True, slots=True)
class TraceView:
    """`turn` is the object that `a2a-mock talk --json` prints."""

    id: str
    task: str
    context: str
    turn: dict[str, JsonValue]
    commands: list[JsonValue]
    dropped_commands: list[JsonValue]
    state_candidates: list[JsonValue]


class ContextDesk:
    """The routes below `contexts` and `traces`."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def list(self, request: Request) -> Response:
        query = query_as(ContextQuery, request)
        known = [*self._service.conversations]
        shown = known[query.offset : query.offset + query.limit]
        views = tuple(_view(conversation, self._service.assistant) for conversation in shown)
        return answer(ContextList(len(known), views))

    async def show(self, request: Request) -> Response:
        context_id = request.path_params["id"]
        conversation = self._service.conversations.find(context_id)
        if conversation is None:
            raise Refused(NOT_FOUND, f"there is no context {context_id!r}")
        frames = tuple(
            FrameView(frame.flow_id, frame.step_id, frame.type.value)
            for frame in conversation.state.stack
        )
        return answer(ContextDetail(_view(conversation, self._service.assistant), frames))

    async def trace(self, request: Request) -> Response:
        trace_id = request.path_params["id"]
        turn = self._service.traces.find(trace_id)
        if turn is None:
            raise Refused(NOT_FOUND, f"there is no trace {trace_id!r}")
        if turn.trace is None:
            raise Refused(NOT_FOUND, f"the turn of trace {trace_id!r} goes on")
        task = turn.live.task
        named = {"id": trace_id, "task": task.id, "context": task.context_id}
        encoded = encode_turn(turn.trace, turn.assistant)
        return answer({**named, "turn": encoded, **encode_decisions(turn.trace)})


def _view(conversation: Conversation, assistant: Assistant) -> ContextView:
    state, resting = conversation.state, conversation.resting
    return ContextView(
        context=conversation.id,
        active_flow=active_flow(state.stack),
        slots=_slots(assistant, state.slots),
        task=resting.task_id if resting else None,
        state=resting.state.value if resting else None,
        unfinished=conversation.unfinished,
    )


def _slots(assistant: Assistant, slots: Mapping[str, Json]) -> dict[str, JsonValue]:
    """Those that the assistant has: a reload may have taken some away."""
    known = {name: value for name, value in slots.items() if name in assistant.slots}
    return {**visible_slots(assistant, known)}
