"""The inspector's commands against a server of a2a-sdk 1.3.0 with its 0.3 compatibility."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from a2a.helpers import new_task_from_user_message, new_text_message, new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from starlette.applications import Starlette
from textual.pilot import Pilot
from textual.widgets import Static

from inspector.cli import main
from inspector.tui.app import InspectorApp
from inspector.tui.workspace import Workspace


class Echo(AgentExecutor):
    """`ask` waits for an answer, `slow` works until canceled, anything else is echoed."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        assert context.message is not None
        task = context.current_task
        if task is None:
            task = new_task_from_user_message(context.message)
            await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        await updater.start_work()
        text = context.get_user_input()
        if text == "ask":
            await updater.requires_input(new_text_message("which?"))
            return
        if text == "slow":
            await asyncio.Event().wait()
        await updater.add_artifact([new_text_part(f"echo: {text}")], name="reply")
        await updater.complete(new_text_message(f"echo: {text}"))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        assert context.task_id is not None
        assert context.context_id is not None
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def make_app(url: str) -> Starlette:
    card = AgentCard(
        name="Echo",
        version="1",
        description="says it again",
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="echo", name="Echo", description="echoes", tags=["t"])],
        supported_interfaces=[
            AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version=version)
            for version in ("1.0", "0.3")
        ],
    )
    handler = DefaultRequestHandler(Echo(), InMemoryTaskStore(), card)
    routes = create_agent_card_routes(card)
    routes += create_jsonrpc_routes(handler, "/", enable_v0_3_compat=True)
    return Starlette(routes=routes)


@pytest.fixture(scope="module")
def agent() -> Iterator[str]:
    """The URL of a running echo agent."""
    config = uvicorn.Config(Starlette(), port=0, log_level="warning", lifespan="off")
    server = uvicorn.Server(config)
    listener = config.bind_socket()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
    config.app = make_app(url)
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    yield url
    server.should_exit = True
    thread.join(timeout=20)
    listener.close()


def run_json(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[dict[str, Any]]]:
    status = main([*words, "--json"])
    return status, [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.req("CLI-1")
def test_send_prints_one_object(agent: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, [answer] = run_json(capsys, "send", agent, "hello")
    assert status == 0
    assert answer["state"] == "completed"
    assert answer["text"] == ["echo: hello"]
    assert answer["artifacts"][0]["parts"] == [{"kind": "text", "text": "echo: hello"}]
    assert answer["task"]["id"] == answer["taskId"]
    assert (answer["transport"], answer["protocol"]) == ("jsonrpc", "0.3")


@pytest.mark.req("COMP-3")
def test_stream_prints_updates_then_the_answer(
    agent: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, lines = run_json(capsys, "send", agent, "hello", "--stream")
    assert status == 0
    *updates, answer = lines
    assert {update["channel"] for update in updates} == {"sse"}
    assert updates[-1]["final"] is True
    assert updates[-1]["state"] == "completed"
    assert answer["text"] == ["echo: hello"]
    assert answer["findings"] == []


def test_a_conversation_goes_on_in_its_task(agent: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, [asked] = run_json(capsys, "send", agent, "ask", "--expect-state", "input_required")
    assert asked["text"] == ["which?"]
    status, [answered] = run_json(
        capsys, "send", agent, "this", "--context", asked["contextId"], "--task", asked["taskId"]
    )
    assert status == 0
    assert answered["taskId"] == asked["taskId"]
    assert answered["state"] == "completed"


@pytest.mark.req("HERO-6")
def test_answer_goes_to_the_task_that_waits(agent: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, [asked] = run_json(capsys, "send", agent, "ask")
    in_context = ("--context", asked["contextId"])
    _, [again] = run_json(capsys, "send", agent, "ask", *in_context)
    assert (again["taskId"], again["state"]) == (asked["taskId"], "input-required")
    # a session that is not saved itself knows what the saved ones say
    status = main(["send", agent, "this", *in_context, "--no-save", "--json"])
    printed = capsys.readouterr()
    answered = json.loads(printed.out)
    assert (status, answered["taskId"], answered["state"]) == (0, asked["taskId"], "completed")
    assert f"continues the task {asked['taskId']}; --new-task begins another one" in printed.err


@pytest.mark.req("HERO-6")
def test_new_task_is_begun_beside_the_one_that_waits(
    agent: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _, [asked] = run_json(capsys, "send", agent, "ask")
    in_context = ("--context", asked["contextId"])
    _, [other] = run_json(capsys, "send", agent, "this", *in_context, "--new-task")
    assert other["contextId"] == asked["contextId"]
    assert other["taskId"] != asked["taskId"]
    _, [got] = run_json(capsys, "tasks", "get", agent, asked["taskId"])
    assert got["state"] == "input-required"


@pytest.mark.req("HERO-6")
def test_each_message_to_a_rasa_agent_is_a_new_task(
    mock_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _, [asked] = run_json(capsys, "send", mock_url, "send money")
    assert asked["state"] == "input-required"
    _, [answered] = run_json(capsys, "send", mock_url, "Joe", "--context", asked["contextId"])
    assert answered["taskId"] != asked["taskId"]
    assert answered["state"] == "completed"


async def until(pilot: Pilot[int], is_so: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not is_so():
            await pilot.pause(0.01)


async def shows(pilot: Pilot[int], words: str) -> None:
    """Wait until the line below the prompt says `words`."""
    await until(pilot, lambda: words in options(pilot))


def options(pilot: Pilot[int]) -> str:
    return "".join(str(line.content) for line in pilot.app.screen.query("#options").results(Static))


@pytest.mark.anyio
@pytest.mark.req("HERO-6")
async def test_composer_continues_the_task_that_waits_or_begins_another(agent: str) -> None:
    async with InspectorApp(agent).run_test(size=(120, 36)) as pilot:
        await shows(pilot, "new context")
        screen = pilot.app.screen
        assert isinstance(screen, Workspace)
        await pilot.press(*"ask", "enter")
        await shows(pilot, "continue ")
        (asked,) = screen.view.tasks
        assert asked.task_id is not None
        assert f"continue {asked.task_id[:6]}" in options(pilot)
        await pilot.press(*"ask", "ctrl+d")
        await shows(pilot, "new task")
        await pilot.press("enter")
        states = ("input-required", "input-required")
        await until(pilot, lambda: tuple(task.state for task in screen.view.tasks) == states)
        other = screen.view.tasks[-1]
        assert other.task_id not in (None, asked.task_id)
        # the choice was for that turn alone
        await shows(pilot, f"continue {(other.task_id or '')[:6]}")
        await pilot.press(*"this", "enter")
        await until(pilot, lambda: screen.view.tasks[-1].state == "completed")
        assert screen.view.tasks[-1].task_id == other.task_id
        assert "continue" not in options(pilot)


def test_a_task_is_got_and_canceled(agent: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, [sent] = run_json(capsys, "send", agent, "slow", "--no-blocking")
    assert sent["state"] in ("submitted", "working")
    _, [got] = run_json(capsys, "tasks", "get", agent, sent["taskId"])
    assert got["taskId"] == sent["taskId"]
    status, [canceled] = run_json(capsys, "tasks", "cancel", agent, sent["taskId"])
    assert (status, canceled["state"]) == (0, "canceled")
    status = main(["tasks", "cancel", agent, sent["taskId"]])
    assert status == 5
    assert "already ended" in capsys.readouterr().err


@pytest.mark.req("CARDV-1")
def test_the_card_is_read(agent: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, [card] = run_json(capsys, "card", agent)
    assert status == 0
    assert card["card"]["name"] == "Echo"
    assert card["url"] == agent


def test_text_for_people(agent: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["send", agent, "hello", "--stream"]) == 0
    printed = capsys.readouterr().out
    assert "○ submitted" in printed
    assert "▤ artifact  echo: hello" in printed
    assert "✓ completed ■" in printed
    assert "\x1b" not in printed


@pytest.mark.parametrize("words", [["SendMessage"], ["SendStreamingMessage", "--stream"]])
@pytest.mark.parametrize(("text", "state"), [("hi", "completed"), ("ask", "input-required")])
@pytest.mark.req("COMP-1", "CLI-4")
def test_raw_requests_of_1_0_are_answered(
    words: list[str], text: str, state: str, agent: str, tmp_path: Path
) -> None:
    message = {"role": "ROLE_USER", "messageId": f"m-{text}", "parts": [{"text": text}]}
    body = {"jsonrpc": "2.0", "id": "1", "method": words[0], "params": {"message": message}}
    file = tmp_path / "body"
    file.write_text(json.dumps(body))
    flags = ("--header", "A2A-Version: 1.0", "--expect-state", state, "--no-save", *words[1:])
    assert main(["send", agent, "--raw", str(file), *flags]) == 0
