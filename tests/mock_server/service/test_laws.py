"""Laws of task states, whatever clients, clock and operators do to a service, in any order."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import count
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mock_server.actions.runner import ChunkStreamed, Paused, Progress
from mock_server.dialogue.outside import ActionResult
from mock_server.dialogue.state import DialogueState, Tracker
from mock_server.errors import RpcError
from mock_server.faults.tampering import AS_USUAL, Handling
from mock_server.profiles import A2A, RASA, Profile
from mock_server.project.load import assemble
from mock_server.service.conversation import AgentVersion
from mock_server.service.runtime import Runtime
from mock_server.service.service import Service, ServiceSettings
from mock_server.service.store import Snapshot, Subscription
from mock_server.tasks.task import DataPart, Message, Role, StatusUpdate, TaskState, TextPart
from mock_server.wire.operations import CallContext, CancelTask, GetTask, SendMessage
from mock_server.wire.v0_3 import V03

DOMAIN = """
slots:
  recipient: {type: text}
responses:
  utter_ask_recipient: [{text: "To whom?"}]
  utter_sent: [{text: "Sent to {recipient}."}]
actions: [action_check, action_explain, action_break]
"""
TRANSFER = """
flows:
  transfer_money:
    description: send money to somebody
    steps:
      - collect: recipient
      - action: utter_sent
"""
OTHERS = """
flows:
  check_account:
    description: check the account
    steps:
      - action: action_check
  explain_fees:
    description: explain the fees
    steps:
      - action: action_explain
  break_things:
    description: break things
    steps:
      - action: action_break
"""
BOTH = assemble({"domain.yml": DOMAIN, "data/a.yml": TRANSFER, "data/b.yml": OTHERS})
WITHOUT_TRANSFER = assemble({"domain.yml": DOMAIN, "data/b.yml": OTHERS})
REFUSALS = ("agent_not_ready", "context_limit")
TIMEOUT_SECONDS = 10
REPLAY_SECONDS = 60
CALL = CallContext(V03())
UNFINISHED = frozenset({TaskState.SUBMITTED, TaskState.WORKING})
TASK_NOT_FOUND = -32001
# in flight, over, not cancelable, still at work
EXPECTED = frozenset({-32600, -32602, TASK_NOT_FOUND, -32002, -32004})


@dataclass
class World:
    """A clock that moves when told to, and actions that pause until they are let go."""

    seconds: float = 0.0
    timers: list[tuple[float, Callable[[], None]]] = field(
        default_factory=list[tuple[float, Callable[[], None]]]
    )
    sleepers: list[asyncio.Event] = field(default_factory=list[asyncio.Event])

    def runtime(self) -> Runtime:
        ids = count(1)
        return Runtime(
            now=self.now,
            elapsed_seconds=lambda: self.seconds,
            sleep=self.sleep,
            make_id=lambda: f"id-{next(ids)}",
            start_timer=self.start_timer,
        )

    def now(self) -> datetime:
        return datetime(2026, 11, 20, 10, tzinfo=UTC) + timedelta(seconds=self.seconds)

    async def sleep(self, seconds: float) -> None:
        sleeper = asyncio.Event()
        self.sleepers.append(sleeper)
        await sleeper.wait()

    def start_timer(self, seconds: float, callback: Callable[[], None]) -> Callable[[], None]:
        timer = (self.seconds + seconds, callback)
        self.timers.append(timer)
        return lambda: self.timers.remove(timer)

    def let_go(self) -> None:
        for sleeper in self.sleepers:
            sleeper.set()
        self.sleepers.clear()

    def advance(self, seconds: float) -> None:
        self.seconds += seconds
        while due := [timer for timer in self.timers if timer[0] <= self.seconds]:
            self.timers.remove(due[0])
            due[0][1]()


def run_action(name: str, _: DialogueState, __: Tracker) -> Iterator[Progress]:
    match name:
        case "action_check":
            yield Paused(2.0)
            yield ActionResult()
        case "action_explain":
            yield ChunkStreamed("Your ", is_first=True, is_last=False)
            yield Paused(0.1)
            yield ChunkStreamed("fee.", is_first=False, is_last=True)
            yield ActionResult()
        case _:
            raise RuntimeError(name)


def error_type(snapshot: Snapshot) -> object:
    message = snapshot.task.status.message
    parts = message.parts if message else ()
    for part in parts:
        if isinstance(part, DataPart):
            return part.data.get("error_type")
    return None


@dataclass(frozen=True, slots=True)
class Say:
    """`follows`: the message names the task that was that many tasks ago, not a context.

    The caller's token is valid for `token_seconds`.
    """

    text: str
    mode: str
    context: str = "c1"
    follows: int | None = None
    token_seconds: int | None = None
    handling: Handling = AS_USUAL


@dataclass(frozen=True, slots=True)
class Repeat:
    """A message is sent again, that many messages later."""

    ago: int


@dataclass(frozen=True, slots=True)
class Cancel:
    """The task that was that many tasks ago."""

    ago: int


@dataclass(frozen=True, slots=True)
class Wait:
    """Tokens expire, turns time out, answers and, after an hour, tasks are forgotten."""

    seconds: int


@dataclass(frozen=True, slots=True)
class Reload:
    has_transfer: bool
    reports_changes: bool


class Other(StrEnum):
    UNLOAD = "unload"
    LOAD = "load"
    END_ACTIONS = "end actions"
    RESET = "reset"


Move: TypeAlias = Say | Repeat | Cancel | Wait | Reload | Other

AGO = st.sampled_from((0, 0, 0, 1, 1, 2, 3))
SAYINGS = st.builds(
    Say,
    text=st.sampled_from(
        (
            *("send money",) * 5,
            *("check the account",) * 3,
            *("Joe", "Joe", "explain the fees", "break things", "/CancelFlow()", "mumble"),
        )
    ),
    mode=st.sampled_from(("blocks", "returns", "streams")),
    context=st.sampled_from(("c1", "c1", "c1", "c2", "c3")),
    follows=st.none() | AGO,
    token_seconds=st.sampled_from((None, None, 5)),
    handling=st.sampled_from(
        (
            *(AS_USUAL,) * 8,
            Handling(forced_state=TaskState.COMPLETED),
            Handling(forced_state=TaskState.INPUT_REQUIRED),
            Handling(forced_state=TaskState.AUTH_REQUIRED),
            Handling(is_stuck=True),
            Handling(forgets_context=True),
        )
    ),
)
MOVES: st.SearchStrategy[Move] = st.one_of(
    SAYINGS,
    SAYINGS,
    SAYINGS,
    st.builds(Cancel, AGO),
    st.builds(Repeat, AGO),
    st.builds(Wait, st.sampled_from((1, 6, 6, 11, 11, 61, 3601))),
    st.builds(Reload, st.booleans(), st.booleans()),
    st.sampled_from(
        (Other.UNLOAD, Other.LOAD, Other.LOAD, Other.END_ACTIONS, Other.END_ACTIONS, Other.RESET)
    ),
)
# The moves of one inner list happen in one step of the loop.
GAMES = st.lists(st.lists(MOVES, min_size=1, max_size=3), min_size=8, max_size=20)


class Clients:
    """Everybody who does something to a service, and what they know of its tasks.

    `known` has the tasks as they were last seen; None are those that are forgotten.
    """

    def __init__(self, service: Service, world: World) -> None:
        self.service = service
        self.world = world
        self.numbers = count(1)
        self.sent: list[SendMessage] = []
        self.known: dict[str, Snapshot | None] = {}
        self.answers: list[asyncio.Task[None]] = []

    async def play(self, moves: list[Move]) -> None:
        for move in moves:
            await self.make(move)
            self.observe()
        await self.settle()

    async def make(self, move: Move) -> None:
        match move:
            case Say():
                await self.say(move)
            case Repeat(ago=ago):
                if self.sent:
                    await self.send(self.sent[-1 - ago % len(self.sent)], "blocks", CALL)
            case Cancel(ago=ago):
                if task_id := self.task_id(ago):
                    self.cancel(task_id)
            case Wait(seconds=seconds):
                self.world.advance(seconds)
            case Reload(has_transfer=has_transfer, reports_changes=reports_changes):
                assistant = BOTH if has_transfer else WITHOUT_TRANSFER
                self.service.renew(assistant, run_action, reports_changes=reports_changes)
            case Other.UNLOAD:
                self.service.unload()
            case Other.LOAD:
                self.service.load()
            case Other.END_ACTIONS:
                self.world.let_go()
            case Other.RESET:
                self.service.reset()
                self.known = dict.fromkeys(self.known)

    async def say(self, move: Say) -> None:
        seconds = move.token_seconds
        until = None if seconds is None else self.world.now().timestamp() + seconds
        task_id = None if move.follows is None else self.task_id(move.follows)
        context = None if task_id else move.context
        said = (TextPart(move.text),)
        message = Message(f"m{next(self.numbers)}", Role.USER, said, context, task_id)
        self.sent.append(SendMessage(message))
        await self.send(self.sent[-1], move.mode, CallContext(CALL.codec, until, move.handling))

    async def send(self, turn: SendMessage, mode: str, call: CallContext) -> None:
        """Send `turn`; what is refused changes no task."""
        before = {task_id: self.get(task_id) for task_id in self.known}
        if mode == "blocks":
            self.answers.append(asyncio.create_task(self.answered(turn, call)))
            return
        sent = await self.begun(turn, mode, call)
        task = sent and self.get(sent)
        if not task or error_type(task) in REFUSALS:
            assert sent not in before
            assert before == {task_id: self.get(task_id) for task_id in before}
        if task:
            self.known[task.task_id] = task

    async def begun(self, turn: SendMessage, mode: str, call: CallContext) -> str | None:
        """The id of the task that goes on while its sender does not wait; None for an error."""
        try:
            if mode == "returns":
                return (await self.service.send(replace(turn, is_blocking=False), call)).task_id
            subscription = await self.service.stream(turn, call)
        except RpcError as error:
            self.is_expected(error)
            return None
        self.answers.append(asyncio.create_task(self.followed(subscription)))
        return subscription.task_id

    async def answered(self, turn: SendMessage, call: CallContext) -> None:
        before = {*self.known}
        try:
            task = await self.service.send(turn, call)
        except RpcError as error:
            self.is_expected(error)
            self.names_a_task(turn, error)
            return
        assert task.state not in UNFINISHED
        assert task.task_id not in before or error_type(task) not in REFUSALS
        self.known.setdefault(task.task_id, self.get(task.task_id))

    async def followed(self, subscription: Subscription) -> None:
        """One update is final, and it is the last."""
        updates: list[StatusUpdate] = []
        while not subscription.is_over:
            seen = await subscription.next(60)
            updates += [update for update in seen if isinstance(update, StatusUpdate)]
        assert [update.is_final for update in updates].index(True) == len(updates) - 1
        assert updates[-1].status.state not in UNFINISHED

    def cancel(self, task_id: str) -> None:
        """Only a task that is over or superseded may not be cancelled."""
        before = self.get(task_id)
        if not before:
            return
        conversation = self.service.store.conversation(before.context_id)
        is_open = conversation is not None and conversation.open_task_id == task_id
        try:
            canceled = self.service.cancel(CancelTask(task_id), CALL)
        except RpcError as error:
            self.is_expected(error)
            assert not is_open
            assert before.state not in UNFINISHED
            assert self.get(task_id) == before
        else:
            assert not before.state.is_terminal
            assert canceled.state is TaskState.CANCELED
            assert self.get(task_id) == canceled

    def observe(self) -> None:
        for task_id, before in self.known.items():
            now = self.get(task_id)
            if before is None:
                assert now is None, "a forgotten task is not known again"
            elif now is not None and now != before:
                assert not before.state.is_terminal, "terminal is terminal"
                history = before.task.history
                assert now.task.history[: len(history)] == history
            self.known[task_id] = now
        for answer in [answer for answer in self.answers if answer.done()]:
            self.answers.remove(answer)
            answer.result()

    async def settle(self) -> None:
        for _ in range(5):
            await asyncio.sleep(0)
            self.observe()

    async def come_to_rest(self) -> None:
        """Every turn ends, and every context takes the next message."""
        self.service.load()
        await self.end_turns()
        for conversation in [*self.service.store.conversations()]:
            await self.make(Say("mumble", "blocks", conversation.id))
        await self.end_turns()
        assert not self.answers
        assert not any(known.state in UNFINISHED for known in self.known.values() if known)
        assert not any(turns.unfinished for turns in self.service.store.conversations())

    async def end_turns(self) -> None:
        await self.settle()
        for _ in range(20):
            if any(turns.unfinished for turns in self.service.store.conversations()):
                self.world.let_go()
                self.world.advance(TIMEOUT_SECONDS)
                await self.settle()

    def task_id(self, ago: int) -> str | None:
        return [*self.known][-1 - ago % len(self.known)] if self.known else None

    def get(self, task_id: str) -> Snapshot | None:
        try:
            return self.service.get(GetTask(task_id), CALL)
        except RpcError as error:
            self.is_expected(error)
            return None

    @staticmethod
    def names_a_task(turn: SendMessage, error: RpcError) -> None:
        """A message's own task is found; only one that it names may be unknown."""
        assert turn.message.task_id or error.code != TASK_NOT_FOUND

    @staticmethod
    def is_expected(error: RpcError) -> None:
        assert error.code in EXPECTED


async def play(profile: Profile, game: list[list[Move]]) -> None:
    world = World()
    agent = AgentVersion(BOTH, run_action)
    service_settings = ServiceSettings(REPLAY_SECONDS, TIMEOUT_SECONDS, 2, profile)
    async with Service(agent, world.runtime(), service_settings) as service:
        clients = Clients(service, world)
        try:
            for moves in game:
                await clients.play(moves)
            await clients.come_to_rest()
        finally:
            for answer in clients.answers:
                answer.cancel()
            await service.drain(0)


@pytest.mark.req("TURN-2a", "TURN-3", "TURN-7", "TURN-8", "TURN-10")
@settings(max_examples=400)
@given(profile=st.sampled_from((A2A, A2A, RASA)), game=GAMES)
def test_terminal_is_terminal_in_every_order_of_what_happens(
    profile: Profile, game: list[list[Move]]
) -> None:
    asyncio.run(play(profile, game))
