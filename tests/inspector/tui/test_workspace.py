"""Journeys through the app over a real session with an agent on a socket."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from textual.events import Paste
from textual.pilot import Pilot
from textual.widgets import Input

from inspector.core.commands import FollowMode
from inspector.core.entries import Channel, FrameReceived, Purpose, RequestSent
from inspector.tui.app import InspectorApp
from inspector.tui.card_screen import CardScreen
from inspector.tui.composing.composer import Composer
from inspector.tui.conversation_panel import ConversationPanel
from inspector.tui.data_panel import DataPanel
from inspector.tui.drawing.block_list import BlockList
from inspector.tui.header import Header
from inspector.tui.keys import KeyBar
from inspector.tui.timeline_panel import TimelinePanel
from inspector.tui.workspace import Workspace
from inspector.wire.json_values import text_at

if TYPE_CHECKING:
    from tests.inspector.tui.conftest import Agent, Until

pytestmark = pytest.mark.anyio
WIDE = (160, 48)


def text_of(pilot: Pilot[int], panel: type[BlockList] | str) -> str:
    """Return everything that a panel shows, in sight or not."""
    screen = pilot.app.screen
    shown = (
        screen.query_one(panel, BlockList) if isinstance(panel, str) else screen.query_one(panel)
    )
    return "\n".join(block.plain for block in shown.blocks)


def composer(pilot: Pilot[int]) -> Composer:
    return pilot.app.screen.query_one(Composer)


async def type_text(pilot: Pilot[int], text: str) -> None:
    """Paste `text`, which takes the app one step and not one for each letter."""
    pilot.app.post_message(Paste(text))
    await pilot.pause()


@pytest.mark.req("TUI-1", "CONN-1")
async def test_card_names_the_agent_in_the_header(agent: "Agent", until: "Until") -> None:
    app = InspectorApp(agent.url)
    async with app.run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        assert "bank" in app.screen.query_one(Header).render().plain


@pytest.mark.req("CARDV-1")
async def test_card_screen_lists_the_skills_and_goes_back(agent: "Agent", until: "Until") -> None:
    app = InspectorApp(agent.url)
    async with app.run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        await pilot.press("f3")
        assert isinstance(app.screen, CardScreen)
        assert "transfer money" in text_of(pilot, "#card")
        await pilot.press("escape")
        assert isinstance(app.screen, Workspace)


@pytest.mark.req("TIME-2", "TIME-1")
async def test_stream_moves_the_timeline_while_it_runs(agent: "Agent", until: "Until") -> None:
    async with InspectorApp(agent.url).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        await type_text(pilot, "send 50 to Joe")
        await pilot.press("enter")
        await until(pilot, lambda: "◌ working" in text_of(pilot, TimelinePanel))
        assert "input-required" not in text_of(pilot, TimelinePanel)
        assert "waiting for message/stream" in composer(pilot).waiting
        agent.gate.set()
        await until(pilot, lambda: "◐ input-required ■" in text_of(pilot, TimelinePanel))
        assert "Which account?" in text_of(pilot, ConversationPanel)
        await until(pilot, lambda: not composer(pilot).waiting)


@pytest.mark.req("COMP-1", "COMP-1a", "DATA-1")
async def test_seeded_slots_go_out_and_come_back_marked(agent: "Agent", until: "Until") -> None:
    agent.gate.set()
    async with InspectorApp(agent.url).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        await pilot.press("ctrl+s")
        await type_text(pilot, "amount")
        await pilot.press("tab", "5", "0", "escape")
        await type_text(pilot, "send")
        await pilot.press("enter")
        await until(pilot, lambda: "amount" in text_of(pilot, DataPanel))
        row = next(line for line in text_of(pilot, DataPanel).splitlines() if "amount" in line)
        assert row.split() == ["+", "amount", "50", "new", "seeded"]
        assert agent.slots() == {"amount": 50}
        assert "amount=50  as metadata" in text_of(pilot, ConversationPanel)


@pytest.mark.req("DATA-1")
async def test_second_turn_marks_what_changed(agent: "Agent", until: "Until") -> None:
    agent.gate.set()
    async with InspectorApp(agent.url).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        for amount, mark in (("50", "+"), ("60", "~")):
            await pilot.press("ctrl+s", *"amount", "tab", *amount, "escape", "g", "o", "enter")
            await until(pilot, lambda m=mark: f"{m} amount" in text_of(pilot, DataPanel))
        assert "50 → 60" in text_of(pilot, DataPanel)


@pytest.mark.req("WIRE-1")
async def test_wire_view_shows_the_bytes_of_the_selected_exchange(
    agent: "Agent", until: "Until"
) -> None:
    agent.gate.set()
    async with InspectorApp(agent.url).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        await type_text(pilot, "hello")
        await pilot.press("enter")
        await until(pilot, lambda: "Which account?" in text_of(pilot, ConversationPanel))
        await pilot.press("f2")
        await until(pilot, lambda: "message/stream" in text_of(pilot, "#exchanges"))
        bytes_shown = text_of(pilot, "#bytes")
        assert f"→ POST {agent.url}" in bytes_shown
        assert '"text": "hello"' in bytes_shown
        await pilot.press("p")
        assert 'data: {"jsonrpc": "2.0"' in text_of(pilot, "#bytes")


@pytest.mark.req("COMP-3")
async def test_cancel_reaches_the_agent_and_ends_the_stream(agent: "Agent", until: "Until") -> None:
    async with InspectorApp(agent.url).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        await pilot.press("g", "o", "enter")
        await until(pilot, lambda: "working" in text_of(pilot, TimelinePanel))
        await pilot.press("ctrl+x")
        await until(pilot, lambda: "⊘ canceled" in text_of(pilot, TimelinePanel))
        assert agent.canceled.is_set()


@pytest.mark.req("CLI-5", "TUI-2")
async def test_dead_agent_gives_an_error_at_its_exchange(agent: "Agent", until: "Until") -> None:
    async with InspectorApp(agent.url).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        agent.stop()
        await until(pilot, agent.is_gone)
        await type_text(pilot, "hello")
        await pilot.press("enter")
        await until(pilot, lambda: "✗" in text_of(pilot, ConversationPanel))
        assert "error" in text_of(pilot, TimelinePanel)
        await pilot.press("escape", "w")
        await until(pilot, lambda: "✗" in text_of(pilot, "#bytes"))


@pytest.mark.req("TIME-3")
async def test_selection_is_one_in_all_panels(agent: "Agent", until: "Until") -> None:
    agent.gate.set()
    async with InspectorApp(agent.url).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        for word in ("one", "two"):
            await pilot.press(*word, "enter")
            await until(pilot, lambda w=word: f"{w}" in text_of(pilot, TimelinePanel))
            await until(pilot, lambda: not composer(pilot).waiting)
        await pilot.press("escape", "home")
        timeline = pilot.app.screen.query_one(TimelinePanel)
        assert timeline.current is not None
        assert "one" in timeline.current.plain
        await pilot.press("end")
        assert timeline.is_at_end


@pytest.mark.req("COMP-4")
async def test_up_recalls_the_last_turn(agent: "Agent", until: "Until") -> None:
    agent.gate.set()
    async with InspectorApp(agent.url).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        await pilot.press("h", "i", "enter")
        await until(pilot, lambda: "Which account?" in text_of(pilot, ConversationPanel))
        await pilot.press("up")
        assert composer(pilot).prompt.text == "hi"


@pytest.mark.req("COMP-2")
async def test_context_is_kept_until_a_new_one_is_asked_for(agent: "Agent", until: "Until") -> None:
    agent.gate.set()
    async with InspectorApp(agent.url).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        await pilot.press("a", "enter")
        await until(pilot, lambda: composer(pilot).options.context_id == "c-1")
        await pilot.press("b", "enter", "ctrl+n", "c", "enter")
        await until(pilot, lambda: len(agent.requests) == 3)
        contexts = [
            text_at(request, "params", "message", "contextId") for request in agent.requests
        ]
        assert contexts == [None, "c-1", None]


@pytest.mark.req("COMP-2", "COMP-3")
async def test_follow_mode_turns_and_offers_answer_by_number(
    agent: "Agent", until: "Until"
) -> None:
    async with InspectorApp(agent.url).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        await pilot.press("ctrl+t", "a", "enter")
        await until(pilot, lambda: "[1] checking" in text_of(pilot, ConversationPanel))
        assert composer(pilot).options.follow is FollowMode.BLOCKING
        await pilot.press("1", "enter")
        await until(pilot, lambda: len(agent.requests) == 2)
        assert "/SetSlots(account=checking)" in str(agent.requests[1])


@pytest.mark.req("COMP-2")
async def test_last_turn_is_sent_again_with_its_message_id(agent: "Agent", until: "Until") -> None:
    agent.gate.set()
    async with InspectorApp(agent.url).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        await pilot.press("a", "enter")
        await until(pilot, lambda: "Which" in text_of(pilot, ConversationPanel))
        await pilot.press("ctrl+g")
        await until(pilot, lambda: len(agent.requests) == 2)
        first, second = (
            text_at(request, "params", "message", "messageId") for request in agent.requests
        )
        assert first == second


@pytest.mark.req("TUI-1")
async def test_letters_act_in_panels_and_are_text_in_the_composer(
    agent: "Agent", until: "Until"
) -> None:
    async with InspectorApp(agent.url).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        await pilot.press("s")
        assert composer(pilot).prompt.text == "s"
        await pilot.press("escape", "s")
        assert composer(pilot).drawer.is_open
        assert isinstance(pilot.app.focused, Input)


@pytest.mark.req("TUI-1")
async def test_narrow_screen_shows_one_panel_and_the_composer(
    agent: "Agent", until: "Until"
) -> None:
    async with InspectorApp(agent.url).run_test(size=(80, 24)) as pilot:
        await until.connected(pilot)
        await pilot.press("escape", "2")
        await pilot.pause()
        screen = pilot.app.screen
        assert screen.query_one(TimelinePanel).display
        assert not screen.query_one(ConversationPanel).display
        assert composer(pilot).display


@pytest.mark.req("TUI-1")
async def test_click_on_an_offer_sends_its_payload(agent: "Agent", until: "Until") -> None:
    async with InspectorApp(agent.url).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        await pilot.press("ctrl+t", "a", "enter")
        await until(pilot, lambda: "[1] checking" in text_of(pilot, ConversationPanel))
        conversation = pilot.app.screen.query_one(ConversationPanel)
        drawn = [
            "".join(segment.text for segment in conversation.render_line(y))
            for y in range(conversation.size.height)
        ]
        row = next(y for y, line in enumerate(drawn) if "[1] checking" in line)
        await pilot.click(ConversationPanel, offset=(drawn[row].index("checking") + 2, row + 1))
        await until(pilot, lambda: len(agent.requests) == 2)
        assert "/SetSlots(account=checking)" in str(agent.requests[1])


@pytest.mark.req("TUI-1")
async def test_footer_is_clickable(agent: "Agent", until: "Until") -> None:
    async with InspectorApp(agent.url).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        bar = pilot.app.screen.query_one(KeyBar)
        await pilot.click(KeyBar, offset=(bar.render().plain.index("card"), 0))
        await until(pilot, lambda: isinstance(pilot.app.screen, CardScreen))


@pytest.mark.req("TUI-1")
async def test_symbols_have_an_ascii_set(
    agent: "Agent", until: "Until", screen_text: Callable[[Pilot[int]], str]
) -> None:
    agent.gate.set()
    async with InspectorApp(agent.url).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        await pilot.press("a", "enter")
        await until(pilot, lambda: "input-required" in text_of(pilot, TimelinePanel))
        assert "◐ input-required ■" in screen_text(pilot)
        await pilot.app.screen.run_action("screen.do('symbols')")
        assert "> input-required #" in screen_text(pilot)
        assert screen_text(pilot).isascii()


@pytest.mark.req("TUI-1")
async def test_copies_curl_and_the_headless_twin(agent: "Agent", until: "Until") -> None:
    agent.gate.set()
    async with InspectorApp(agent.url).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        await pilot.press("h", "i", "enter")
        await until(pilot, lambda: "Which" in text_of(pilot, ConversationPanel))
        await pilot.press("escape", "Y")
        assert pilot.app.clipboard == f"a2a-inspect send {agent.url} hi --stream"
        await pilot.press("w")
        await until(pilot, lambda: text_of(pilot, "#bytes"))
        await pilot.press("y")
        assert pilot.app.clipboard.startswith(f"curl -X POST {agent.url}")


@pytest.mark.req("TIME-2", "CONN-5")
async def test_burst_of_updates_is_drawn_together(agent: "Agent", until: "Until") -> None:
    """Two thousand entries at once make one frame, and a key right after them is answered."""
    async with InspectorApp(agent.url).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        workspace = pilot.app.screen
        assert isinstance(workspace, Workspace)
        request = RequestSent(5, 0, 9, Purpose.STREAM, "POST", agent.url, (), b"{}")
        workspace.take(request)
        for number in range(2000):
            event = agent.event({"id": 1}, agent.update("working"))
            workspace.take(FrameReceived(number + 6, number, 9, Channel.SSE, event))
        await pilot.press("escape", "2")
        await until(pilot, lambda: len(pilot.app.screen.query_one(TimelinePanel).blocks) == 2001)
        assert pilot.app.screen.query_one(TimelinePanel).is_at_end
