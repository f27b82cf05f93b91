"""Slots that the code of the actions names, and the domain lacks; Python is read as text only."""

import re
from collections.abc import Collection, Iterator, Mapping

from mock_server.errors import Location
from mock_server.project.findings import Findings, suggestion

NAMED = re.compile(r"""\b(?P<use>SlotSet|get_slot)\(\s*(?:key\s*=\s*)?["'](?P<slot>\w+)["']""")
MEANS: Mapping[str, str] = {
    "SlotSet": "this sets slot {slot!r}, which the domain does not have: nothing comes of it",
    "get_slot": "this reads slot {slot!r}, which the domain does not have: it is always None",
}


def check_code(code: Mapping[str, str], slots: Collection[str], found: Findings) -> None:
    """Warn of each slot that rasa-sdk would neither set nor find, once a file and use."""
    for file, text in code.items():
        told: set[tuple[str, str]] = set()
        for line, use, slot in _named(text):
            if slot not in slots and (use, slot) not in told:
                told.add((use, slot))
                mend = suggestion(slot, slots) or "define it in the domain"
                found.warn(
                    Location(file, line), "action.unknown_slot", MEANS[use].format(slot=slot), mend
                )


def _named(text: str) -> Iterator[tuple[int, str, str]]:
    """Line, use and slot of each place; what a comment says is none."""
    for number, line in enumerate(text.splitlines(), start=1):
        code = line.partition("#")[0]
        yield from ((number, match["use"], match["slot"]) for match in NAMED.finditer(code))
