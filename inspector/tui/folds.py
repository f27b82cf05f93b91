"""All views of one log, stepped together."""

from dataclasses import dataclass

from inspector.core.entries import Entry
from inspector.tui.board import Board
from inspector.views import card, chat, data, exchanges, timeline


@dataclass(frozen=True, slots=True)
class Folds:
    """The views as far as the log was folded."""

    card_seen: card.CardFold = card.EMPTY
    said: chat.Chat = chat.EMPTY
    tasks: timeline.Timeline = timeline.EMPTY
    told: data.DataView = data.EMPTY
    wire: exchanges.Exchanges = exchanges.EMPTY

    def step(self, entry: Entry) -> "Folds":
        return Folds(
            card_seen=card.step(self.card_seen, entry),
            said=chat.step(self.said, entry),
            tasks=timeline.step(self.tasks, entry),
            told=data.step(self.told, entry),
            wire=exchanges.step(self.wire, entry),
        )

    def board(self) -> Board:
        return Board(
            card=self.card_seen.card,
            chat=self.said.said,
            tasks=self.tasks.rows,
            turns=self.told.turns,
            exchanges=self.wire,
        )
