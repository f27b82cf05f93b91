"""What was said: the user's turns with their slots, the agent's answers with their buttons."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime

from textual import events
from textual.content import Content
from textual.style import Style

from inspector.core.commands import Json
from inspector.tui import ink
from inspector.tui.blocks import Block, BlockList, Line
from inspector.tui.messages import OfferTaken, Place
from inspector.tui.quantities import wall_clock
from inspector.tui.redraw import Drawn, redraw
from inspector.tui.safe_text import safe, safe_line
from inspector.tui.symbols import UNICODE, state_ink, state_name, state_sign
from inspector.views.chat import Offer, Said


class Conversation(BlockList):
    """The chat of one context, newest at the end."""

    def __init__(self, started: datetime) -> None:
        super().__init__(wraps=True, id="conversation", empty="Nothing said yet: write below.")
        self.border_title = "1 Conversation"
        self.symbols = UNICODE
        self.agent = "agent"
        self._started = started
        self._drawn_chat: Drawn[Said] = Drawn()

    def show_chat(self, chat: Sequence[Said]) -> None:
        self._drawn_chat = redraw(self._drawn_chat, chat, self._draw)
        self.show(self._drawn_chat.blocks)

    def redraw_all(self) -> None:
        chat = self._drawn_chat.items
        self._drawn_chat = Drawn()
        self.show_chat(chat)

    def on_click(self, event: events.Click) -> None:
        payload: object = event.style.meta.get("offer")
        if isinstance(payload, str):
            event.prevent_default()
            self.post_message(OfferTaken(payload))

    def _draw(self, said: Said) -> Block:
        lines = [self._heading(said)]
        lines += [Line(Content(line), 2) for line in safe(said.text).split("\n") if said.text]
        if said.slots:
            lines.append(Line(slots_line(said.slots, said.slot_shapes), 2))
        lines += [Line(offer_line(offer), 2) for offer in said.offers]
        lines += _problem_lines(said)
        lines.append(Line(Content("")))
        return Block(Place(said.exchange, said.seq), tuple(lines))

    def _heading(self, said: Said) -> Line:
        is_user = said.speaker == "you"
        who = "you" if is_user else safe_line(self.agent)
        parts = [
            (wall_clock(self._started, said.at_ms), ink.DIM),
            "  ",
            (who, f"{ink.KEY} bold" if is_user else "bold"),
        ]
        if said.state is not None:
            sign = state_sign(self.symbols, said.state)
            parts += ["  ", (f"{sign} {state_name(said.state)}", state_ink(said.state))]
        return Line(Content.assemble(*parts))


def slots_line(slots: Mapping[str, Json], shapes: Sequence[str]) -> Content:
    pairs = "  ".join(f"{safe_line(name)}={value_text(value)}" for name, value in slots.items())
    return Content.assemble((pairs, ink.ACCENT), ("  as " + ", ".join(shapes), ink.DIM))


def value_text(value: Json) -> str:
    """Return `value` as a person would type it: text bare, everything else as JSON."""
    if isinstance(value, str):
        return safe_line(value)
    return safe_line(json.dumps(value, ensure_ascii=False))


def offer_line(offer: Offer) -> Content:
    """Return a button; a click on it carries its payload."""
    text = Content.assemble(
        (f"[{offer.number}]", f"{ink.KEY} bold"), " ", safe_line(offer.title), end=""
    )
    return text.stylize(Style.from_meta({"offer": offer.payload}))


def _problem_lines(said: Said) -> list[Line]:
    if not said.problem:
        return []
    first, *rest = safe(said.problem).split("\n")
    lines = [Line(Content.styled(f"✗ {first}", ink.BAD), 2)]
    lines += [Line(Content.styled(line, ink.WARN), 4) for line in rest]
    lines.append(Line(Content.assemble(("w", ink.KEY), (" what was sent and came", ink.DIM)), 4))
    return lines
