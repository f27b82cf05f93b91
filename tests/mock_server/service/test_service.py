"""Turns, tasks and contexts, as the edges above the service see them."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from mock_server.actions.runner import ChunkStreamed, Paused, Progress
from mock_server.dialogue.model import Json
from mock_server.dialogue.outside import ActionResult, Utterance
from mock_server.dialogue.state import DialogueState, Tracker
from mock_server.errors import RpcError
from mock_server.profiles import A2A, Profile
from mock_server.project.load import assemble
from mock_server.service.conversation import AgentVersion
from mock_server.service.runtime import Runtime, real_runtime
from mock_server.service.service import Service, ServiceSettings
from mock_server.service.store import Occurrence, Snapshot, Subscription
from mock_server.tasks.task import (
    ArtifactUpdate,
    DataPart,
    Message,
    Part,
    Role,
    StatusUpdate,
    Task,
    TaskState,
    TextPart,
)
from mock_server.wire.jsonrpc import InFlight
from mock_server.wire.operations import CallContext, CancelTask, GetTask, Resubscribe, SendMessage
from mock_server.wire.v0_3 import V03

CALL = CallContext(V03())

DOMAIN = """
slots:
  recipient: {type: text}
  amount: {type: float, min_value: 1}
responses:
  utter_ask_recipient: [{text: "To whom?"}]
  utter_ask_amount: [{text: "How much to {recipient}?"}]
  utter_sent: [{text: "Sent {amount} to {recipient}."}]
  utter_checked: [{text: "All is well."}]
actions: [action_check, action_explain, action_break, action_nothing]
"""
FLOWS = """
flows:
  transfer_money:
    description: send money to somebody
    persisted_slots: [amount]
    steps:
      - collect: recipient
      - collect: amount
      - action: utter_sent
  check_account:
    description: check the account
    run_pattern_completed: false
    steps:
      - action: action_check
      - action: utter_checked
  explain_fees:
    description: explain the fees
    run_pattern_completed: false
    steps:
      - action: action_explain
  do_nothing:
    description: do nothing at all
    run_pattern_completed: false
    steps:
      - action: action_nothing
  break_things:
    description: break things
    steps:
      - action: action_break
"""


@dataclass
class Hands:
    """Time stands still until `advance`; an action that pauses waits for `let_go`."""

    clock_seconds: float = 0.0
    paused: asyncio.Event = field(default_factory=asyncio.Event)
    let_go: asyncio.Event = field(default_factory=asyncio.Event)
    seen: list[DialogueState] = field(default_factory=list[DialogueState])
    timers: list[tuple[float, Callable[[], None]]] = field(
        default_factory=list[tuple[float, Callable[[], None]]]
    )

    def runtime(self) -> Runtime:
        ids = count(1)
        return Runtime(
            now=lambda: (
                datetime(2026, 11, 20, 10, tzinfo=UTC) + timedelta(seconds=self.clock_seconds)
            ),
            elapsed_seconds=lambda: self.clock_seconds,
            sleep=self.sleep,
            make_id=lambda: f"id-{next(ids)}",
            start_timer=self.start_timer,
        )

    def start_timer(self, seconds: float, callback: Callable[[], None]) -> Callable[[], None]:
        timer = (seconds, callback)
        self.timers.append(timer)
        return lambda: self.timers.remove(timer)

    async def sleep(self, seconds: float) -> None:
        self.clock_seconds += seconds
        self.paused.set()
        await self.let_go.wait()

    def run_action(self, name: str, state: DialogueState, _: Tracker) -> Iterator[Progress]:
        self.seen.append(state)
        match name:
            case "action_check":
                yield Paused(2.0)
                yield ActionResult()
            case "action_explain":
                yield ChunkStreamed("Your ", is_first=True, is_last=False)
                yield Paused(0.1)
                yield ChunkStreamed("fee.", is_first=False, is_last=True)
                yield ActionResult(utterances=(Utterance("Your fee."),))
            case "action_nothing":
                return
            case _:
                yield ActionResult(failure={"action": name})


@dataclass
class Lab:
    """A service on that assistant, and a client of it."""

    service: Service
    hands: Hands
    numbers: Iterator[int] = field(default_factory=count)

    def turn(
        self,
        text: str = "",
        *parts: Part,
        context: str | None = "c1",
        message_id: str | None = None,
        task: str | None = None,
        metadata: Mapping[str, Json] | None = None,
        request_metadata: Mapping[str, Json] | None = None,
        blocking: bool = True,
        modes: tuple[str, ...] = (),
    ) -> SendMessage:
        said = (TextPart(text), *parts) if text else parts
        identity = message_id or f"m{next(self.numbers)}"
        message = Message(identity, Role.USER, said, context, task, metadata)
        return SendMessage(
            message,
            is_blocking=blocking,
            request_metadata=request_metadata,
            accepted_output_modes=modes,
        )

    async def send(self, turn: SendMessage) -> Task:
        return (await self.service.send(turn, CALL)).task

    async def say(self, text: str, context: str = "c1") -> Task:
        return await self.send(self.turn(text, context=context))

    async def start(self, turn: SendMessage) -> Task:
        """Begin `turn` and come back when its action has paused."""
        self.hands.paused.clear()
        begun = await self.send(replace(turn, is_blocking=False))
        await self.hands.paused.wait()
        return begun

    def get(self, task: Task) -> Task:
        return self.service.get(GetTask(task.id), CALL).task

    def cancel(self, task: Task) -> Task:
        return self.service.cancel(CancelTask(task.id), CALL).task


@asynccontextmanager
async def open_lab(settings: ServiceSettings | None = None) -> AsyncGenerator[Lab]:
    hands = Hands()
    agent = AgentVersion(
        assemble({"domain.yml": DOMAIN, "data/flows.yml": FLOWS}), hands.run_action
    )
    async with Service(agent, hands.runtime(), settings or ServiceSettings()) as service:
        try:
            yield Lab(service, hands)
        finally:
            hands.let_go.set()


def text_of(task: Task) -> str:
    parts = task.status.message.parts if task.status.message else ()
    return "".join(part.text for part in parts if isinstance(part, TextPart))


def data_of(task: Task) -> Mapping[str, Json]:
    parts = task.status.message.parts if task.status.message else ()
    return next(part.data for part in parts if isinstance(part, DataPart))


async def rest_of(subscription: Subscription) -> list[Occurrence]:
    seen: list[Occurrence] = []
    while not subscription.is_over:
        seen += await subscription.next(5)
    return seen


def states(occurrences: list[Occurrence]) -> list[str]:
    """The states of a stream; an artifact's update is its text."""
    return [_state(occurrence) for occurrence in occurrences]


def _state(occurrence: Occurrence) -> str:
    match occurrence:
        case Task(status=status) | StatusUpdate(status=status):
            return status.state.value
        case ArtifactUpdate(artifact=artifact):
            return "".join(part.text for part in artifact.parts if isinstance(part, TextPart))


pytestmark = pytest.mark.anyio


@pytest.mark.req("TURN-1", "TURN-3", "OUT-1")
async def test_conversation_goes_on_in_its_context() -> None:
    async with open_lab() as lab:
        asked = await lab.say("send money")
        assert (asked.status.state, text_of(asked)) == (TaskState.INPUT_REQUIRED, "To whom?")
        assert data_of(asked) == {
            "state": "input_required",
            "active_flow": "transfer_money",
            "slots": {},
        }
        again = await lab.say("Joe")
        assert text_of(again) == "How much to Joe?"
        done = await lab.say("5")
        assert done.status.state is TaskState.COMPLETED
        assert data_of(done)["persisted_slots"] == {"amount": 5.0}
        assert data_of(done)["slots"] == {"amount": 5.0}
        other = await lab.say("5", context="c2")
        assert data_of(other)["slots"] == {}


@pytest.mark.req("TURN-1")
async def test_message_without_a_context_gets_one() -> None:
    async with open_lab() as lab:
        tasks = [await lab.send(lab.turn("send money", context=name)) for name in (None, None, "")]
        assert len({task.context_id for task in tasks}) == 3
        assert all(task.context_id for task in tasks)


@pytest.mark.req("TURN-2")
async def test_every_message_gets_a_new_task() -> None:
    async with open_lab() as lab:
        first = await lab.say("send money")
        second = await lab.send(lab.turn("Joe", context=None, task=first.id))
        assert second.id != first.id
        assert second.context_id == "c1"
        assert second.metadata == {"previousTaskId": first.id}
        assert second.history[0].task_id == second.id
        third = await lab.send(lab.turn("5", task=second.id))
        assert third.status.state is TaskState.COMPLETED
        assert (await lab.send(lab.turn("send money", task=third.id))).id != third.id


@pytest.mark.req("TURN-2")
@pytest.mark.parametrize(("context", "task"), [("c2", None), ("c1", "nope")])
async def test_task_of_no_or_another_context_is_not_found(context: str, task: str | None) -> None:
    async with open_lab() as lab:
        first = await lab.say("send money")
        with pytest.raises(RpcError) as caught:
            await lab.send(lab.turn("x", context=context, task=task or first.id))
        named = task or first.id
        assert caught.value.code == -32001
        assert caught.value.message == f"Task {named} was specified but does not exist"


@pytest.mark.req("TURN-2")
async def test_message_may_follow_a_task_that_still_runs() -> None:
    async with open_lab() as lab:
        slow = await lab.start(lab.turn("check the account"))
        lab.hands.let_go.set()
        followed = await lab.send(lab.turn("send money", context=None, task=slow.id))
        assert followed.context_id == slow.context_id


async def test_action_without_an_outcome_does_nothing() -> None:
    async with open_lab() as lab:
        done = await lab.say("do nothing at all")
        assert (done.status.state, text_of(done)) == (TaskState.COMPLETED, "")


@pytest.mark.req("TURN-2a")
async def test_superseded_task_stays_as_it_was() -> None:
    async with open_lab() as lab:
        first = await lab.say("send money")
        await lab.say("Joe")
        with pytest.raises(RpcError) as caught:
            lab.cancel(first)
        assert caught.value.code == -32002
        assert caught.value.message.endswith("current state: TaskState.input_required")
        assert await rest_of(lab.service.resubscribe(Resubscribe(first.id))) == [lab.get(first)]
        assert lab.get(first).status.state is TaskState.INPUT_REQUIRED


@pytest.mark.req("TURN-4")
async def test_one_contexts_messages_run_in_order_of_arrival() -> None:
    async with open_lab() as lab:
        slow = await lab.start(lab.turn("check the account"))
        asking = [
            asyncio.create_task(lab.say("send money")),
            asyncio.create_task(lab.say("Joe")),
            asyncio.create_task(lab.say("5")),
        ]
        elsewhere = await lab.say("send money", context="c2")
        assert elsewhere.status.state is TaskState.INPUT_REQUIRED
        assert not any(task.done() for task in asking)
        lab.hands.let_go.set()
        answers = [text_of(await task).split("\n")[0] for task in asking]
        assert answers == ["To whom?", "How much to Joe?", "Sent 5.0 to Joe."]
        assert text_of(lab.get(slow)) == "All is well."


@pytest.mark.req("TURN-5")
async def test_repeated_message_is_answered_with_the_same_bytes() -> None:
    async with open_lab() as lab:
        message = lab.turn("send money")
        first = await lab.service.send(message, CALL)
        await lab.say("Joe")
        again = await lab.service.send(message, CALL)
        assert again.encoded == first.encoded
        assert text_of(await lab.say("7")).startswith("Sent 7.0 to Joe.")


@pytest.mark.req("TURN-5", "TURN-5a")
async def test_repeated_message_on_a_stream_has_its_last_event() -> None:
    async with open_lab() as lab:
        message = lab.turn("explain the fees")
        lab.hands.let_go.set()
        first = await rest_of(await lab.service.stream(message, CALL))
        again = await rest_of(await lab.service.stream(message, CALL))
        assert again == first[-1:]


@pytest.mark.req("TURN-5")
async def test_answer_is_forgotten_after_its_lifetime() -> None:
    async with open_lab(ServiceSettings(replay_seconds=60)) as lab:
        message = lab.turn("send money")
        first = await lab.send(message)
        lab.hands.clock_seconds = 59.9
        assert (await lab.send(message)).id == first.id
        lab.hands.clock_seconds = 60
        assert (await lab.send(message)).id != first.id


@pytest.mark.req("TURN-5")
async def test_lifetime_of_zero_replays_nothing() -> None:
    async with open_lab(ServiceSettings(replay_seconds=0)) as lab:
        message = lab.turn("send money")
        assert (await lab.send(message)).id != (await lab.send(message)).id


@pytest.mark.req("TURN-5")
async def test_repeat_of_a_message_in_flight_conflicts(caplog: pytest.LogCaptureFixture) -> None:
    async with open_lab() as lab:
        message = lab.turn("check the account", message_id="m")
        await lab.start(message)
        for repeat in (lab.service.send(message, CALL), _streamed(lab, message)):
            with pytest.raises(InFlight) as caught:
                await repeat
            assert caught.value.code == -32600
            assert caught.value.data == {
                "reason": "message_in_flight",
                "contextId": "c1",
                "messageId": "m",
            }
        assert "a2a_server.sanic_app.message_in_flight_conflict" in caplog.text
        assert (await lab.send(lab.turn("send money", context="c2", message_id="m"))).id


async def _streamed(lab: Lab, message: SendMessage) -> list[Occurrence]:
    return await rest_of(await lab.service.stream(message, CALL))


@pytest.mark.req("TURN-5")
async def test_only_one_of_many_simultaneous_repeats_runs() -> None:
    async with open_lab() as lab:
        message = lab.turn("check the account")
        lab.hands.let_go.set()
        outcomes = await asyncio.gather(
            *(lab.service.send(message, CALL) for _ in range(20)), return_exceptions=True
        )
        assert sum(isinstance(outcome, Snapshot) for outcome in outcomes) == 1
        assert sum(isinstance(outcome, InFlight) for outcome in outcomes) == 19
        assert len(lab.hands.seen) == 1


@pytest.mark.req("TURN-9")
async def test_send_that_does_not_block_returns_before_the_turn_ends() -> None:
    async with open_lab() as lab:
        begun = await lab.start(lab.turn("check the account"))
        assert begun.status.state is TaskState.SUBMITTED
        assert lab.get(begun).status.state is TaskState.WORKING
        lab.hands.let_go.set()
        await lab.say("send money")
        assert text_of(lab.get(begun)) == "All is well."


@pytest.mark.req("TURN-9")
@pytest.mark.parametrize(
    ("modes", "is_admitted"),
    [
        ((), True),
        (("text/plain",), True),
        (("image/png", "application/json"), True),
        (("*/*",), True),
        (("text/*",), True),
        (("Text/Plain; charset=utf-8",), True),
        (("image/png",), False),
        (("text", "application/xml"), False),
    ],
)
async def test_output_modes_must_admit_text_or_json(
    modes: tuple[str, ...], is_admitted: bool
) -> None:
    async with open_lab() as lab:
        turn = lab.turn("send money", modes=modes)
        if is_admitted:
            assert await lab.send(turn)
            return
        with pytest.raises(RpcError) as caught:
            await lab.send(turn)
        assert caught.value.code == -32005


@pytest.mark.req("TURN-10")
async def test_cancel_of_a_waiting_task_frees_its_context() -> None:
    async with open_lab() as lab:
        await lab.say("send money")
        asked = await lab.say("Joe")
        canceled = lab.cancel(asked)
        assert canceled.status.state is TaskState.CANCELED
        assert data_of(canceled) == {
            "state": "canceled",
            "active_flow": None,
            "slots": {},
            "reason": "orchestrator",
        }
        assert text_of(canceled) == ""
        assert canceled.history == (*asked.history, asked.status.message)
        with pytest.raises(RpcError) as caught:
            lab.cancel(asked)
        assert caught.value.message == (
            "Task cannot be canceled - current state: TaskState.canceled"
        )
        assert text_of(await lab.say("send money")) == "To whom?"


@pytest.mark.req("TURN-10")
async def test_cancel_stops_a_slow_action_at_once() -> None:
    async with open_lab() as lab:
        begun = await lab.start(lab.turn("check the account"))
        waiting = asyncio.create_task(rest_of(lab.service.resubscribe(Resubscribe(begun.id))))
        queued = asyncio.create_task(lab.say("send money"))
        await asyncio.sleep(0)
        canceled = lab.cancel(begun)
        assert canceled.status.state is TaskState.CANCELED
        assert data_of(canceled)["active_flow"] is None
        assert states(await waiting) == ["canceled"]
        assert text_of(await queued) == "To whom?"
        assert lab.get(begun) == canceled


@pytest.mark.req("TURN-10")
async def test_cancel_of_a_queued_turn_leaves_the_dialogue_alone() -> None:
    async with open_lab() as lab:
        asked = await lab.say("send money", context="c1")
        slow = await lab.start(lab.turn("/StartFlow(check_account)"))
        queued = await lab.send(lab.turn("Joe", message_id="queued", blocking=False))
        assert lab.cancel(queued).status.state is TaskState.CANCELED
        assert lab.get(queued).status.message is not None
        lab.hands.let_go.set()
        after = await lab.say("/Noop()")
        assert data_of(after)["active_flow"] == "transfer_money"
        assert lab.get(asked).status.state is TaskState.INPUT_REQUIRED
        assert lab.get(slow).status.state is not TaskState.CANCELED


@pytest.mark.req("TURN-10", "HTTP-5")
async def test_unknown_task_is_not_found() -> None:
    async with open_lab() as lab:
        service = lab.service
        for ask in (
            lambda: service.cancel(CancelTask("nope"), CALL),
            lambda: service.get(GetTask("nope"), CALL),
            lambda: service.resubscribe(Resubscribe("nope")),
        ):
            with pytest.raises(RpcError) as caught:
                ask()
            assert (caught.value.code, caught.value.message) == (-32001, "Task not found")


@pytest.mark.req("TURN-11")
async def test_stream_of_a_plain_turn_is_its_last_update() -> None:
    async with open_lab() as lab:
        seen = await rest_of(await lab.service.stream(lab.turn("send money"), CALL))
        assert states(seen) == ["input_required"]
        assert isinstance(seen[0], StatusUpdate)
        assert seen[0].is_final


@pytest.mark.req("TURN-11", "OUT-4", "OUT-2a")
async def test_streaming_action_shows_work_and_chunks() -> None:
    async with open_lab() as lab:
        lab.hands.let_go.set()
        seen = await rest_of(await lab.service.stream(lab.turn("explain the fees"), CALL))
        assert states(seen) == ["working", "Your ", "fee.", "completed"]
        chunks = [update for update in seen if isinstance(update, ArtifactUpdate)]
        assert [(c.appends, c.is_last_chunk) for c in chunks] == [(False, False), (True, True)]
        assert len({chunk.artifact.artifact_id for chunk in chunks}) == 1
        task = await lab.say("/Noop()")
        assert task.artifacts == ()


@pytest.mark.req("OUT-4", "OUT-2a")
async def test_final_task_holds_the_assembled_artifact() -> None:
    async with open_lab() as lab:
        lab.hands.let_go.set()
        task = await lab.say("explain the fees")
        assert [part for part in task.artifacts[0].parts] == [TextPart("Your "), TextPart("fee.")]
        assert text_of(task) == "Your fee."


@pytest.mark.req("TURN-11")
async def test_stream_may_begin_with_the_submitted_task() -> None:
    settings = ServiceSettings(profile=Profile("a2a", streams_begin_with_task=True))
    async with open_lab(settings) as lab:
        seen = await rest_of(await lab.service.stream(lab.turn("send money"), CALL))
        assert states(seen) == ["submitted", "working", "input_required"]
        assert isinstance(seen[0], Task)


@pytest.mark.req("HTTP-7")
async def test_subscription_says_when_nothing_happens() -> None:
    async with open_lab() as lab:
        begun = await lab.start(lab.turn("check the account"))
        subscription = lab.service.resubscribe(Resubscribe(begun.id))
        assert await subscription.next(0.01) == []
        assert not subscription.is_over
        lab.hands.let_go.set()
        assert states(await rest_of(subscription)) == ["completed"]


@pytest.mark.req("HTTP-5a")
async def test_terminal_task_has_no_events_to_come() -> None:
    async with open_lab() as lab:
        canceled = lab.cancel(await lab.say("send money"))
        with pytest.raises(RpcError) as caught:
            lab.service.resubscribe(Resubscribe(canceled.id))
        assert (caught.value.code, caught.value.message) == (
            -32602,
            f"Task {canceled.id} is in terminal state: canceled",
        )


@pytest.mark.req("STATE-3", "OUT-2")
async def test_failing_action_fails_the_task() -> None:
    async with open_lab() as lab:
        task = await lab.say("break things")
        assert task.status.state is TaskState.FAILED
        assert data_of(task)["error_info"] == {"action": "action_break"}
        assert isinstance(data_of(task)["error_type"], str)
        assert text_of(await lab.say("send money")) == "To whom?"


async def test_action_that_crashes_fails_the_task_and_nothing_else(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def crash(name: str, state: DialogueState, _: Tracker) -> Iterator[Progress]:
        raise ZeroDivisionError(name, state)

    agent = AgentVersion(assemble({"domain.yml": DOMAIN, "data/flows.yml": FLOWS}), crash)
    hands = Hands()
    async with Service(agent, hands.runtime(), ServiceSettings()) as service:
        lab = Lab(service, hands)
        task = await lab.say("check the account")
        assert task.status.state is TaskState.FAILED
        assert data_of(task)["error_info"] == {}
        assert "ZeroDivisionError" not in str(task)
        assert "ZeroDivisionError" in caplog.text
        assert text_of(await lab.say("send money")) == "To whom?"


@pytest.mark.req("LOG-1")
async def test_each_turn_that_ends_is_one_line_of_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "a2a_server")
    async with open_lab() as lab:
        asked = await lab.say("send money")
        canceled = await lab.say("cancel")
        lab.service.unload()
        refused = await lab.say("hello")
    lines = [said for r in caplog.records if "a2a_mock.turn.ended" in (said := r.getMessage())]
    for task, line in zip((asked, canceled, refused), lines, strict=True):
        assert task.id in line
        assert task.context_id in line
        assert f"'{task.status.state.value}'" in line
        assert "'milliseconds': 0.0" in line


@pytest.mark.req("SLOT-1a", "SLOT-6")
async def test_seeded_slots_skip_their_questions() -> None:
    async with open_lab() as lab:
        asked = await lab.send(lab.turn("send money", metadata={"slots": {"recipient": "Joe"}}))
        assert text_of(asked) == "How much to Joe?"
        done = await lab.send(lab.turn("", DataPart({"slots": {"amount": "12"}})))
        assert done.status.state is TaskState.COMPLETED
        assert text_of(done).startswith("Sent 12.0 to Joe.")


@pytest.mark.req("SLOT-3", "SLOT-6")
async def test_slots_that_fit_nothing_are_skipped_and_the_question_stays(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with open_lab() as lab:
        await lab.say("send money")
        await lab.say("Joe")
        turn = lab.turn("", DataPart({"slots": {"amount": 0, "unknown": 1}}))
        asked = await lab.send(turn)
        assert asked.status.state is TaskState.INPUT_REQUIRED
        assert text_of(asked) == "How much to Joe?"
        assert "a2a_server.message_adapter.skip_slot.invalid_value" in caplog.text
        assert "amount" in caplog.text


@pytest.mark.req("SLOT-5")
async def test_users_own_value_wins_over_the_orchestrators() -> None:
    async with open_lab() as lab:
        await lab.say("send money")
        slots: Json = {"recipient": "Ann", "amount": 3}
        done = await lab.send(lab.turn("Joe", request_metadata={"slots": slots}))
        assert text_of(done).startswith("Sent 3.0 to Joe.")


@pytest.mark.req("SLOT-4", "OUT-5")
async def test_history_holds_the_message_without_markers() -> None:
    async with open_lab() as lab:
        task = await lab.say('send money\nSLOTS: {"recipient": "Joe"}')
        assert task.history[0].parts == (TextPart("send money"),)
        assert text_of(task) == "How much to Joe?"


@pytest.mark.req("TURN-12")
async def test_metadata_reaches_the_actions() -> None:
    async with open_lab() as lab:
        lab.hands.let_go.set()
        metadata: dict[str, Json] = {"user": "u1", "slots": {"recipient": "Joe"}}
        await lab.send(lab.turn("check the account", metadata=metadata))
        assert lab.hands.seen[0].user_metadata == {"user": "u1"}


async def test_draining_service_takes_no_turn_and_ends_the_late_ones() -> None:
    async with open_lab() as lab:
        slow = await lab.start(lab.turn("check the account"))
        waiting = asyncio.create_task(lab.say("send money"))
        await asyncio.sleep(0)
        await lab.service.drain(0)
        assert lab.get(slow).status.state is TaskState.CANCELED
        assert data_of(lab.get(slow))["reason"] == "timeout"
        assert (await waiting).status.state is TaskState.CANCELED
        with pytest.raises(RpcError) as caught:
            await lab.say("send money")
        assert caught.value.code == -32603


async def test_draining_service_waits_for_turns() -> None:
    async with open_lab() as lab:
        slow = await lab.start(lab.turn("check the account"))
        draining = asyncio.create_task(lab.service.drain(60))
        await asyncio.sleep(0)
        lab.hands.let_go.set()
        await draining
        assert text_of(lab.get(slow)) == "All is well."
        await lab.service.drain(60)


def test_seeded_runtime_makes_the_same_ids() -> None:
    runtimes = [real_runtime(7), real_runtime(7), real_runtime(8), real_runtime()]
    ids = [[runtime.make_id() for _ in range(3)] for runtime in runtimes]
    assert ids[0] == ids[1]
    assert ids[0] != ids[2]
    assert len({*ids[0], *ids[2], *ids[3]}) == 9
    assert runtimes[3].now().tzinfo is UTC


@pytest.mark.req("TURN-8", "TURN-5a", "CARD-7")
async def test_turn_without_a_model_fails_and_is_not_remembered(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with open_lab() as lab:
        agent = AgentVersion(
            assemble({"domain.yml": DOMAIN, "data/flows.yml": FLOWS}), lab.hands.run_action
        )
        asked = await lab.say("send money")
        lab.service.unload()
        turn = lab.turn("Joe")
        refused = await lab.send(turn)
        assert refused.status.state is TaskState.FAILED
        assert text_of(refused) == "Agent is not ready to handle messages."
        assert data_of(refused)["error_type"] == "agent_not_ready"
        assert lab.get(refused) == refused
        assert "a2a_server.rasa_a2a_agent_executor.execute.agent_not_ready" in caplog.text
        streamed = await lab.service.stream(turn, CALL)
        assert states(await rest_of(streamed)) == ["failed"]
        lab.service.renew(agent.assistant, agent.run_action, reports_changes=False)
        lab.service.load()
        retried = await lab.send(turn)
        assert text_of(retried) == "How much to Joe?"
        assert lab.get(asked).status.state is TaskState.INPUT_REQUIRED


@pytest.mark.req("TURN-8")
async def test_turn_that_came_before_the_model_was_unloaded_goes_on() -> None:
    async with open_lab() as lab:
        begun = await lab.start(lab.turn("check the account"))
        lab.service.unload()
        lab.hands.let_go.set()
        last = (await rest_of(lab.service.resubscribe(Resubscribe(begun.id))))[-1]
        assert states([last]) == ["completed"]


@pytest.mark.req("TURN-3", "TURN-5a", "TURN-8")
async def test_task_that_waits_goes_on_waiting_when_its_message_is_refused() -> None:
    async with open_lab(ServiceSettings(profile=A2A)) as lab:
        asked = await lab.say("send money")
        lab.service.unload()
        turn = lab.turn("Joe", context=None, task=asked.id)
        refused = await lab.send(turn)
        assert refused.status.state is TaskState.FAILED
        assert refused.metadata == {"previousTaskId": asked.id}
        assert lab.get(asked) == asked
        lab.service.load()
        retried = await lab.send(turn)
        assert (retried.id, text_of(retried)) == (asked.id, "How much to Joe?")
        assert lab.cancel(asked).status.state is TaskState.CANCELED
        assert lab.get(refused) == refused


@pytest.mark.req("TURN-2a", "TURN-10")
async def test_message_before_it_in_the_queue_leaves_a_continued_task_alone() -> None:
    async with open_lab(ServiceSettings(profile=A2A)) as lab:
        asked = await lab.say("send money")
        await lab.send(lab.turn("check the account", blocking=False))
        queued = await lab.send(lab.turn("Joe", context=None, task=asked.id, blocking=False))
        await lab.hands.paused.wait()
        assert lab.get(asked) == queued
        assert lab.cancel(asked).status.state is TaskState.CANCELED


@pytest.mark.req("STATE-1", "TURN-3")
async def test_task_that_waits_for_a_valid_token_reserves_its_context() -> None:
    async with open_lab(ServiceSettings(profile=A2A)) as lab:
        asked = await lab.say("send money")
        late = lab.turn("Joe", context=None, task=asked.id)
        refused = (await lab.service.send(late, replace(CALL, authorized_until=0))).task
        assert (refused.id, refused.status.state) == (asked.id, TaskState.AUTH_REQUIRED)
        assert [turns.open_task_id for turns in lab.service.store.conversations()] == [asked.id]
        assert text_of(await lab.say("Joe")) == "How much to Joe?"
        assert lab.get(asked).status.state is TaskState.AUTH_REQUIRED


@pytest.mark.req("TURN-9")
async def test_answer_is_the_task_at_its_turns_end_whatever_comes_after() -> None:
    async with open_lab() as lab:
        begun = await lab.start(lab.turn("check the account", message_id="slow"))
        waiting = asyncio.create_task(lab.say("send money"))
        await asyncio.sleep(0)
        lab.service.reset()
        assert (await waiting).status.state is TaskState.CANCELED
        with pytest.raises(RpcError):
            lab.get(begun)
