"""A command generator behind an OpenAI-compatible endpoint; off unless mock.yml has one.

The prompt and the answer are texts and commands only.
"""

import json
import re
from collections.abc import AsyncGenerator, Iterator, Mapping, Sized
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.commands import Command, CommandSyntaxError, parse_command
from mock_server.dialogue.expressions import can_start
from mock_server.dialogue.model import Flow, Json, Slot, SlotFiller, SlotType
from mock_server.dialogue.outside import Generate, Generation, LanguageModel
from mock_server.dialogue.state import DialogueState, active_frame, asked_slot

if TYPE_CHECKING:
    import httpx


MAX_TOKENS = 256
JSON = {"Content-Type": "application/json"}
KEYS_OF_STATUS: Mapping[int, str] = {
    401: "llm.api_key",
    403: "llm.api_key",
    404: "llm.base_url and llm.model",
}

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


@asynccontextmanager
async def open_language_model(
    language_model: LanguageModel | None,
) -> AsyncGenerator[Generate | None]:
    """Asks the model as long as the context lasts; None where there is none."""
    if language_model is None:
        yield None
        return
    import httpx  # takes long to import, and most projects have no model

    key = language_model.api_key
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with httpx.AsyncClient(
        headers=headers, timeout=language_model.timeout_seconds, trust_env=False
    ) as http:
        yield partial(_generate, http, language_model)


async def _generate(
    http: "httpx.AsyncClient",
    language_model: LanguageModel,
    assistant: Assistant,
    state: DialogueState,
    text: str,
) -> Generation:
    """The model's commands; whatever goes wrong leaves the message to the rules."""
    import httpx

    body: Json = {
        "model": language_model.model,
        "messages": [{"role": "user", "content": prompt(assistant, state, text)}],
        "temperature": 0,
        "max_tokens": MAX_TOKENS,
    }
    url = f"{language_model.base_url.rstrip('/')}/chat/completions"
    try:
        # Escaped: what a user sends may hold half of a surrogate pair, which UTF-8 has not.
        response = await http.post(url, content=json.dumps(body), headers=JSON)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        # A request's error may quote its headers; the name of its class cannot.
        return _left_to_rules(f"the model cannot be reached: {type(error).__name__}")
    if not response.is_success:
        return _left_to_rules(f"the model's endpoint replied {_status(response.status_code)}")
    answer = _content(response)
    if answer is None:
        return _left_to_rules("the model's reply has no message")
    return read_answer(answer)


def _left_to_rules(reason: str) -> Generation:
    return Generation((), f"{reason}; the rules decide")


def _status(status: int) -> str:
    """The status, and which key of `llm` it is about; what the reply says may quote a key."""
    about = KEYS_OF_STATUS.get(status)
    return f"{status}: look at {about}" if about else str(status)


def _content(response: "httpx.Response") -> str | None:
    """`choices[0].message.content` of a reply."""
    try:
        reply: Json = response.json()
    except (ValueError, RecursionError):
        return None
    match reply:
        case {"choices": [{"message": {"content": str(content)}}, *_]}:
            return content
        case _:
            return None


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
    is_running = any(frame.flow_id == flow.id for frame in state.stack)
    return is_running or can_start(flow, state.slots)


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
    for uttered in (*state.previously_uttered, *state.bot_uttered):
        if uttered.text:
            yield f"the assistant said: {' '.join(uttered.text.split())}"


def read_answer(answer: str) -> Generation:
    """The commands of a model's answer, in DSL 1 or 2; other lines are left out."""
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
