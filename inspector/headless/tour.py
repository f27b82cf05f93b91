"""The demo without a terminal: a walk through the bundled bank, printed."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from inspector.core.commands import CancelTask, Command, FollowMode, Json, SendTurn, Turn
from inspector.errors import EXIT_OK, EXIT_UNEXPECTED
from inspector.headless.card import card_lines
from inspector.headless.following import UpdatePrinter
from inspector.headless.inspection import Inspection, inspect, raise_problem
from inspector.headless.output import data_lines, said_lines, value_text
from inspector.headless.terminal import BOLD, CYAN, DIM, Ink, ink_for, print_notice, print_text
from inspector.settings import Connection
from inspector.views.data import SlotChange
from inspector.views.exchanges import Exchange
from inspector.views.problems import problem_of

PROMPT = "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}"


@dataclass(frozen=True, slots=True)
class Say:
    """One turn of the tour and the state that it must lead to."""

    text: str
    state: str
    slots: Mapping[str, Json] = field(default_factory=dict[str, Json])
    follow: FollowMode = FollowMode.BLOCKING


@dataclass(frozen=True, slots=True)
class Cancel:
    """Cancel the task of the turn before."""

    state: str = "canceled"


@dataclass(frozen=True, slots=True)
class Stop:
    """A stop of the tour: a conversation of its own."""

    title: str
    remark: str
    steps: tuple[Say | Cancel, ...]


STOPS = (
    Stop(
        "A transfer, question by question",
        "Each answer is a task; the conversation is held together by its contextId.",
        (
            Say("send money to Joe", "input-required"),
            Say("50", "input-required"),
            Say("/SetSlots(account=checking)", "input-required"),
            Say("/SetSlots(transfer_confirmed=true)", "completed", follow=FollowMode.STREAM),
        ),
    ),
    Stop(
        "The same with slots seeded by an orchestrator",
        "What message.metadata.slots already holds is not asked again.",
        (
            Say("send money to Ann", "input-required", {"amount": 20, "account": "savings"}),
            Say("/SetSlots(transfer_confirmed=false)", "completed"),
        ),
    ),
    Stop(
        "A stream",
        "The fees are explained chunk by chunk, as an artifact that grows.",
        (Say("what are the fees", "completed", follow=FollowMode.STREAM),),
    ),
    Stop(
        "A cancellation",
        "A cancel ends the open question and frees the conversation.",
        (Say("send 50 to Joe", "input-required"), Cancel()),
    ),
    Stop(
        "Something it refuses",
        "A message that no flow is for is rejected, with a reason.",
        (Say("what is the weather on Mars", "rejected"),),
    ),
    Stop(
        "A failure",
        "The core system refuses more than 10,000 €: the task fails and says which action did.",
        (
            Say("send 12000 to Joe", "input-required", {"account": "savings"}),
            Say("/SetSlots(transfer_confirmed=true)", "failed"),
        ),
    ),
)


async def tour(url: str, stops: Sequence[Stop] = STOPS) -> int:
    """Walk through `stops` at the agent of `url`; exit status 1 if a state is not as announced."""
    ink = ink_for(sys.stdout)
    async with inspect(url, Connection()) as inspection:
        await inspection.connect()
        assert inspection.views.card.card is not None
        print_text(*card_lines(ink, inspection.views.card.card))
        unexpected = [text for stop in stops for text in await _visit(inspection, ink, stop)]
    print_text("", ink("Your turn", BOLD), "  a2a-mock serve            the same bank, to stay")
    print_text("  a2a-inspect URL           the app on it", "  a2a-inspect send URL TEXT")
    for text in unexpected:
        print_notice(text)
    return EXIT_UNEXPECTED if unexpected else EXIT_OK


async def _visit(inspection: Inspection, ink: Ink, stop: Stop) -> list[str]:
    """Walk one stop; returns what was not as announced."""
    print_text("", ink(stop.title, BOLD), ink(f"  {stop.remark}", DIM))
    context_id: str | None = None
    task_id, unexpected = "", list[str]()
    for step in stop.steps:
        print_text("", *_step_lines(ink, step))
        command = _command(step, context_id, task_id)
        printer = UpdatePrinter(inspection, is_stream_only=True)
        exchange = await inspection.run(command, printer.take)
        raise_problem(problem_of(exchange))
        _print_answer(inspection, ink, exchange)
        context_id = exchange.progress.context_id
        task_id = exchange.progress.task_id or ""
        if exchange.progress.state != step.state:
            found = exchange.progress.state
            unexpected.append(f"{stop.title}: expected {step.state}, found {found}")
    return unexpected


def _command(step: Say | Cancel, context_id: str | None, task_id: str) -> Command:
    if isinstance(step, Cancel):
        return CancelTask(task_id)
    return SendTurn(Turn(step.text, step.slots, context_id=context_id, follow=step.follow))


def _step_lines(ink: Ink, step: Say | Cancel) -> list[str]:
    if isinstance(step, Cancel):
        return [f"{ink(PROMPT, CYAN)} {ink('cancel', DIM)}"]
    lines = [f"{ink(PROMPT, CYAN)} {step.text}"]
    if step.slots:
        slots = "  ".join(f"{name}={value_text(value)}" for name, value in step.slots.items())
        lines.append(ink(f"  {slots}  as metadata", DIM))
    return lines


def _print_answer(inspection: Inspection, ink: Ink, exchange: Exchange) -> None:
    """What the agent said, and of its data only what this turn changed."""
    said, turn = inspection.views.chat.said[-1], inspection.views.data.turns[-1]
    if said.exchange == exchange.id and said.speaker == "agent":
        print_text(*said_lines(ink, replace(said, state=None) if exchange.is_stream else said))
    changed = tuple(row for row in turn.slots if row.change is not SlotChange.SAME)
    print_text(*data_lines(ink, turn, changed))
