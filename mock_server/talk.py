"""`a2a-mock talk`: a conversation in the terminal, a message a line."""

import io
import json
import os
import sys
from collections.abc import Iterator, Mapping

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.model import Json
from mock_server.dialogue.state import CommandDropped, Stack, Understood, Warned, asked_slot
from mock_server.errors import ActionServerFailed, ProjectError, Severity
from mock_server.local_conversation import Backend, LocalConversation, open_backend
from mock_server.options import TalkOptions
from mock_server.printing import complain, print_lines, prompt
from mock_server.project.load import Project, load_assistant
from mock_server.tasks.mapper import active_flow, utterances, visible_slots
from mock_server.tasks.trace import TracedTurn, encode_turn, spell_command

EXIT_UNREADABLE = 2
ALWAYS = "STATE-9"


def run(options: TalkOptions) -> int:
    """Answer the messages on stdin, a line each; 2: the project cannot be loaded."""
    try:
        project = load_assistant(options.project, environment=os.environ)
    except ProjectError as error:
        for problem in error.problems:
            if problem.severity is Severity.ERROR:
                complain(problem)
        return EXIT_UNREADABLE
    try:
        with open_backend(project) as backend:
            _talk(project, options, backend)
    except ActionServerFailed as error:
        complain(error)
        return EXIT_UNREADABLE
    return 0


def _talk(project: Project, options: TalkOptions, backend: Backend) -> None:
    conversation = LocalConversation(project, complain, backend, options.context)
    is_dialogue = sys.stdin.isatty() and not options.json
    if not options.json:
        print_lines(f"{project.folder.resolve().name} · conversation {options.context!r}")
    for text in _messages(is_dialogue):
        turn = conversation.say(text)
        if options.json:
            print_lines(json.dumps(encode_turn(turn, project.assistant)))
            continue
        if not is_dialogue:
            print_lines(f"you  {text}")
        print_lines(*as_lines(turn, project.assistant, with_trace=options.trace))


def as_lines(turn: TracedTurn, assistant: Assistant, *, with_trace: bool) -> Iterator[str]:
    """A turn as people read it: what the bot said, where the dialogue stands, what slots changed.

    Warnings are shown in any case.
    """
    if with_trace:
        yield from _trace_lines(turn)
    yield from (f"     ! {event.text}" for event in turn.events if isinstance(event, Warned))
    for text in utterances(turn.events):
        first, *others = text.splitlines()
        yield f"bot  {first}"
        yield from (f"     {line}" for line in others)
    standing = (turn.state.value, _place(turn.after.stack), _assignments(_changes(turn, assistant)))
    yield "     · " + " · ".join(part for part in standing if part)
    yield ""


def _trace_lines(turn: TracedTurn) -> Iterator[str]:
    for rule in turn.trace:
        yield f"     {'✓' if rule.fired else '✗'} {rule.rule:<10} {rule.reason}"
    for event in turn.events:
        match event:
            case Understood(commands=commands):
                yield from (f"     → {spell_command(command)}" for command in commands)
            case CommandDropped(command=command, reason=reason):
                yield f"     → {spell_command(command)} is dropped: {reason}"
            case _:
                pass
    decided, *others = turn.state_rules
    also = [f"{rule.id} {rule.state.value}" for rule in others if rule.id != ALWAYS]
    yield f"     = {decided.id} {decided.state.value}" + (
        f"; not {', '.join(also)}" if also else ""
    )


def _place(stack: Stack) -> str:
    """The flow that runs, and the slot that is asked, if any is."""
    flow, slot = active_flow(stack), asked_slot(stack)
    return " asks ".join(name for name in (flow, slot) if name) if flow else ""


def _changes(turn: TracedTurn, assistant: Assistant) -> Mapping[str, Json]:
    before, after = (visible_slots(assistant, it.slots) for it in (turn.before, turn.after))
    cleared = dict.fromkeys(name for name in before if name not in after)
    return {name: v for name, v in (after | cleared).items() if before.get(name) != v}


def _assignments(slots: Mapping[str, Json]) -> str:
    return " ".join(
        f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in slots.items()
    )


def _messages(is_dialogue: bool) -> Iterator[str]:
    """The lines of stdin; invalid UTF-8 in them is replaced."""
    stdin = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8", errors="replace")
    while True:
        if is_dialogue:
            prompt("you  ")
        line = stdin.readline()
        if not line:
            return
        yield line.rstrip("\r\n")
