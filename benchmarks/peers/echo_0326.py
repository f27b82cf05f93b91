# type: ignore  # written for another version of the SDK than the one that is checked against
"""The shortest server that a2a-sdk 0.3.26 makes: every message completes a task."""

from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.apps import A2AStarletteApplication
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentSkill, Part, TextPart
from a2a.utils import new_task

from benchmarks.peers.listening import serve


class Echo(AgentExecutor):
    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        task = new_task(context.message)
        await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        await updater.start_work()
        said = Part(root=TextPart(text=f"echo: {context.get_user_input()}"))
        await updater.complete(updater.new_agent_message([said]))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        raise NotImplementedError


def make_app(url: str):
    card = AgentCard(
        name="Echo",
        version="1",
        description="says it again",
        url=url,
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="echo", name="Echo", description="echoes", tags=["t"])],
    )
    handler = DefaultRequestHandler(Echo(), InMemoryTaskStore())
    return A2AStarletteApplication(card, handler).build()


if __name__ == "__main__":
    serve(make_app)
