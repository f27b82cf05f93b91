"""`--watch`: a project is edited, and broken, while conversations go on in it."""

import asyncio
import re
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

if TYPE_CHECKING:
    from tests.integration.conftest import Command, RunMock


pytestmark = pytest.mark.timeout(110)


@dataclass
class Watched:
    """A mock that watches its project, and its log as it is written."""

    mock: "Command"
    folder: Path
    lines: Iterator[str]
    seen: list[str] = field(default_factory=list[str])
    count: int = 0

    def edit(self, file: str, before: str, after: str) -> None:
        text = (self.folder / file).read_text()
        assert before in text
        self.save(file, text.replace(before, after))

    def save(self, file: str, text: str) -> None:
        """As an editor does it: the mock never sees a file that is written by half."""
        draft = self.folder / f"{file}.tmp"
        draft.write_text(text)
        draft.replace(self.folder / file)

    def hears(self, event: str) -> str:
        """Wait for a line of the log."""
        for line in self.lines:
            self.seen.append(line)
            if event in line:
                return line
        raise AssertionError(f"{event} is not in {self.seen}")

    def say(self, text: str, context: str = "c1") -> dict[str, Any]:
        self.count += 1
        return self.mock.send(text, f"m{self.count}", context=context)["status"]

    def answer(self, text: str, context: str = "c1") -> str:
        parts = self.say(text, context)["message"]["parts"]
        return "".join(part["text"] for part in parts if part["kind"] == "text")

    def skills(self) -> list[str]:
        card = self.mock.client.get("/.well-known/agent-card.json").json()
        return [skill["id"] for skill in card["skills"] if "flow" in skill["tags"]]


@pytest.fixture
def watched(run_mock: "RunMock", project: Path) -> Callable[..., AbstractContextManager[Watched]]:
    @contextmanager
    def start(*flags: str) -> Generator[Watched]:
        with run_mock(project, "--watch", *flags) as mock:
            yield Watched(mock, project, mock.log)

    return start


Watch = Callable[..., AbstractContextManager[Watched]]


@pytest.mark.req("RELOAD-1")
@pytest.mark.parametrize(
    ("file", "before", "after", "expected"),
    [
        ("domain.yml", "Sent to {recipient}.", "Done, {recipient}!", "Done, Joe!"),
        ("data/flows.yml", "- action: utter_sent", "- action: utter_checked", "All is well."),
    ],
)
def test_saved_file_is_live_on_the_next_turn(
    watched: Watch, file: str, before: str, after: str, expected: str
) -> None:
    with watched() as mock:
        assert mock.answer("send money") == "To whom?"
        mock.edit(file, before, after)
        assert "flows=3" in mock.hears("a2a_mock.reload.done")
        assert mock.answer("Joe") == expected


@pytest.mark.req("RELOAD-1")
def test_saved_stub_is_live_on_the_next_turn(watched: Watch) -> None:
    with watched() as mock:
        mock.edit("mock.yml", "action_check: {delay_seconds: 1.5}", "action_check: {fail: {}}")
        mock.hears("a2a_mock.reload.done")
        assert mock.say("check the account")["state"] == "failed"


@pytest.mark.req("RELOAD-1")
def test_file_that_is_written_in_place_is_noticed(watched: Watch) -> None:
    with watched() as mock:
        flows = mock.folder / "data" / "flows.yml"
        flows.write_text(flows.read_text().replace("- collect: recipient", "- action: utter_sent"))
        mock.hears("a2a_mock.reload.done")
        assert mock.answer("send money").startswith("Sent to")


@pytest.mark.req("RELOAD-1")
def test_folder_that_comes_and_goes_is_noticed(watched: Watch) -> None:
    with watched() as mock:
        (mock.folder / "data").rename(mock.folder / "elsewhere")
        assert "project.no_flows" in mock.hears("a2a_mock.reload.failed")
        (mock.folder / "elsewhere").rename(mock.folder / "data")
        mock.hears("a2a_mock.reload.done")
        mock.edit("data/flows.yml", "- collect: recipient", "- action: utter_checked")
        mock.hears("a2a_mock.reload.done")
        assert mock.answer("send money").startswith("All is well.")


@pytest.mark.req("RELOAD-1")
def test_broken_file_is_told_with_its_line_and_the_last_good_version_serves(
    watched: Watch,
) -> None:
    with watched() as mock:
        assert mock.answer("send money") == "To whom?"
        mock.edit("data/flows.yml", "- action: utter_sent", "- actoin: utter_sent")
        line = mock.hears("a2a_mock.reload.failed")
        assert re.search(r"data/flows\.yml:8: flow.step_kind: .*actoin", line)
        assert mock.answer("Joe") == "Sent to Joe."
        mock.edit("data/flows.yml", "- actoin: utter_sent", "- action: utter_checked")
        mock.hears("a2a_mock.reload.done")
        mock.answer("send money")
        assert mock.answer("Joe") == "All is well."


@pytest.mark.req("RELOAD-1")
def test_conversation_goes_on_at_its_step_when_others_come_before_it(watched: Watch) -> None:
    with watched() as mock:
        assert mock.answer("send money") == "To whom?"
        mock.edit(
            "data/flows.yml",
            "- collect: recipient",
            "- action: utter_checked\n      - collect: recipient",
        )
        mock.hears("a2a_mock.reload.done")
        assert mock.answer("Joe") == "Sent to Joe."


@pytest.mark.req("RELOAD-1")
def test_frame_whose_step_vanished_is_dropped_with_a_log_line(watched: Watch) -> None:
    with watched() as mock:
        mock.answer("send money")
        mock.edit("data/flows.yml", "transfer_money:", "send_money:")
        mock.hears("a2a_mock.reload.done")
        assert mock.answer("send money") == "To whom?"
        assert "transfer_money" in mock.hears("a2a_server.dialogue.warning")
        assert mock.answer("Joe") == "Sent to Joe."


@pytest.mark.req("RELOAD-1")
def test_clean_tells_a_conversation_that_its_flow_has_changed(watched: Watch) -> None:
    with watched("--on-reload", "clean") as mock:
        mock.answer("send money", "in it")
        mock.answer("hm", "elsewhere")
        mock.edit("data/flows.yml", "- action: utter_sent", "- action: utter_checked")
        mock.hears("a2a_mock.reload.done")
        assert mock.answer("send money", "elsewhere") == "To whom?"
        told = mock.say("Joe", "in it")
        assert told["message"]["parts"][-1]["data"]["active_flow"] is None
        assert "update" in told["message"]["parts"][0]["text"]
        assert mock.answer("send money", "in it") == "To whom?"
        assert mock.answer("Joe", "in it") == "All is well."


@pytest.mark.req("RELOAD-1")
def test_clean_leaves_conversations_alone_whose_flow_is_the_same(watched: Watch) -> None:
    with watched("--on-reload", "clean") as mock:
        mock.answer("send money")
        mock.edit("data/slow.yml", "description: explain the fees", "description: tell the fees")
        mock.hears("a2a_mock.reload.done")
        assert mock.answer("Joe") == "Sent to Joe."


@pytest.mark.req("RELOAD-1")
@pytest.mark.parametrize(("flags", "follows"), [((), False), (("--watch-card",), True)])
def test_card_follows_if_it_is_asked_to(
    watched: Watch, flags: tuple[str, ...], follows: bool
) -> None:
    with watched(*flags) as mock:
        before = mock.skills()
        mock.edit("data/slow.yml", "explain_fees:", "tell_fees:")
        mock.hears("a2a_mock.reload.done")
        expected = [*before[:-1], "tell_fees"] if follows else before
        assert mock.skills() == expected


@pytest.mark.req("RELOAD-1")
def test_settings_of_the_server_wait_for_a_restart(watched: Watch) -> None:
    with watched() as mock:
        mock.edit("endpoints.yml", "A small bank", "A large bank")
        assert "endpoints.yml" in mock.hears("a2a_mock.reload.restart_needed")


@pytest.mark.parametrize(
    ("section", "text"),
    [
        ("llm: {base_url: http://127.0.0.1:9, model: m}", "llm of mock.yml has changed"),
        ("action_server: {kind: child, timeout_seconds: 5}", "action_server of mock.yml, or"),
    ],
)
def test_what_acts_and_understands_waits_for_a_restart(
    watched: Watch, section: str, text: str
) -> None:
    with watched() as mock:
        before = (mock.folder / "mock.yml").read_text()
        mock.save("mock.yml", f"# one line more\n{before}")
        assert "a2a_mock.reload.done" in mock.hears("a2a_mock.reload")
        mock.save("mock.yml", f"{before}\n{section}\n")
        mock.hears("a2a_mock.reload.done")
        line = mock.hears("a2a_mock.reload")
        assert "restart_needed" in line
        assert text in line


@pytest.mark.req("RELOAD-1")
def test_running_turn_keeps_its_version(watched: Watch) -> None:
    with watched() as mock:
        body = mock.mock.turn("check the account", "s1", "message/stream", context=None)
        with mock.mock.client.stream("POST", "/", json=body) as running:
            mock.edit("domain/slow.yml", "All is well.", "All is better.")
            mock.hears("a2a_mock.reload.done")
            told = running.read().decode()
        assert "All is well." in told
        assert mock.answer("check the account") == "All is better."


@pytest.mark.anyio
@pytest.mark.req("RELOAD-1")
async def test_edits_under_load_lose_nothing(run_mock: "RunMock", project: Path) -> None:
    (project / "data" / "slow.yml").unlink()
    flows = project / "data" / "flows.yml"
    good = flows.read_text()
    versions = [
        (good.replace("- action: utter_sent", "- action: utter_checked"), "flows=1"),
        (good.replace("- collect: recipient", "- colect: recipient"), "colect"),
        (good.replace("transfer_money:", "send_money:"), "flows=1"),
        (good[: good.index("- action: utter_sent") + 5], "'act'"),
        ("", "flows=0"),
        (good, "flows=1"),
    ]
    is_done = asyncio.Event()
    with run_mock(project, "--watch") as mock:
        async with httpx.AsyncClient(base_url=mock.url, timeout=60) as client:

            async def state_of(text: str, message_id: str, context: str) -> str:
                body = mock.turn(text, message_id, context=context)
                return (await client.post("/", json=body)).json()["result"]["status"]["state"]

            async def talk(number: int) -> None:
                for turn in count():
                    if turn % 2 == 0 and is_done.is_set():
                        return
                    text = ("send money", "Joe")[turn % 2]
                    state = await state_of(text, f"m{turn}", f"c{number}")
                    assert state in {"input-required", "completed", "rejected"}
                    has_talked[number].set()

            has_talked = [asyncio.Event() for _ in range(4)]
            log: list[str] = []
            async with asyncio.timeout(100), asyncio.TaskGroup() as talks:
                for number in range(4):
                    talks.create_task(talk(number))
                for version, expected in versions:
                    flows.write_text(version)
                    while not log or expected not in log[-1]:
                        log.append(await asyncio.to_thread(next, mock.log))
                    for talked in has_talked * 2:
                        talked.clear()
                        await talked.wait()
                is_done.set()
            assert await state_of("send money", "m", "last") == "input-required"
            assert await state_of("Joe", "n", "last") == "completed"
    assert any(re.search(r"data/flows\.yml:7: .*colect", line) for line in log)
    assert not any("execute.error" in line for line in log)
