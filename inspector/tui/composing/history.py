"""What was sent before: read back from the log, with what a log cannot hold from memory."""

from collections.abc import Sequence
from dataclasses import replace

from inspector.core.commands import Turn
from inspector.core.entries import RequestSent
from inspector.core.requests import TURNS, compose_params, read_sent_turn
from inspector.views.exchanges import Exchange
from inspector.wire.json_values import Json


class History:
    """Turns in the order of sending; those that never reached the wire come last.

    The log masks secrets and does not tell how a task was followed beside its turn; of a turn
    composed in this session both are remembered.
    """

    def __init__(self) -> None:
        self._composed: list[Turn] = []
        self._unsent: list[Turn] = []
        self._at: int | None = None
        self._draft: Turn | None = None

    @property
    def is_recalling(self) -> bool:
        """Say whether a turn of before stands in the place of what was written."""
        return self._at is not None

    def remember(self, turn: Turn) -> None:
        self._composed.append(turn)
        self._at = None

    def keep_unsent(self, turn: Turn) -> None:
        self._unsent.append(turn)

    def step(self, exchanges: Sequence[Exchange], by: int, written: Turn) -> Turn | None:
        """Return the turn `by` steps from the one recalled last; at the oldest that one again.

        Beyond the newest comes back what was `written` when the first was recalled.
        """
        requests = sent_requests(exchanges)
        count = len(requests) + len(self._unsent)
        if self._at is None:
            self._draft = written
        start = count if self._at is None else self._at
        at = max(start + by, 0)
        if at >= count:
            draft = None if self._at is None else self._draft
            self._at = None
            return draft
        self._at = at
        if self._at >= len(requests):
            return self._unsent[self._at - len(requests)]
        return self.read(requests[self._at])

    def read(self, request: RequestSent) -> Turn:
        """Return the turn of `request`, with the headers and ways that its writer gave it."""
        turn = read_sent_turn(request)
        for composed in reversed(self._composed):
            if _is_same(composed, turn):
                return replace(turn, headers=composed.headers, also=composed.also)
        return turn


def sent_requests(exchanges: Sequence[Exchange]) -> list[RequestSent]:
    """Return the requests that carried turns."""
    return [
        one.request
        for one in exchanges
        if isinstance(one.request, RequestSent) and one.request.purpose in TURNS
    ]


def _is_same(composed: Turn, sent: Turn) -> bool:
    """Say whether `sent` is `composed` but for what the wire adds or does not show."""
    if composed.raw is not None or sent.raw is not None:
        return composed.raw == sent.raw
    return _params(composed) == _params(sent)


def _params(turn: Turn) -> dict[str, Json]:
    return compose_params(replace(turn, message_id=None), "")
