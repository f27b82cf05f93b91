"""The turns whose trace was asked for, the last ones only."""

from collections import OrderedDict

from mock_server.service.turn import Turn

KEPT = 256


class Traces:
    """By the id under which the trace was asked for."""

    def __init__(self) -> None:
        self._turns: OrderedDict[str, Turn] = OrderedDict()

    def __contains__(self, trace_id: str) -> bool:
        return trace_id in self._turns

    def keep(self, trace_id: str, turn: Turn) -> None:
        self._turns[trace_id] = turn
        if len(self._turns) > KEPT:
            self._turns.popitem(last=False)

    def find(self, trace_id: str) -> Turn | None:
        return self._turns.get(trace_id)

    def clear(self) -> None:
        self._turns.clear()
