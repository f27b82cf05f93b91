"""Everything of a turn is composed on the screen and goes out as it was shown."""

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from textual.events import Paste
from textual.pilot import Pilot
from textual.widgets import Button, Input, OptionList, Static

from inspector.core.commands import Also, SlotShape, Turn
from inspector.core.requests import read_part
from inspector.core.saved.recording import encode_entry
from inspector.core.saved.session_store import find_session
from inspector.demo import serve_bank
from inspector.folders import sessions_folder
from inspector.tui.app import InspectorApp
from inspector.tui.composing.composer import Composer, History
from inspector.tui.composing.pairs_table import PairLine
from inspector.tui.keys import KeyBar
from inspector.tui.workspace import Workspace
from inspector.wire.json_values import Json, at, object_at, parse_json, text_at

if TYPE_CHECKING:
    from tests.inspector.conftest import RawServer, StartAgent
    from tests.inspector.tui.conftest import Until

pytestmark = pytest.mark.anyio
WIDE = (160, 60)
BANK = Path(__file__).parents[3] / "examples" / "bank"


async def answer(head: str, body: bytes, writer: asyncio.StreamWriter) -> None:
    """Complete a task in the context that was asked for, whatever the body is."""
    request = parse_json(body).value
    context_id = text_at(request, "params", "message", "contextId") or "c-1"
    slots = object_at(request, "params", "message", "metadata", "slots")
    parts: list[Json] = [
        {"kind": "text", "text": "Done."},
        {"kind": "data", "data": {"slots": slots}},
    ]
    message: Json = {"kind": "message", "role": "agent", "messageId": "a", "parts": parts}
    status: Json = {
        "state": "completed",
        "timestamp": "2026-11-20T10:00:00+00:00",
        "message": message,
    }
    task: Json = {"kind": "task", "id": "t-1", "contextId": context_id, "status": status}
    envelope: Json = {"jsonrpc": "2.0", "id": at(request, "id"), "result": task}
    reply = json.dumps(envelope).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(reply)}"
    writer.write(f"{head}\r\nConnection: close\r\n\r\n".encode() + reply)


@pytest.fixture
def server(start_agent: "StartAgent") -> "RawServer":
    return start_agent(answer)


@pytest.fixture(scope="module")
def bank() -> Iterator[str]:
    with serve_bank() as url:
        yield url


def posts(server: "RawServer") -> list[tuple[str, bytes]]:
    return [(head, body) for head, body in server.requests if head.startswith("POST")]


def params_of(server: "RawServer", number: int = -1) -> dict[str, Json]:
    return object_at(parse_json(posts(server)[number][1]).value, "params")


def composer(pilot: Pilot[int]) -> Composer:
    return pilot.app.screen.query_one(Composer)


def workspace(pilot: Pilot[int]) -> Workspace:
    screen = pilot.app.screen
    assert isinstance(screen, Workspace)
    return screen


def preview(pilot: Pilot[int]) -> str:
    return str(pilot.app.screen.query_one("#preview", Static).content)


def options(pilot: Pilot[int]) -> str:
    return str(pilot.app.screen.query_one("#options", Static).content)


async def write(pilot: Pilot[int], text: str) -> None:
    """Paste `text`, which takes the app one step and not one for each letter."""
    pilot.app.post_message(Paste(text))
    await pilot.pause()


async def send(pilot: Pilot[int], until: "Until", text: str) -> None:
    """Send `text` and wait until it is answered."""
    before = len(workspace(pilot).view.exchanges)
    await write(pilot, text)
    await pilot.press("enter")
    await until(pilot, lambda: len(workspace(pilot).view.exchanges) > before)
    await until(pilot, lambda: not workspace(pilot).view.running)


def methods(pilot: Pilot[int]) -> list[str | None]:
    return [one.rpc_method for one in workspace(pilot).view.exchanges]


async def choose(pilot: Pilot[int], group: str, name: str) -> None:
    """Press the choice `name` as the keyboard does."""
    buttons = pilot.app.screen.query_one(group).query(Button)
    next(button for button in buttons if button.name == name).focus()
    await pilot.press("enter")


async def fill(pilot: Pilot[int], field: str, text: str) -> None:
    pilot.app.screen.query_one(field, Input).focus()
    await write(pilot, text)


@pytest.mark.req("COMP-2", "TUI-1")
@pytest.mark.parametrize("key", ["space", "enter"])
async def test_space_and_enter_toggle_a_choice(
    key: str, server: "RawServer", until: "Until"
) -> None:
    async with InspectorApp(server.url).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        await pilot.press("ctrl+o")
        pilot.app.screen.query("#which-also Button")[1].focus()
        for also in (frozenset({Also.POLL}), frozenset[Also]()):
            await pilot.press(key)
            assert workspace(pilot).composer.options.also == also


@pytest.mark.req("COMP-2", "COMP-3")
async def test_every_option_of_the_drawer_goes_out(server: "RawServer", until: "Until") -> None:
    async with InspectorApp(server.url).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        await pilot.press("ctrl+o")
        await fill(pilot, "#context-id", "c-9")
        await fill(pilot, "#message-id", "m-9")
        await fill(pilot, "#task-id", "t-9")
        await fill(pilot, "#history", "3")
        await fill(pilot, "#modes", "text/plain, image/png")
        await choose(pilot, "#which-follow", "blocking")
        await until(pilot, lambda: "wait for answer" in options(pilot))
        assert "in ctx c-9" in options(pilot)
        assert '"historyLength": 3' in preview(pilot)
        await pilot.press("escape")
        await send(pilot, until, "hi")
        assert params_of(server) == {
            "message": {
                "kind": "message",
                "messageId": "m-9",
                "role": "user",
                "parts": [{"kind": "text", "text": "hi"}],
                "contextId": "c-9",
                "taskId": "t-9",
            },
            "configuration": {
                "acceptedOutputModes": ["text/plain", "image/png"],
                "historyLength": 3,
                "blocking": True,
            },
        }
        assert composer(pilot).options.message_id is None
        assert composer(pilot).options.history_length == 3


@pytest.mark.req("TUI-1")
async def test_arrows_walk_the_drawer(server: "RawServer", until: "Until") -> None:
    async with InspectorApp(server.url).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        await pilot.press("ctrl+o", "down", "down", "down", "right", "enter", "down", "enter")
        await until(pilot, lambda: "wait for answer + poll" in options(pilot))
        await pilot.press("up", "left", "enter")
        await until(pilot, lambda: "stream + poll" in options(pilot))
        await pilot.press("down", "down", "down", "7")
        assert pilot.app.screen.query_one("#history", Input).value == "7"


@pytest.mark.req("COMP-2", "CONN-3")
async def test_metadata_and_headers_go_out_and_secrets_stay_out_of_the_log(
    server: "RawServer",
    until: "Until",
    monkeypatch: pytest.MonkeyPatch,
    secret: Callable[[str], str],
) -> None:
    monkeypatch.setenv("TENANT_KEY", secret("tenant-key-4711"))
    async with InspectorApp(server.url).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        await pilot.press("escape", "m")
        await write(pilot, "user")
        await pilot.press("tab")
        await write(pilot, '{"id": 7}')
        await pilot.press("ctrl+pagedown", "ctrl+pagedown")
        await write(pilot, "X-Tenant")
        await pilot.press("tab")
        await write(pilot, "key ${TENANT_KEY}")
        await pilot.press("escape")
        await send(pilot, until, "hi")
        assert "\r\nx-tenant: key tenant-key-4711" in posts(server)[0][0].lower()
        assert at(params_of(server), "message", "metadata") == {"user": {"id": 7}}
        session = workspace(pilot).session
        assert session is not None
        log = "".join(str(encode_entry(entry)) for entry in session.log.entries)
        assert "X-Tenant" in log
        assert "tenant-key" not in log
        # sent again, the header is what its writer gave it
        await pilot.press("escape", "r")
        await until(pilot, lambda: len(posts(server)) == 2)
        assert "tenant-key-4711" in posts(server)[1][0]


@pytest.mark.req("COMP-2")
async def test_header_of_an_unset_variable_is_told_and_the_turn_kept(
    server: "RawServer", until: "Until"
) -> None:
    async with InspectorApp(server.url).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        await pilot.press("escape", "H")
        await write(pilot, "X-A")
        await pilot.press("tab")
        await write(pilot, "${NOT_SET_ANYWHERE}")
        await pilot.press("escape", "h", "i", "enter")
        await until(pilot, lambda: "NOT_SET_ANYWHERE" in pilot.app.screen.query_one(KeyBar).notice)
        assert not posts(server)
        await pilot.press("up")
        await until(pilot, lambda: composer(pilot).prompt.text == "hi")


@pytest.mark.req("COMP-1")
async def test_file_is_attached_by_its_path_shown_with_its_size_and_removable(
    server: "RawServer", until: "Until", tmp_path: Path
) -> None:
    tmp_path.joinpath("receipt.txt").write_bytes(b"x" * 2000)
    async with InspectorApp(server.url).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        await pilot.press("ctrl+f")
        await write(pilot, f"{tmp_path}/rec")
        field = pilot.app.screen.query_one("#attach", Input)
        await until(pilot, lambda: field._suggestion)  # pyright: ignore[reportPrivateUsage] # Textual tells nobody that a suggestion is there
        await pilot.press("right", "enter")
        await until(pilot, lambda: "parts 1" in options(pilot))
        line = pilot.app.screen.query_one("PartLine .part", Static)
        assert str(line.content) == "file  receipt.txt  text/plain  2.0 kB"
        await write(pilot, '{"kind": "data", "data": {"a": 1}}')
        await pilot.press("enter")
        await until(pilot, lambda: "parts 2" in options(pilot))
        await pilot.click("PartLine Button")
        await until(pilot, lambda: "parts 1" in options(pilot))
        await pilot.press("escape", "enter")
        await until(pilot, lambda: posts(server))
        parts = at(params_of(server), "message", "parts")
        assert parts == [{"kind": "data", "data": {"a": 1}}]


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("/no/such/file", "No such file"),
        ("~no-such-user/file", "No such file"),
        ("a" * 300, "File name too long"),
    ],
    ids=["missing", "home", "long"],
)
@pytest.mark.req("COMP-1")
async def test_what_cannot_be_attached_is_told_in_place(
    server: "RawServer", until: "Until", typed: str, why: str
) -> None:
    async with InspectorApp(server.url).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        await pilot.press("ctrl+f")
        await write(pilot, typed)
        await pilot.press("enter")
        problem = pilot.app.screen.query_one("#attach-problem", Static)
        await until(pilot, lambda: why in str(problem.content))


@pytest.mark.req("COMP-1", "COMP-1a", "SLOT-1")
async def test_winner_and_the_text_left_are_shown_before_sending(
    server: "RawServer", until: "Until"
) -> None:
    async with InspectorApp(server.url).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        composer(pilot).prompt.write('pay\nSLOTS: {"amount": 1}')
        await pilot.press("ctrl+s")
        await write(pilot, "amount")
        await pilot.press("tab")
        await write(pilot, "2")
        await choose(pilot, "#shapes", "data")
        await until(pilot, lambda: "wins" in preview(pilot) and "DataPart" in preview(pilot))
        assert (
            "amount by a DataPart, over the same in message.metadata, 1 in a SLOTS: line"
            in preview(pilot)
        )
        assert preview(pilot).splitlines()[1].split(maxsplit=2)[2] == "pay"


@pytest.mark.req("COMP-1")
async def test_type_known_from_the_agent_is_kept_and_a_wrong_value_marked(
    server: "RawServer", until: "Until"
) -> None:
    async with InspectorApp(server.url).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        await pilot.press("ctrl+s")
        await write(pilot, "code")
        await pilot.press("tab")
        await write(pilot, '"050"')
        await pilot.press("escape")
        await send(pilot, until, "hi")
        await pilot.press("ctrl+s")
        await write(pilot, "code")
        await pilot.press("tab")
        await write(pilot, "051")
        line = pilot.app.screen.query(PairLine).first()
        assert line.value() == "051"
        assert line.query_one(".value", Input).placeholder == "now 050"


@pytest.mark.req("COMP-1a")
async def test_project_types_the_slots_and_offers_their_values(
    server: "RawServer", until: "Until"
) -> None:
    async with InspectorApp(server.url, project=BANK).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        await pilot.press("ctrl+s")
        await write(pilot, "account")
        await pilot.press("tab")
        line = pilot.app.screen.query(PairLine).first()
        assert line.query_one(".value", Input).placeholder == "checking | savings"
        await write(pilot, "50")
        assert line.has_class("-odd")
        assert line.value() == "50"
        await pilot.press("backspace", "backspace", *"savings")
        assert not line.has_class("-odd")
        assert str(line.query_one(Button).label) == "choice"


@pytest.mark.req("COMP-1", "CONN-5")
async def test_raw_body_goes_out_byte_for_byte_even_when_it_is_no_json(
    server: "RawServer", until: "Until"
) -> None:
    async with InspectorApp(server.url).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        await write(pilot, "hi")
        await pilot.press("f6", "x")
        await until(pilot, lambda: "✗ not JSON" in options(pilot))
        written = composer(pilot).raw.body
        assert written.startswith(b'x{\n  "jsonrpc": "2.0"')
        await pilot.press("f5")
        await until(pilot, lambda: posts(server))
        assert posts(server)[0][1] == written
        # and again from the log, whatever the fields hold by then
        await pilot.press("escape", "r")
        await until(pilot, lambda: len(posts(server)) == 2)
        assert posts(server)[1][1] == written


@pytest.mark.req("COMP-1")
async def test_raw_body_is_taken_back_into_the_fields(server: "RawServer", until: "Until") -> None:
    async with InspectorApp(server.url).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        await write(pilot, "hi")
        await pilot.press("f6")
        body = composer(pilot).raw.body.replace(b'"hi"', b'"ho"')
        composer(pilot).raw.write(body)
        await pilot.press("f6")
        await until(pilot, lambda: composer(pilot).prompt.text == "ho")
        assert not composer(pilot).is_raw
        assert composer(pilot).options.message_id is None


@pytest.mark.req("COMP-1")
async def test_look_at_the_raw_body_changes_nothing(server: "RawServer", until: "Until") -> None:
    async with InspectorApp(server.url).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        await write(pilot, "hi")
        given = composer(pilot).options.toggled_context().next_shape()
        composer(pilot).options = given
        await pilot.press("f6")
        assert composer(pilot).is_raw
        await pilot.press("f6")
        await until(pilot, lambda: not composer(pilot).is_raw)
        assert composer(pilot).options == given
        assert composer(pilot).prompt.text == "hi"


@pytest.mark.req("COMP-1")
async def test_raw_body_that_no_field_can_hold_is_dropped_when_asked_twice(
    server: "RawServer", until: "Until"
) -> None:
    async with InspectorApp(server.url).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        await pilot.press("f6", "x", "f6")
        await until(pilot, lambda: "again drops it" in pilot.app.screen.query_one(KeyBar).notice)
        assert composer(pilot).is_raw
        await pilot.press("f6")
        await until(pilot, lambda: not composer(pilot).is_raw)


@pytest.mark.req("COMP-4")
async def test_selected_turn_is_edited_with_all_it_carried(
    server: "RawServer", until: "Until"
) -> None:
    async with InspectorApp(server.url).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        turn = Turn(
            "first",
            slots={"amount": 50},
            slot_shapes=(SlotShape.LINE, SlotShape.DATA),
            metadata={"user": "u"},
            parts=(read_part('{"kind": "data", "data": {"a": 1}}'),),
            history_length=2,
        )
        await composer(pilot).write(turn)
        await pilot.press("enter")
        await until(pilot, lambda: len(workspace(pilot).view.chat) == 2)
        await send(pilot, until, "second")
        await pilot.press("escape", "home", "e")
        await until(pilot, lambda: composer(pilot).prompt.text == "first")
        await pilot.press("!", "enter")
        await until(pilot, lambda: len(posts(server)) == 3)
        first, _, third = (params_of(server, number) for number in range(3))
        assert text_at(third, "message", "parts", 0, "text") == ('first!\nSLOTS: {"amount":50}')
        assert text_at(third, "message", "contextId") == "c-1"
        for field in ("metadata", "role"):
            assert at(third, "message", field) == at(first, "message", field)
        assert at(third, "message", "parts", 2) == at(first, "message", "parts", 2)
        assert text_at(third, "message", "messageId") != text_at(first, "message", "messageId")


@pytest.mark.req("COMP-4", "SESS-1")
async def test_turns_of_a_reopened_session_are_edited_and_recalled(
    server: "RawServer", until: "Until"
) -> None:
    async with InspectorApp(server.url).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        await composer(pilot).write(Turn("first", slots={"amount": 50}))
        await pilot.press("enter")
        await until(pilot, lambda: len(workspace(pilot).view.chat) == 2)
    path = find_session(sessions_folder(), "last")
    async with InspectorApp(session=path).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        await pilot.press("up")
        await until(pilot, lambda: "slots 1" in options(pilot))
        assert composer(pilot).prompt.text == "first"
        assert composer(pilot).turn().slots == {"amount": 50}
        await composer(pilot).write(Turn(""))
        await pilot.press("escape", "e")
        await until(pilot, lambda: composer(pilot).prompt.text == "first")


@pytest.mark.req("COMP-2", "COMP-3", "TURN-5")
async def test_same_message_again_is_replayed_by_the_bank(bank: str, until: "Until") -> None:
    async with InspectorApp(bank).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        await send(pilot, until, "send 50 to Joe")
        await pilot.press("escape", "d")
        await until(pilot, lambda: len(workspace(pilot).view.tasks) == 2)
        await until(pilot, lambda: not workspace(pilot).view.running)
        first, again = workspace(pilot).view.tasks
        assert first.task_id == again.task_id
        assert first.message_id == again.message_id


@pytest.mark.req("COMP-2", "TURN-5")
async def test_same_message_twice_at_once_meets_a_conflict(bank: str, until: "Until") -> None:
    async with InspectorApp(bank).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        await send(pilot, until, "what does it cost")
        await pilot.press("escape", "D")

        def statuses() -> list[int]:
            sent = workspace(pilot).view.exchanges[-2:]
            return sorted(one.response.status for one in sent if one.response is not None)

        await until(pilot, lambda: statuses() == [200, 409])


@pytest.mark.req("COMP-3")
async def test_task_is_asked_for_and_resubscribed_to(bank: str, until: "Until") -> None:
    async with InspectorApp(bank).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        await send(pilot, until, "send 50 to Joe")
        await pilot.press("escape", "T")
        await until(pilot, lambda: methods(pilot)[-1] == "tasks/get")
        await until(pilot, lambda: not workspace(pilot).view.running)
        await pilot.press("R")
        await until(pilot, lambda: methods(pilot)[-1] == "tasks/resubscribe")
        await until(pilot, lambda: not workspace(pilot).view.running)
        states = [one.progress.state for one in workspace(pilot).view.exchanges[-2:]]
        assert states == ["input-required", "input-required"]


@pytest.mark.req("COMP-3")
async def test_chosen_ways_follow_the_task(bank: str, until: "Until") -> None:
    async with InspectorApp(bank).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        await pilot.press("ctrl+o")
        await choose(pilot, "#which-follow", "no-blocking")
        await choose(pilot, "#which-also", "poll")
        await until(pilot, lambda: "return at once + poll" in options(pilot))
        await pilot.press("escape")
        await send(pilot, until, "what does it cost")
        await until(pilot, lambda: "tasks/get" in methods(pilot))


@pytest.mark.req("COMP-4")
async def test_turn_and_slots_are_kept_under_a_name_and_taken_up(
    server: "RawServer", until: "Until"
) -> None:
    async with InspectorApp(server.url).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        await composer(pilot).write(Turn("pay", slots={"amount": 50}, metadata={"user": "u"}))
        await pilot.press("f12", *"fifty", "enter")
        await until(pilot, lambda: "kept as fifty" in pilot.app.screen.query_one(KeyBar).notice)
        await pilot.press("f12", *"vip", "down", "enter")
        await until(pilot, lambda: "kept as vip" in pilot.app.screen.query_one(KeyBar).notice)
        await composer(pilot).write(Turn(""))
        await pilot.press("f12", *"fif", "enter")
        await until(pilot, lambda: composer(pilot).prompt.text == "pay")
        assert composer(pilot).turn().metadata == {"user": "u"}
        await composer(pilot).write(Turn(""))
        await pilot.press("f12", *"vip", "enter")
        await until(pilot, lambda: composer(pilot).turn().slots == {"amount": 50})
        assert composer(pilot).prompt.text == ""
        await pilot.press("f12", *"vip", "ctrl+d")
        await pilot.press("escape", "f12", *"vip")
        options = pilot.app.screen.query_one(OptionList)
        shown = [str(options.get_option_at_index(at).prompt) for at in range(options.option_count)]
        assert all(line.startswith("+") for line in shown)


async def test_terminal_without_an_editor_says_so(server: "RawServer", until: "Until") -> None:
    async with InspectorApp(server.url).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        await pilot.press("h", "i", "ctrl+e")
        notice = "the terminal cannot be handed over to another program"
        await until(pilot, lambda: pilot.app.screen.query_one(KeyBar).notice == notice)
        assert composer(pilot).prompt.text == "hi"


FIRST, SECOND, DRAFT = Turn("first"), Turn("second"), Turn("half a sen")


@pytest.fixture
def history() -> History:
    history = History()
    history.keep_unsent(FIRST)
    history.keep_unsent(SECOND)
    return history


@pytest.mark.req("COMP-4")
def test_what_was_written_comes_back_after_the_newest(history: History) -> None:
    assert history.step((), -1, DRAFT) == SECOND
    assert history.step((), -1, SECOND) == FIRST
    assert history.step((), -1, FIRST) == FIRST
    assert history.step((), 1, FIRST) == SECOND
    assert history.is_recalling
    assert history.step((), 1, SECOND) == DRAFT
    assert not history.is_recalling


@pytest.mark.req("COMP-4")
def test_nothing_comes_after_what_is_written(history: History) -> None:
    assert history.step((), 1, DRAFT) is None
    assert History().step((), -1, DRAFT) is None
