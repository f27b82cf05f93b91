"""A fault in a few words, for the header, the timeline and the list of faults."""

from inspector.tui.conversation import value_text
from inspector.tui.drawing.safe_text import safe_line
from inspector.wire.mock_admin import ArmedFault

# The parameters that say most, and how they are said in a word.
_TELLING = {"status": "{}", "seconds": "{} s", "state": "{}", "times": "{} times"}


def fault_words(fault: ArmedFault) -> str:
    """Return the fault in a few words: `delay 2 s`."""
    said = [
        form.format(value_text(fault.effect[n]))
        for n, form in _TELLING.items()
        if n in fault.effect
    ]
    return " ".join([safe_line(fault.kind).replace("_", " "), *said])
