"""What was said: the user's turns with their slots, the agent's answers with their buttons."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import chain

from textual import events
from textual.content import Content
from textual.style import Style

from inspector.tui.drawing import styles
from inspector.tui.drawing.block_list import Block, BlockList, ItemBlocks, Line
from inspector.tui.drawing.safe_text import safe, safe_line, value_text, wall_clock
from inspector.tui.drawing.styles import state_text
from inspector.tui.layout import PANEL_BY_ID
from inspector.tui.log_view import LogView
from inspector.tui.messages import OfferTaken, Place
from inspector.tui.panel import Payload, entry_payload, received_payload
from inspector.tui.timeline_panel import SHORT_ID
from inspector.views.card import CardView
from inspector.views.chat import ChatMessage, Offer
from inspector.views.exchanges import Exchange
from inspector.views.problems import WayOn
from inspector.wire.json_values import Json

MOST_SKILLS = 12
# What most messages take, with the line above and the empty one below.
TYPICAL_LINES = 4
WRITE_BELOW = "Nothing said yet. Write below."


class ConversationPanel(BlockList):
    """The chat of one context, newest at the end."""

    def __init__(self, started: datetime) -> None:
        super().__init__(wraps=True, id="conversation", empty=WRITE_BELOW)
        self.title = PANEL_BY_ID["conversation"].heading
        self.count: tuple[int, int] | None = None
        self.agent = "agent"
        self._view = LogView()
        self._started = started
        self._trouble: ChatMessage | None = None
        self._messages: ItemBlocks[ChatMessage | CardView] = ItemBlocks(
            self._draw, _place_of, wraps=True, guess=TYPICAL_LINES
        )
        self.source = self._messages

    def show_view(self, view: LogView) -> None:
        before, self._view = self._view, view
        chat = view.passing.chat
        self.count = (len(chat), len(view.chat)) if view.is_filtered else None
        if view.views is not before.views or view.passing is not before.passing:
            self._show_chat(view)
        self.mark(view.place)

    def shows_trouble_at(self, place: Place) -> bool:
        return False

    def pointed_exchange(self) -> Exchange | None:
        return self._view.turn_exchange

    def payload(self) -> Payload | None:
        return entry_payload(self._view)

    def saved(self) -> Payload | None:
        return received_payload(self._view.exchange)

    def _show_chat(self, view: LogView) -> None:
        """Draw the chat; before its first word, what the agent says it can do.

        Last comes why the agent cannot be reached.
        """
        chat, card, trouble = view.passing.chat, view.card, view.card_trouble
        self.agent = safe_line(card.name) if card is not None else "agent"
        self._trouble = trouble
        tail: tuple[ChatMessage | CardView, ...] = () if trouble is None else (trouble,)
        greets = not chat and trouble is None and card is not None and not view.is_filtered
        if greets and card is not None:
            tail = (card,)
        self.refill(lambda: self._messages.take(chat, tail), from_start=greets)

    def on_click(self, event: events.Click) -> None:
        payload: object = event.style.meta.get("offer")
        if isinstance(payload, str):
            event.prevent_default()
            self.post_message(OfferTaken(payload))

    def _draw(self, said: ChatMessage | CardView) -> Block:
        if isinstance(said, CardView):
            return _greeting(said)
        lines = [_divider(said)] if said.is_apart else []
        lines.append(self._heading(said))
        lines += [Line(Content(line), 2) for line in safe(said.text).split("\n") if said.text]
        if said.more_characters:
            more = f"… {said.more_characters:,} more characters, in the wire"
            lines.append(Line(Content.styled(more, styles.DIM), 2))
        if said.slots:
            lines.append(Line(slots_line(said.slots, said.slot_shapes), 2))
        lines += [Line(offer_line(offer), 2) for offer in said.offers]
        lines += _problem_lines(said, is_unreached=said is self._trouble)
        lines.append(Line(Content("")))
        return Block(Place(said.exchange, said.seq), tuple(lines))

    def _heading(self, said: ChatMessage) -> Line:
        is_user = said.speaker == "you"
        who = "you" if is_user else self.agent
        parts = [
            (wall_clock(self._started, said.at_ms), styles.DIM),
            "  ",
            (who, f"{styles.KEY} bold" if is_user else "bold"),
        ]
        if said.state is not None:
            parts += ["  ", state_text(said.state)]
        return Line(Content.assemble(*parts))


def _place_of(said: ChatMessage | CardView) -> Place | None:
    return None if isinstance(said, CardView) else Place(said.exchange, said.seq)


def _divider(said: ChatMessage) -> Line:
    """Return the line between two contexts; one that the agent has yet to name is new."""
    known = said.context_id
    name = "new context" if known is None else f"context {safe_line(known)[:SHORT_ID]}"
    return Line(Content.styled(f"── {name} ──", styles.DIM))


def _greeting(card: CardView) -> Block:
    skills = [skill for skill in card.skills if not skill.is_repair]
    lines = [Line(Content(safe_line(card.description))), Line(Content(""))]
    lines += [
        Line(
            Content.assemble(
                ("· ", styles.DIM),
                safe_line(skill.name),
                (f"  {safe_line(skill.description)}", styles.DIM),
            ),
            2,
        )
        for skill in skills[:MOST_SKILLS]
    ]
    if len(skills) > MOST_SKILLS:
        lines.append(
            Line(Content.styled(f"{len(skills) - MOST_SKILLS} more in the card", styles.DIM), 2)
        )
    return Block(None, (*lines, Line(Content("")), Line(Content.styled(WRITE_BELOW, styles.DIM))))


def slots_line(slots: Mapping[str, Json], shapes: Sequence[str]) -> Content:
    pairs = "  ".join(f"{safe_line(name)}={value_text(value)}" for name, value in slots.items())
    return Content.assemble((pairs, styles.ACCENT), ("  as " + ", ".join(shapes), styles.DIM))


def offer_line(offer: Offer) -> Content:
    """Return a button; a click on it carries its payload."""
    text = Content.assemble(
        (f"[{offer.number}]", f"{styles.KEY} bold"), " ", safe_line(offer.title), end=""
    )
    return text.stylize(Style.from_meta({"offer": offer.payload}))


_WAYS_ON = {
    WayOn.CREDENTIALS: ("^K", "credentials"),
    WayOn.FOLLOW: ("Esc R", "follow"),
    WayOn.TASK: ("Esc T", "task"),
}


def _problem_lines(said: ChatMessage, *, is_unreached: bool) -> list[Line]:
    """Return what went wrong, why, and the keys that help, as pressed in the composer."""
    problem = said.problem
    if problem is None:
        return []
    lines = [Line(Content.styled(f"✗ {safe_line(problem.what)}", styles.BAD), 2)]
    if problem.cause:
        lines.append(Line(Content.styled(safe_line(problem.cause), styles.DIM), 4))
    more = [_WAYS_ON[way] for way in problem.ways_on]
    if is_unreached:
        more.append(("^L", "another agent"))
    for hints in ([("F2", "wire"), ("^R", "resend")], more):
        words = [((key, styles.KEY), (f" {word}   ", styles.DIM)) for key, word in hints]
        if words:
            lines.append(Line(Content.assemble(*chain.from_iterable(words)).rstrip(), 4))
    return lines
