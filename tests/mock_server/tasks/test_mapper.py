"""The state table, rule by rule and over generated turns."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mock_server.dialogue.assistant import Assistant, RejectedScope
from mock_server.dialogue.model import Button, Json, Slot, SlotType
from mock_server.dialogue.state import (
    BotUttered,
    Event,
    FlowCompleted,
    Frame,
    FrameInserted,
    FramePushed,
    Listened,
)
from mock_server.tasks.mapper import (
    RULES,
    CancelReason,
    Failure,
    TurnOutcome,
    active_flow,
    candidates,
    status_parts,
    task_state,
)
from mock_server.tasks.task import DataPart, TaskState, TextPart

MakeEvent = Callable[[str], Event]
MakeFrame = Callable[[str], Frame]

REPAIR = (
    "pattern_completed",
    "pattern_customer_satisfaction",
    "pattern_continue_interrupted",
)
SILENT_REPAIR = (
    "pattern_clarification",
    "pattern_skip_question",
    "pattern_chitchat",
    "pattern_search",
    "pattern_session_start",
)


@pytest.mark.req("STATE-1")
def test_unauthorized_turn_requires_authorization(waiting: TurnOutcome) -> None:
    assert task_state(replace(waiting, is_authorized=False)) is TaskState.AUTH_REQUIRED


@pytest.mark.req("STATE-2")
def test_cannot_handle_without_a_user_flow_is_rejected(
    waiting: TurnOutcome, pushed: MakeEvent
) -> None:
    turn = replace(waiting, events=(pushed("pattern_cannot_handle"),))
    assert task_state(turn) is TaskState.REJECTED


@pytest.mark.req("STATE-2")
def test_cannot_handle_in_a_user_flow_asks_again(
    waiting: TurnOutcome, pushed: MakeEvent, frame: MakeFrame
) -> None:
    turn = replace(waiting, stack=(frame("transfer"),), events=(pushed("pattern_cannot_handle"),))
    assert task_state(turn) is TaskState.INPUT_REQUIRED
    assert [rule.state for rule in candidates(turn)][:2] == [
        TaskState.REJECTED,
        TaskState.INPUT_REQUIRED,
    ]


@pytest.mark.req("STATE-2")
def test_scope_always_rejects_in_a_user_flow(
    waiting: TurnOutcome, pushed: MakeEvent, frame: MakeFrame
) -> None:
    turn = replace(
        waiting,
        stack=(frame("transfer"),),
        events=(pushed("pattern_cannot_handle"),),
        rejected_scope=RejectedScope.ALWAYS,
    )
    assert task_state(turn) is TaskState.REJECTED


@pytest.mark.req("STATE-3")
def test_internal_error_fails(waiting: TurnOutcome, pushed: MakeEvent) -> None:
    turn = replace(waiting, events=(pushed("pattern_internal_error"),))
    assert task_state(turn) is TaskState.FAILED


@pytest.mark.req("STATE-4")
def test_cancelled_flow_is_canceled_though_another_one_waits(
    waiting: TurnOutcome, pushed: MakeEvent, frame: MakeFrame
) -> None:
    turn = replace(waiting, stack=(frame("other"),), events=(pushed("pattern_cancel_flow"),))
    assert task_state(turn) is TaskState.CANCELED


@pytest.mark.req("STATE-4")
def test_cancel_by_the_client_is_canceled(waiting: TurnOutcome) -> None:
    assert task_state(replace(waiting, is_canceled_by_client=True)) is TaskState.CANCELED


@pytest.mark.req("STATE-5")
def test_completed_flow_completes_though_the_bot_offers_more(
    waiting: TurnOutcome, completed: MakeEvent, frame: MakeFrame
) -> None:
    stack = (frame("pattern_completed"), frame("pattern_collect_information"))
    turn = replace(waiting, stack=stack, events=(completed("transfer"),))
    assert task_state(turn) is TaskState.COMPLETED


@pytest.mark.req("STATE-5")
@pytest.mark.parametrize(
    "event",
    [
        FlowCompleted("transfer", "END", is_child=True),
        FlowCompleted("pattern_chitchat", "END"),
    ],
)
def test_child_or_pattern_completes_nothing(waiting: TurnOutcome, event: Event) -> None:
    assert task_state(replace(waiting, events=(event,))) is TaskState.INPUT_REQUIRED


@pytest.mark.req("STATE-5")
def test_flow_that_interrupted_another_completes_nothing(
    waiting: TurnOutcome, completed: MakeEvent, frame: MakeFrame
) -> None:
    stack = (frame("transfer"), frame("pattern_continue_interrupted"))
    turn = replace(waiting, stack=stack, events=(completed("balance"),))
    assert task_state(turn) is TaskState.INPUT_REQUIRED


@pytest.mark.req("STATE-6")
def test_open_completed_pattern_requires_input(waiting: TurnOutcome, frame: MakeFrame) -> None:
    turn = replace(waiting, stack=(frame("pattern_completed"),))
    assert task_state(turn) is TaskState.INPUT_REQUIRED
    assert candidates(turn)[0].id == "STATE-6"


@pytest.mark.req("STATE-7")
def test_open_completed_pattern_completes_where_repair_is_hidden(
    waiting: TurnOutcome, frame: MakeFrame
) -> None:
    turn = replace(waiting, stack=(frame("pattern_completed"),), offers_repair=False)
    assert task_state(turn) is TaskState.COMPLETED


@pytest.mark.req("STATE-7")
def test_completed_pattern_of_a_bot_that_does_not_wait_is_completed(
    waiting: TurnOutcome, frame: MakeFrame
) -> None:
    turn = replace(waiting, stack=(frame("pattern_completed"),), is_waiting=False)
    assert task_state(turn) is TaskState.COMPLETED


@pytest.mark.req("STATE-7")
@pytest.mark.parametrize("pattern", REPAIR)
def test_hidden_repair_that_asks_is_completed(
    waiting: TurnOutcome, frame: MakeFrame, pattern: str
) -> None:
    stack = (frame("transfer"), frame(pattern), frame("pattern_collect_information"))
    turn = replace(waiting, stack=stack)
    assert task_state(turn) is TaskState.INPUT_REQUIRED
    assert task_state(replace(turn, offers_repair=False)) is TaskState.COMPLETED


@pytest.mark.req("STATE-7")
@pytest.mark.parametrize("pattern", SILENT_REPAIR)
def test_hidden_repair_that_only_speaks_is_completed(
    waiting: TurnOutcome, pushed: MakeEvent, pattern: str
) -> None:
    turn = replace(waiting, events=(pushed(pattern),))
    assert task_state(turn) is TaskState.INPUT_REQUIRED
    assert task_state(replace(turn, offers_repair=False)) is TaskState.COMPLETED


@pytest.mark.req("STATE-7")
def test_answer_that_ends_a_hidden_repair_is_completed(
    waiting: TurnOutcome, frame: MakeFrame
) -> None:
    turn = replace(waiting, stack_before=(frame("pattern_customer_satisfaction"),))
    assert task_state(turn) is TaskState.INPUT_REQUIRED
    assert task_state(replace(turn, offers_repair=False)) is TaskState.COMPLETED


@pytest.mark.req("STATE-8")
@pytest.mark.parametrize("offers_repair", [True, False])
def test_question_of_a_user_flow_requires_input(
    waiting: TurnOutcome, pushed: MakeEvent, frame: MakeFrame, offers_repair: bool
) -> None:
    turn = replace(
        waiting,
        stack=(frame("transfer"), frame("pattern_collect_information")),
        events=(pushed("pattern_chitchat"), pushed("pattern_collect_information")),
        offers_repair=offers_repair,
    )
    assert task_state(turn) is TaskState.INPUT_REQUIRED


@pytest.mark.req("STATE-9")
def test_turn_that_does_not_wait_is_working(waiting: TurnOutcome, frame: MakeFrame) -> None:
    turn = replace(waiting, stack=(frame("transfer"),), is_waiting=False)
    assert task_state(turn) is TaskState.WORKING


def test_active_flow_is_the_topmost_user_flow(frame: MakeFrame) -> None:
    stack = (frame("transfer"), frame("balance"), frame("pattern_completed"))
    assert active_flow(stack) == "balance"
    assert active_flow((frame("pattern_completed"),)) is None


flow_ids = st.sampled_from(
    [
        "transfer",
        "balance",
        *REPAIR,
        *SILENT_REPAIR,
        "pattern_collect_information",
        "pattern_cannot_handle",
        "pattern_internal_error",
        "pattern_cancel_flow",
        "pattern_human_handoff",
    ]
)
frames = st.builds(Frame, id=st.just("1"), flow_id=flow_ids, step_id=st.just("s"))
stacks = st.lists(frames, max_size=4).map(tuple)
events = st.one_of(
    st.builds(FramePushed, frames),
    st.builds(FrameInserted, frames, index=st.just(0)),
    st.builds(
        FlowCompleted,
        flow_ids,
        step_id=st.just("s"),
        is_child=st.booleans(),
        persisted_slots=st.just({}),
    ),
    st.just(Listened()),
)
turns = st.builds(
    TurnOutcome,
    stack=stacks,
    events=st.lists(events, max_size=5).map(tuple),
    is_waiting=st.booleans(),
    stack_before=stacks,
    offers_repair=st.booleans(),
    rejected_scope=st.sampled_from(RejectedScope),
    is_authorized=st.booleans(),
    is_canceled_by_client=st.booleans(),
)


@settings(max_examples=200)
@given(turns)
def test_state_is_that_of_the_first_rule_that_holds(turn: TurnOutcome) -> None:
    holding = [rule for rule in RULES if rule.holds(turn)]
    assert task_state(turn) is holding[0].state
    assert [rule.id for rule in RULES] == sorted(rule.id for rule in RULES)


@settings(max_examples=200)
@given(turns)
def test_every_pair_of_rules_keeps_its_precedence(turn: TurnOutcome) -> None:
    """An independent reading of the table: conditions as the specification words them."""
    frames_on = {frame.flow_id for frame in turn.stack}
    activated = {
        event.frame.flow_id
        for event in turn.events
        if isinstance(event, FramePushed | FrameInserted)
    }
    has_user_flow = bool(frames_on & {"transfer", "balance"})
    finished = any(
        isinstance(event, FlowCompleted)
        and not event.is_child
        and event.flow_id in {"transfer", "balance"}
        for event in turn.events
    )
    always = turn.rejected_scope is RejectedScope.ALWAYS
    state = task_state(turn)
    if not turn.is_authorized:
        assert state is TaskState.AUTH_REQUIRED
    elif "pattern_cannot_handle" in activated and (always or not has_user_flow):
        assert state is TaskState.REJECTED
    elif "pattern_internal_error" in activated:
        assert state is TaskState.FAILED
    elif turn.is_canceled_by_client or "pattern_cancel_flow" in activated:
        assert state is TaskState.CANCELED
    elif finished and not has_user_flow and turn.is_waiting:
        assert state is TaskState.COMPLETED
    elif "pattern_completed" in frames_on and not has_user_flow:
        asks = turn.offers_repair and turn.is_waiting and not finished
        assert state is (TaskState.INPUT_REQUIRED if asks else TaskState.COMPLETED)
    elif turn.is_waiting and turn.offers_repair:
        assert state is TaskState.INPUT_REQUIRED
    elif turn.is_waiting:
        assert state in {TaskState.INPUT_REQUIRED, TaskState.COMPLETED}
    else:
        assert state is TaskState.WORKING


@settings(max_examples=100)
@given(turns)
def test_users_own_question_is_never_completed(turn: TurnOutcome) -> None:
    question = (Frame("u", "transfer", "s"), Frame("c", "pattern_collect_information", "s"))
    asking = replace(
        turn,
        stack=(*turn.stack, *question),
        events=(),
        is_waiting=True,
        is_authorized=True,
        is_canceled_by_client=False,
    )
    assert task_state(asking) is TaskState.INPUT_REQUIRED


ASSISTANT = Assistant(
    slots={
        slot.name: slot
        for slot in (
            Slot("recipient", SlotType.TEXT),
            Slot("amount", SlotType.FLOAT),
            Slot("continue_conversation", SlotType.BOOL, is_builtin=True),
        )
    }
)
SLOTS: Mapping[str, Json] = {"recipient": "Joe", "amount": None, "continue_conversation": True}


def pattern(flow_id: str, **context: Json) -> Event:
    return FramePushed(Frame("1", flow_id, "s", context=context))


def data(state: TaskState, *events: Event, failure: Failure | None = None) -> Mapping[str, Json]:
    turn = TurnOutcome((Frame("0", "transfer", "s"),), events, is_waiting=True)
    part = status_parts(ASSISTANT, SLOTS, state, turn, failure=failure)[-1]
    assert isinstance(part, DataPart)
    return part.data


@pytest.mark.req("OUT-2")
def test_open_task_shows_flow_and_own_slots_with_a_value() -> None:
    assert data(TaskState.INPUT_REQUIRED) == {
        "state": "input_required",
        "active_flow": "transfer",
        "slots": {"recipient": "Joe"},
    }


@pytest.mark.req("OUT-2", "OUT-2a")
def test_completed_task_shows_what_every_completed_flow_persists() -> None:
    events = (
        FlowCompleted("a", "END", persisted_slots={"recipient": "Joe", "amount": None}),
        FlowCompleted("b", "END", persisted_slots={"amount": 3.0}),
    )
    shown = data(TaskState.COMPLETED, *events)
    assert shown["persisted_slots"] == {"recipient": "Joe", "amount": 3.0}
    assert "persisted_slots" not in data(TaskState.INPUT_REQUIRED, *events)


@pytest.mark.req("OUT-2")
@pytest.mark.parametrize(
    ("context", "reason"),
    [
        ({"reason": "cannot_handle_not_supported"}, "cannot_handle_not_supported"),
        ({}, "cannot_handle_default"),
        ({"reason": None}, "cannot_handle_default"),
    ],
)
def test_rejected_task_says_why(context: dict[str, Json], reason: str) -> None:
    event = pattern("pattern_cannot_handle", **context)
    assert data(TaskState.REJECTED, event)["reason"] == reason


@pytest.mark.req("OUT-2")
def test_canceled_task_says_by_whom() -> None:
    turn = TurnOutcome((), (), is_waiting=True)
    for reason in CancelReason:
        part = status_parts(ASSISTANT, SLOTS, TaskState.CANCELED, turn, reason=reason)[0]
        assert isinstance(part, DataPart)
        assert part.data["reason"] == reason.value
        assert part.data["active_flow"] is None


@pytest.mark.req("OUT-2")
def test_failed_task_says_what_failed() -> None:
    event = pattern(
        "pattern_internal_error", error_type="rasa_internal_error_x", info={"action": "action_y"}
    )
    shown = data(TaskState.FAILED, event)
    assert shown["error_type"] == "rasa_internal_error_x"
    assert shown["error_info"] == {"action": "action_y"}


@pytest.mark.req("OUT-2")
def test_failure_outside_the_dialogue_has_its_own_type() -> None:
    shown = data(TaskState.FAILED, failure=Failure("context_limit", {}))
    assert (shown["error_type"], shown["error_info"]) == ("context_limit", {})
    bare = data(TaskState.FAILED)
    assert (bare["error_type"], bare["error_info"]) == ("rasa_internal_error_default", {})


@pytest.mark.req("OUT-1", "OUT-2a")
def test_text_is_what_the_bot_said_with_its_buttons() -> None:
    turn = TurnOutcome((), (), is_waiting=True)
    said = (
        BotUttered("Hello."),
        BotUttered("Sure?", buttons=(Button("Yes", "/SetSlots(x=true)"), Button("No", "no"))),
        BotUttered(""),
    )
    parts = status_parts(ASSISTANT, SLOTS, TaskState.INPUT_REQUIRED, replace(turn, events=said))
    assert parts[0] == TextPart("Hello.\n\nSure?\n1: Yes (/SetSlots(x=true))\n2: No (no)")
    assert isinstance(parts[1], DataPart)


@pytest.mark.req("OUT-1")
def test_silent_turn_has_no_text_part() -> None:
    turn = TurnOutcome((), (), is_waiting=True)
    parts = status_parts(ASSISTANT, SLOTS, TaskState.COMPLETED, turn)
    assert [type(part) for part in parts] == [DataPart]
