"""`a2a-mock talk`: a conversation in the terminal, a message a line."""

import argparse
import io
import json
import os
import sys
from collections.abc import Iterator, Mapping

from mock_server.acting import Outside, acting
from mock_server.conversation import Conversation
from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.events import Understood, Warned
from mock_server.dialogue.model import Json
from mock_server.errors import ActionServerFailed, ProjectError, Severity
from mock_server.project.load import Project, load_assistant
from mock_server.tasks.mapper import active_flow
from mock_server.tasks.report import utterances, visible_slots
from mock_server.tasks.trace import TracedTurn, encode_turn, spell_command

EXIT_PROBLEMS = 1
EXIT_UNREADABLE = 2
ALWAYS = "STATE-9"


def run(arguments: argparse.Namespace) -> int:
    """Answer the messages on stdin, a line each; 2: the project cannot be loaded."""
    try:
        project = load_assistant(arguments.project, environment=os.environ)
    except ProjectError as error:
        for problem in error.problems:
            if problem.severity is Severity.ERROR:
                _complain(str(problem))
        return EXIT_UNREADABLE
    try:
        with acting(project) as outside:
            _talk(project, arguments, outside)
    except ActionServerFailed as error:
        _complain(str(error))
        return EXIT_UNREADABLE
    except BrokenPipeError:
        # Whoever read the answers has gone; what is buffered must not be tried again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_PROBLEMS
    return 0


def _talk(project: Project, arguments: argparse.Namespace, outside: Outside) -> None:
    conversation = Conversation(project, _complain, outside, arguments.context)
    is_dialogue = sys.stdin.isatty() and not arguments.json
    if not arguments.json:
        _say(f"{project.folder.resolve().name} · conversation {arguments.context!r}")
    for text in _messages(is_dialogue):
        turn = conversation.say(text)
        if arguments.json:
            _say(json.dumps(encode_turn(turn, project.assistant)))
            continue
        if not is_dialogue:
            _say(f"you  {text}")
        for line in as_lines(turn, project.assistant, with_trace=arguments.trace):
            _say(line)


def as_lines(turn: TracedTurn, assistant: Assistant, *, with_trace: bool) -> Iterator[str]:
    """A turn as people read it: what the bot said, then where the dialogue stands."""
    if with_trace:
        yield from _trace_lines(turn)
    for text in utterances(turn.events):
        first, *others = text.splitlines()
        yield f"bot  {first}"
        yield from (f"     {line}" for line in others)
    slots = visible_slots(assistant, turn.after.slots)
    standing = (turn.state.value, active_flow(turn.after.stack), _assignments(slots))
    yield "     · " + " · ".join(part for part in standing if part)
    yield ""


def _trace_lines(turn: TracedTurn) -> Iterator[str]:
    for rule in turn.trace:
        yield f"     {'✓' if rule.fired else '✗'} {rule.rule:<10} {rule.reason}"
    for event in turn.events:
        match event:
            case Understood(commands=commands):
                yield from (f"     → {spell_command(command)}" for command in commands)
            case Warned(text=text):
                yield f"     ! {text}"
            case _:
                pass
    decided, *others = turn.state_rules
    also = [f"{rule.id} {rule.state.value}" for rule in others if rule.id != ALWAYS]
    yield f"     = {decided.id} {decided.state.value}" + (
        f"; not {', '.join(also)}" if also else ""
    )


def _assignments(slots: Mapping[str, Json]) -> str:
    return " ".join(
        f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in slots.items()
    )


def _messages(is_dialogue: bool) -> Iterator[str]:
    """The lines of stdin; what is no UTF-8 in them is replaced."""
    stdin = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8", errors="replace")
    while True:
        if is_dialogue:
            sys.stdout.write("you  ")
            sys.stdout.flush()
        line = stdin.readline()
        if not line:
            return
        yield line.rstrip("\r\n")


def _say(line: str) -> None:
    # What the terminal's encoding lacks is escaped rather than refused.
    encoding = sys.stdout.encoding
    sys.stdout.write(line.encode(encoding, "backslashreplace").decode(encoding) + "\n")
    sys.stdout.flush()


def _complain(line: str) -> None:
    sys.stderr.write(f"{line}\n")
