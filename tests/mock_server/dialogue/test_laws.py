"""Laws of every conversation with every assistant: fold, determinism, termination."""

from dataclasses import replace
from functools import cache, reduce
from itertools import chain, islice

from hypothesis import given, settings
from hypothesis import strategies as st

from mock_server.dialogue.actions import DEFAULT_ACTIONS
from mock_server.dialogue.assistant import Assistant, ToolBranch
from mock_server.dialogue.commands import (
    CancelFlow,
    CannotHandle,
    ChitChat,
    Clarify,
    Command,
    ContinueAgent,
    HumanHandoff,
    Noop,
    RepeatLastBotMessages,
    ReportError,
    Restart,
    RestartAgent,
    SearchAndReply,
    SessionEnd,
    SessionStart,
    SetSlot,
    SkipQuestion,
    StartFlow,
)
from mock_server.dialogue.engine import UserMessage, advance, cancel
from mock_server.dialogue.model import (
    END,
    ActionStep,
    AgentTurnStep,
    Branch,
    CallStep,
    CollectStep,
    Flow,
    Json,
    LinkStep,
    NoopStep,
    Rejection,
    SetSlotsStep,
    Slot,
    SlotType,
    SlotValidation,
    Step,
    ToolStep,
    Variation,
)
from mock_server.dialogue.outside import ActionResult, Utterance
from mock_server.dialogue.state import (
    ActionRequested,
    DialogueState,
    Event,
    FlowCancelled,
    FlowCompleted,
    FlowStarted,
    Listened,
    Restarted,
    UserUttered,
    apply,
    initial_state,
)
from mock_server.project.agents import agent_flow
from mock_server.project.builtin import builtin
from mock_server.project.load import assemble

FLOWS = ("one", "two", "three")
# A project may write any pattern anew, also those with steps that the engine counts on.
PATTERNS = tuple(sorted(builtin("3.16").flows))
STEPS = ("a", "b", "c", "d")
SLOTS = (
    Slot("text", SlotType.TEXT),
    Slot("bool", SlotType.BOOL),
    Slot("word", SlotType.CATEGORICAL, values=("red", "green")),
    Slot("number", SlotType.FLOAT, initial_value=1.0),
    Slot(
        "checked",
        SlotType.ANY,
        validation=SlotValidation((Rejection("slots.checked = 0", "utter_no"),)),
    ),
)
NAMES = tuple(slot.name for slot in SLOTS)
CONDITIONS = (
    "slots.bool",
    "slots.number > 2",
    "slots.text is not null",
    "slots.text < 5",
    "slots.{{context.collect}} = 1",
    "not readable (",
)
ACTIONS = (
    *("utter_yes", "utter_no", "action_custom", "action_unknown", "action_listen", ""),
    *DEFAULT_ACTIONS,
)

AGENT = agent_flow(
    "helper",
    {
        "ask": AgentTurnStep("ask", (), say="{text}?", waits=True),
        "set": AgentTurnStep("set", (), slots=(("bool", True),)),
        "more": AgentTurnStep("more", (), say="more?", waits=True),
        "end": AgentTurnStep("end", (), fails=True),
    },
)

names = st.sampled_from(NAMES)
values: st.SearchStrategy[Json] = st.sampled_from([None, True, 0, 5.0, "red", "3", "words", [1]])
targets = st.sampled_from((*STEPS, END))
branches = st.one_of(
    targets.map(lambda target: (Branch(target),)),
    st.tuples(targets, st.sampled_from(CONDITIONS), targets).map(
        lambda drawn: (Branch(drawn[0], drawn[1]), Branch(drawn[2]))
    ),
)
guards = st.sampled_from((None, None, "slots.number > 2", "not readable ("))
persisted = st.lists(names, max_size=1).map(tuple)
rejections = st.lists(
    st.builds(Rejection, st.sampled_from(CONDITIONS), st.just("utter_no")), max_size=1
).map(tuple)


# To make a strategy takes far longer than to draw from it.
@cache
def step(step_id: str) -> st.SearchStrategy[Step]:
    flow_ids = st.sampled_from(FLOWS)
    return st.one_of(
        st.builds(
            CollectStep,
            st.just(step_id),
            names,
            branches,
            ask_before_filling=st.booleans(),
            force_slot_filling=st.booleans(),
            reset_after_flow_ends=st.booleans(),
            rejections=rejections,
        ),
        st.builds(ActionStep, st.just(step_id), st.sampled_from(ACTIONS), branches),
        st.builds(
            SetSlotsStep,
            st.just(step_id),
            st.tuples(st.tuples(names, values)),
            branches,
        ),
        st.builds(NoopStep, st.just(step_id), branches),
        st.builds(
            ToolStep,
            st.just(step_id),
            st.sampled_from(("tool", "broken", "unknown")),
            st.just("server"),
            branches,
            outputs=st.tuples(st.tuples(names, st.sampled_from(("result.x", "1 / 0", "{{ (")))),
        ),
        st.builds(LinkStep, st.just(step_id), flow_ids),
    )


@cache
def step_or_call(step_id: str) -> st.SearchStrategy[Step]:
    return st.one_of(
        step(step_id),
        st.builds(CallStep, st.just(step_id), st.sampled_from(FLOWS), branches),
        st.builds(
            CallStep,
            st.just(step_id),
            st.just(AGENT.id),
            branches,
            exit_if=st.lists(st.sampled_from(CONDITIONS), max_size=2).map(tuple),
            exit_slots=st.lists(names, max_size=1).map(tuple),
        ),
    )


@st.composite
def flow(draw: st.DrawFn, flow_id: str) -> Flow:
    """Any flow of four steps; a pattern calls nothing."""
    is_pattern = flow_id.startswith("pattern_")
    steps = [draw(step(id) if is_pattern else step_or_call(id)) for id in STEPS]
    return Flow(
        flow_id,
        flow_id,
        "",
        {step.id: step for step in steps},
        "a",
        guard=draw(guards),
        nlu_triggers=draw(st.sampled_from(((), (f"begin_{flow_id}",)))),
        run_pattern_completed=draw(st.booleans()),
        persisted_slots=draw(persisted),
    )


own_patterns = st.lists(st.sampled_from(PATTERNS), max_size=2)


@st.composite
def flow_set(draw: st.DrawFn) -> dict[str, Flow]:
    """Flows that call and link each other, and perhaps patterns of the project's own."""
    patterns = draw(own_patterns)
    return {flow_id: draw(flow(flow_id)) for flow_id in (*FLOWS, *patterns)}


flow_sets = flow_set()

commands: st.SearchStrategy[Command] = st.one_of(
    st.builds(StartFlow, st.sampled_from((*FLOWS, "nowhere", "pattern_search")), st.booleans()),
    st.builds(SetSlot, st.sampled_from((*NAMES, "nothing")), values, st.booleans()),
    st.builds(Clarify, st.lists(st.sampled_from((*FLOWS, "nowhere")), max_size=3).map(tuple)),
    st.builds(CannotHandle, st.sampled_from([None, "cannot_handle_chitchat", "?"])),
    st.builds(ReportError, st.text(max_size=3)),
    st.sampled_from(
        [
            CancelFlow(),
            ChitChat(),
            SearchAndReply(),
            SkipQuestion(),
            HumanHandoff(),
            RepeatLastBotMessages(),
            SessionStart(),
            SessionEnd(),
            Restart(),
            Noop(),
            ContinueAgent(),
            RestartAgent("helper"),
            SetSlot("continue_interrupted_flow_confirmation", True),
            SetSlot("continue_interrupted_flow_confirmation", False),
            SetSlot("interrupted_flow_to_continue", "one"),
            SetSlot("continue_conversation", False),
        ]
    ),
)
messages = st.builds(
    UserMessage,
    st.one_of(
        st.sampled_from(["yes", "no", "red", "5", "stop", "one", "/restart", "/begin_one", ""]),
        st.text(),
    ),
    st.lists(st.tuples(names, values), max_size=2).map(tuple),
    commands=st.one_of(st.none(), st.lists(commands, max_size=3).map(tuple)),
)
outcomes = st.sampled_from(
    [
        None,
        ActionResult(failure={"action": "action_custom"}),
        ActionResult(
            slots=(("text", "set"),),
            utterances=(Utterance("hi"), Utterance(response="utter_gone")),
        ),
    ]
)
conversations = st.lists(st.tuples(messages, outcomes), min_size=1, max_size=6)


@cache
def default_patterns() -> Assistant:
    return assemble({})


def assistant_of(flows: dict[str, Flow]) -> Assistant:
    """The default patterns, and `flows` on slots of every kind."""
    base = default_patterns()
    asking = {f"utter_ask_{name}": (Variation(f"{name}?"),) for name in NAMES if name != "bool"}
    return replace(
        base,
        flows={**base.flows, **flows, AGENT.id: AGENT},
        slots={**base.slots, **{slot.name: slot for slot in SLOTS}},
        responses={
            **base.responses,
            **asking,
            "utter_yes": (Variation("yes {text}"),),
            "utter_no": (Variation("no"),),
        },
        actions=frozenset({"action_custom"}),
        tools={"tool": (ToolBranch(result={"x": 5}),), "broken": (ToolBranch(fails=True),)},
    )


def hold(
    assistant: Assistant, conversation: list[tuple[UserMessage, ActionResult | None]]
) -> list[tuple[DialogueState, list[Event]]]:
    """Each turn's state and events."""
    state = initial_state(assistant)
    turns: list[tuple[DialogueState, list[Event]]] = []
    for message, outcome in conversation:
        turn = advance(assistant, state, message)
        events = turn.run()
        while isinstance(events[-1], ActionRequested):
            events += turn.run(outcome)
        assert turn.run() == []
        state = turn.state
        turns.append((state, events))
    return turns


@settings(max_examples=60)
@given(flows=flow_sets, conversation=conversations)
def test_state_is_the_fold_of_the_events(
    flows: dict[str, Flow],
    conversation: list[tuple[UserMessage, ActionResult | None]],
) -> None:
    assistant = assistant_of(flows)
    state = initial_state(assistant)
    for message, _ in conversation:
        turn = advance(assistant, state, message)
        while events := turn.run():
            state = reduce(apply, events, state)
            assert turn.state == state


@settings(max_examples=100)
@given(flows=flow_sets, conversation=conversations)
def test_every_turn_ends_listening(
    flows: dict[str, Flow],
    conversation: list[tuple[UserMessage, ActionResult | None]],
) -> None:
    for state, events in hold(assistant_of(flows), conversation):
        assert isinstance(events[-1], Listened)
        assert events.count(Listened()) == 1
        assert sum(isinstance(event, UserUttered) for event in events) == 1
        assert state.is_listening


@settings(max_examples=30)
@given(flows=flow_sets, conversation=conversations)
def test_equal_conversations_have_equal_events(
    flows: dict[str, Flow],
    conversation: list[tuple[UserMessage, ActionResult | None]],
) -> None:
    assistant = assistant_of(flows)
    assert hold(assistant, conversation) == hold(assistant, conversation)


@settings(max_examples=60)
@given(flows=flow_sets, conversation=conversations)
def test_stack_is_sound(
    flows: dict[str, Flow],
    conversation: list[tuple[UserMessage, ActionResult | None]],
) -> None:
    assistant = assistant_of(flows)
    for state, _ in hold(assistant, conversation):
        ids = [frame.id for frame in state.stack]
        assert len(ids) == len(set(ids))
        for frame in state.stack:
            steps = assistant.flows[frame.flow_id].steps
            assert frame.step_id == END or frame.step_id in steps


@settings(max_examples=60)
@given(flows=flow_sets, conversation=conversations)
def test_every_user_flow_that_started_ended_or_is_on_the_stack(
    flows: dict[str, Flow],
    conversation: list[tuple[UserMessage, ActionResult | None]],
) -> None:
    open_flows: list[str] = []
    for state, events in hold(assistant_of(flows), conversation):
        for event in events:
            match event:
                case FlowStarted(flow_id=flow_id):
                    open_flows.append(flow_id)
                case FlowCompleted(flow_id=flow_id) | FlowCancelled(flow_id=flow_id):
                    open_flows.remove(flow_id)
                case Restarted():
                    open_flows.clear()
                case _:
                    pass
        on_stack = [frame.flow_id for frame in state.stack if not frame.is_pattern]
        assert sorted(on_stack) == sorted(open_flows)


@settings(max_examples=60)
@given(flows=flow_sets, conversation=conversations, stop=st.integers(0, 60))
def test_turn_cancelled_anywhere_leaves_nothing_behind(
    flows: dict[str, Flow],
    conversation: list[tuple[UserMessage, ActionResult | None]],
    stop: int,
) -> None:
    assistant = assistant_of(flows)
    *earlier, (message, _) = conversation
    state = hold(assistant, earlier)[-1][0] if earlier else initial_state(assistant)
    events = chain.from_iterable(iter(advance(assistant, state, message).run, []))
    state = reduce(apply, islice(events, stop), state)
    waiting = [f.flow_id for f in reversed(state.stack) if not f.is_pattern]
    events = cancel(assistant, state).run()
    state = reduce(apply, events, state)
    assert [e.flow_id for e in events if isinstance(e, FlowCancelled)] == waiting
    assert state.stack == ()
    assert state.is_listening
    assert cancel(assistant, state).run() == []
