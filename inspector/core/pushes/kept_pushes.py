"""Received notifications with their secrets, so that they can be sent again; the log has none."""

from collections import OrderedDict

from inspector.net.events import Outgoing

MAX_KEPT = 200
MAX_KEPT_BYTES = 64 * 1024 * 1024


class KeptPushes:
    """The newest, by exchange, as far as they fit."""

    def __init__(self) -> None:
        self._kept: OrderedDict[int, Outgoing] = OrderedDict()
        self._size_bytes = 0

    def keep(self, exchange: int, push: Outgoing) -> None:
        self._kept[exchange] = push
        self._size_bytes += len(push.body)
        while len(self._kept) > MAX_KEPT or self._size_bytes > MAX_KEPT_BYTES:
            _, oldest = self._kept.popitem(last=False)
            self._size_bytes -= len(oldest.body)

    def find(self, exchange: int) -> Outgoing | None:
        return self._kept.get(exchange)
