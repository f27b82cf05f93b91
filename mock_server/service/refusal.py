"""Turns that end before they begin: there is no model, no room, or no longer a valid token."""

from dataclasses import dataclass

from structlog.stdlib import get_logger

from mock_server.dialogue.assistant import Assistant
from mock_server.service.live_task import LiveTask
from mock_server.service.world import World
from mock_server.tasks.log import StatusUpdate
from mock_server.tasks.mapper import TurnOutcome
from mock_server.tasks.report import Failure, status_parts
from mock_server.tasks.task import Message, Role, Status, TaskState, TextPart

EXECUTOR = "a2a_server.rasa_a2a_agent_executor"

logger = get_logger("a2a_server")


@dataclass(frozen=True, slots=True)
class Refusal:
    """`event` and `reason` are for the log; `text` and `failure` tell the client."""

    event: str
    reason: str
    state: TaskState = TaskState.FAILED
    text: str = ""
    failure: Failure | None = None


NOT_READY = Refusal(
    event=f"{EXECUTOR}.execute.agent_not_ready",
    reason="no model is loaded",
    text="Agent is not ready to handle messages.",
    failure=Failure("agent_not_ready", {}),
)
NO_ROOM = Refusal(
    event=f"{EXECUTOR}.execute.context_limit",
    reason="max_contexts contexts are in flight or wait for an answer",
    failure=Failure("context_limit", {}),
)
TOKEN_EXPIRED = Refusal(
    event="a2a_server.sanic_app.auth_rejected",
    reason="it has expired while the turn waited",
    state=TaskState.AUTH_REQUIRED,
)


def refuse(live: LiveTask, refusal: Refusal, assistant: Assistant, world: World) -> None:
    """End `live`. Nothing of its conversation is told, nor changed."""
    task = live.task
    logger.warning(refusal.event, task_id=task.id, reason=refusal.reason)
    outcome = TurnOutcome(stack=(), events=(), is_waiting=False)
    data = status_parts(assistant, {}, refusal.state, outcome, failure=refusal.failure)
    text = (TextPart(refusal.text),) if refusal.text else ()
    message = Message(world.make_id(), Role.AGENT, (*text, *data), task.context_id, task.id)
    live.publish(StatusUpdate(Status(refusal.state, world.now(), message), is_final=True))
