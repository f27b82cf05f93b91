"""Commands in the words of DSL 2: `set slot amount 50` (flows.md §5)."""

import re
from collections.abc import Callable, Mapping

from mock_server.dialogue.command_values import value_of
from mock_server.dialogue.commands import (
    CancelFlow,
    ChitChat,
    Clarify,
    Command,
    ContinueAgent,
    HumanHandoff,
    RepeatLastBotMessages,
    RestartAgent,
    SearchAndReply,
    SetSlot,
    SkipQuestion,
    StartFlow,
)


def parse_spoken(line: str) -> Command | None:
    """The command that `line` spells, None if it is none."""
    words = line.strip()
    for spelled, make in SPOKEN.items():
        if words.lower() == spelled or words.lower().startswith(f"{spelled} "):
            return make(words[len(spelled) :].strip())
    return None


def _set_slot(rest: str) -> SetSlot | None:
    name, _, value = rest.partition(" ")
    return SetSlot(name, value_of(value)) if name and value.strip() else None


SPOKEN: Mapping[str, Callable[[str], Command | None]] = {
    "start flow": lambda rest: StartFlow(rest) if rest else None,
    "set slot": _set_slot,
    "cancel flow": lambda _: CancelFlow(),
    "disambiguate flows": lambda rest: Clarify(tuple(re.split(r"[\s,]+", rest))) if rest else None,
    "skip question": lambda _: SkipQuestion(),
    "repeat message": lambda _: RepeatLastBotMessages(),
    "hand over": lambda _: HumanHandoff(),
    "offtopic reply": lambda _: ChitChat(),
    "provide info": lambda _: SearchAndReply(),
    "search and reply": lambda _: SearchAndReply(),
    "continue agent": lambda _: ContinueAgent(),
    "restart agent": lambda rest: RestartAgent(rest) if rest else None,
}
