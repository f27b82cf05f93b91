"""Turns that fail before they begin: there is no model, or no room (server.md TURN-6, TURN-8)."""

from dataclasses import dataclass

from mock_server.dialogue.model import Assistant
from mock_server.service.live_task import LiveTask
from mock_server.service.world import World
from mock_server.tasks.log import StatusUpdate
from mock_server.tasks.mapper import TurnOutcome
from mock_server.tasks.report import Failure, status_parts
from mock_server.tasks.task import Message, Role, Status, TaskState, TextPart

EXECUTOR = "a2a_server.rasa_a2a_agent_executor"


@dataclass(frozen=True, slots=True)
class Refusal:
    """`log_event` names it in the log; `text` and `failure` tell the client."""

    log_event: str
    text: str
    failure: Failure


NOT_READY = Refusal(
    f"{EXECUTOR}.execute.agent_not_ready",
    "Agent is not ready to handle messages.",
    Failure("agent_not_ready", {}),
)


def refuse(live: LiveTask, refusal: Refusal, assistant: Assistant, world: World) -> None:
    """End `live` as failed. Nothing of its conversation is told, nor changed."""
    outcome = TurnOutcome(stack=(), events=(), is_waiting=False)
    told = status_parts(assistant, {}, TaskState.FAILED, outcome, failure=refusal.failure)
    task, parts = live.task, (TextPart(refusal.text), *told)
    message = Message(world.make_id(), Role.AGENT, parts, task.context_id, task.id)
    live.publish(StatusUpdate(Status(TaskState.FAILED, world.now(), message), is_final=True))
