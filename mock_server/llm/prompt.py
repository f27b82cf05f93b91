"""What a language model is asked for, and what its answer comes to: texts and commands only."""

import re
from collections.abc import Iterator, Sized

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.command_language import CommandSyntaxError, parse_command
from mock_server.dialogue.commands import (
    Command,
)
from mock_server.dialogue.conditions import evaluate
from mock_server.dialogue.language_model import Generation
from mock_server.dialogue.model import Flow, Slot, SlotFiller, SlotType
from mock_server.dialogue.stack import active_frame, asked_slot
from mock_server.dialogue.state import DialogueState
from mock_server.errors import ConditionError, TemplateFailed

INSTRUCTIONS = """\
You turn the user's last message into commands for an assistant that runs flows.
Answer with commands only, one a line, out of these:
start flow FLOW
set slot SLOT VALUE
cancel flow
disambiguate flows FLOW FLOW …
skip question
repeat message
hand over
offtopic reply
provide info
continue agent
restart agent AGENT
Use only the names given below, and values as the user said them; for a slot with values, one of \
them. If nothing fits, answer: cannot handle
"""
BULLET = re.compile(r"^[\s`\-*•\d.)]*(?=[A-Za-z])")


def prompt(assistant: Assistant, state: DialogueState, text: str) -> str:
    """The flows that may start, their slots, where the dialogue stands, and the message."""
    sections = (
        INSTRUCTIONS,
        "Flows:\n" + "\n".join(_flow_lines(assistant, state)),
        "The dialogue:\n" + "\n".join(_standing(assistant, state)),
        f"The user's last message:\n{text}",
    )
    return "\n\n".join(section.strip() for section in sections)


def _flow_lines(assistant: Assistant, state: DialogueState) -> Iterator[str]:
    for flow in assistant.flows.values():
        if flow.is_pattern or not _may_start(flow, state):
            continue
        yield f"- {flow.id}: {' '.join(flow.description.split())}"
        for name in assistant.index.collected[flow.id]:
            slot = assistant.slots[name]
            if slot.filler is SlotFiller.FROM_LLM:
                yield f"  slot {name}: {_slot_line(flow, slot)}"


def _may_start(flow: Flow, state: DialogueState) -> bool:
    if flow.guard is None or any(frame.flow_id == flow.id for frame in state.stack):
        return True
    try:
        return evaluate(flow.guard, {"slots": state.slots, "context": {}})
    except (ConditionError, TemplateFailed):
        return False


def _slot_line(flow: Flow, slot: Slot) -> str:
    values = "true, false" if slot.type is SlotType.BOOL else ", ".join(slot.values)
    kind = f"{slot.type.value}, one of {values}" if values else slot.type.value
    description = flow.description_of(slot.name)
    return f"{kind}; {description}" if description else kind


def _standing(assistant: Assistant, state: DialogueState) -> Iterator[str]:
    frame = active_frame(state.stack)
    yield f"running flow: {frame.flow_id if frame else 'none'}"
    yield f"slot that was asked for: {asked_slot(state.stack) or 'none'}"
    for name, value in state.slots.items():
        if value is not None and not assistant.slots[name].is_builtin:
            yield f"slot {name} is {value}"
    for uttered in state.bot_uttered:
        if uttered.text:
            yield f"the assistant said: {' '.join(uttered.text.split())}"


def read_answer(answer: str) -> Generation:
    """The commands of a model's answer, in DSL 1 or 2; lines that are none are left out."""
    commands: list[Command] = []
    strange: list[str] = []
    for line in filter(None, (BULLET.sub("", raw).strip(" `") for raw in answer.splitlines())):
        command = _command(line)
        if command is not None:
            commands.append(command)
        else:
            strange.append(line)
    if commands:
        left = f", {_counted(strange, 'line')} left out" if strange else ""
        return Generation(tuple(commands), f"the model gave {_counted(commands, 'command')}{left}")
    said = f"no command but {strange[0][:80]!r}" if strange else "no command"
    return Generation((), f"the model gave {said}; the rules decide")


def _counted(things: Sized, noun: str) -> str:
    return f"{len(things)} {noun}" if len(things) == 1 else f"{len(things)} {noun}s"


def _command(line: str) -> Command | None:
    try:
        return parse_command(line)
    except CommandSyntaxError:
        return None
