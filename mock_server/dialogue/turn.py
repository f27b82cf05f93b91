"""A running turn: flows that begin, ask and end in it, and scripted sub agents (flows.md §5, §9).

The script of a sub agent is a pattern of its own that a flow calls. It keeps the conversation until
it completes, fails, or its caller's `exit_if` holds; a digression interrupts it like any question.
"""

from collections.abc import Container, Generator, Iterable, Mapping
from dataclasses import replace
from typing import TypeAlias, TypeVar

from mock_server.dialogue.assistant import Assistant, collects_of
from mock_server.dialogue.expressions import Document, evaluate, fill
from mock_server.dialogue.model import (
    AGENT_PREFIX,
    END,
    AgentTurnStep,
    Branch,
    CallStep,
    CollectStep,
    Flow,
    Json,
    Rejection,
    Slot,
    SlotValidation,
    Step,
)
from mock_server.dialogue.outside import ActionResult, Outcome
from mock_server.dialogue.state import (
    ASKING,
    COLLECT_PATTERN,
    VALIDATE_PATTERN,
    ActionExecuted,
    ActionRequested,
    BotUttered,
    DialogueState,
    Event,
    FlowCancelled,
    FlowCompleted,
    FlowInterrupted,
    FlowResumed,
    FlowStarted,
    Frame,
    FrameInserted,
    FrameMoved,
    FramePushed,
    FrameRemoved,
    FrameType,
    Listened,
    SessionStarted,
    SlotSet,
    SlotSource,
    Stack,
    Warned,
    active_frame,
    active_group,
    apply,
    asked_slot,
    context_of,
    group_of,
    index_of,
    is_root,
    roots,
    texts_in,
)
from mock_server.errors import ConditionError, SlowCondition, TemplateFailed

Result = TypeVar("Result")

Requesting: TypeAlias = Generator[None, Outcome | None, Result]
"""Stops after each request (`state.Request`), to go on with its outcome."""

DEFAULT_ERROR = "rasa_internal_error_default"
ERROR_PATTERN = "pattern_internal_error"


class RunningTurn:
    """The assistant, the state as this turn has made it, and the events since the last request."""

    __slots__ = ("_described", "_document", "assistant", "events", "state")

    def __init__(self, assistant: Assistant, state: DialogueState) -> None:
        self.assistant = assistant
        self.state = state
        self.events: list[Event] = []
        self._described: DialogueState | None = None
        self._document: Document = {}

    def emit(self, event: Event) -> None:
        """Let `event` happen: from here on the state is the one that it makes."""
        self.state = apply(self.state, event)
        self.events.append(event)

    @property
    def stack(self) -> Stack:
        return self.state.stack

    @property
    def top(self) -> Frame:
        return self.state.stack[-1]

    def step_of(self, frame: Frame) -> Step | None:
        """The step that `frame` stands at; None at END."""
        return self.assistant.flows[frame.flow_id].steps.get(frame.step_id)

    def is_stale(self, frame: Frame) -> bool:
        """Whether the assistant no longer has what `frame` stands at."""
        flow = self.assistant.flows.get(frame.flow_id)
        if flow is None or not (frame.step_id == END or frame.step_id in flow.steps):
            return True
        slot = asked_slot((frame,))
        return slot is not None and slot not in self.assistant.slots

    def document(self) -> Document:
        """The state as conditions and templates see it."""
        if self._described is not self.state:
            self._described = self.state
            self._document = {"slots": self.state.slots, "context": context_of(self.state.stack)}
        return self._document

    def push(
        self,
        flow_id: str,
        frame_type: FrameType = FrameType.REGULAR,
        context: dict[str, Json] | None = None,
        index: int | None = None,
    ) -> None:
        """Put a new frame of `flow_id` on the stack, or at `index` of it."""
        frame = Frame(
            id=str(self.state.frames_made + 1),
            flow_id=flow_id,
            step_id=self.assistant.flows[flow_id].first_step,
            type=frame_type,
            context=context or {},
        )
        if index is None or index == len(self.stack):
            self.emit(FramePushed(frame))
        else:
            self.emit(FrameInserted(frame, index))

    def holds(self, condition: str) -> bool:
        """Whether `condition` holds now; one that cannot be evaluated does not, with a warning."""
        try:
            return evaluate(condition, self.document())
        except SlowCondition as error:
            step = self.step_of(self.top) if self.stack else None
            self.emit(Warned(f"{step.location}: {error}" if step else str(error)))
            return False
        except (ConditionError, TemplateFailed) as error:
            self.emit(Warned(str(error)))
            return False


def perform(turn: RunningTurn, action: str) -> Requesting[ActionResult]:
    """The result of custom action `action`; None that is sent in is one without effect."""
    turn.emit(ActionRequested(action))
    sent = yield
    outcome = sent if isinstance(sent, ActionResult) else ActionResult()
    for text in outcome.warnings:
        turn.emit(Warned(text))
    return outcome


def begin_session(turn: RunningTurn) -> None:
    """`action_session_start`; slots are as at first where they are not to be carried over."""
    turn.emit(SessionStarted())
    if not turn.assistant.carries_slots:
        reset_slots(turn, sorted(turn.assistant.slots))


def next_step(turn: RunningTurn, branches: Iterable[Branch]) -> str:
    """The first branch's target whose condition holds; the flow ends where none does."""
    for branch in branches:
        if branch.condition is None or turn.holds(branch.condition):
            return branch.target
    return END


def go_on(turn: RunningTurn, frame: Frame, branches: Iterable[Branch]) -> None:
    """Move `frame`, the topmost, past its step."""
    target = next_step(turn, branches)
    if target == END:
        finish(turn, frame)
    else:
        turn.emit(FrameMoved(frame.id, target))


def start(turn: RunningTurn, flow_id: str, frame_type: FrameType = FrameType.REGULAR) -> None:
    turn.push(flow_id, frame_type)
    if not turn.assistant.flows[flow_id].is_pattern:
        turn.emit(FlowStarted(flow_id))


def finish(turn: RunningTurn, frame: Frame) -> None:
    """End the topmost frame at its step, and let the dialogue go on below it."""
    ended: Frame | None = frame
    while ended:  # a caller may be over as soon as its child is: no recursion, calls may be deep
        ended = _end(turn, ended)


def _end(turn: RunningTurn, frame: Frame) -> Frame | None:
    """End `frame`; return the one below it if that has nothing left to do either."""
    flow = turn.assistant.flows[frame.flow_id]
    leave(turn, frame)
    if flow.id == COLLECT_PATTERN or frame.type is FrameType.CALL:
        return _return_below(turn)
    if not frame.is_pattern or frame.type is not FrameType.REGULAR:
        _follow(turn, frame, flow)
    return None


def _return_below(turn: RunningTurn) -> Frame | None:
    """Move the frame that asked or called past its step; return it if that was its last one."""
    step = turn.step_of(turn.top) if turn.stack else None
    match step:
        case CallStep():
            pass
        case CollectStep() if turn.state.slots[step.slot] is not None:
            pass
        case _:
            return None
    frame = turn.top
    target = next_step(turn, step.next)
    if target == END:
        return frame
    turn.emit(FrameMoved(frame.id, target))
    return None


def leave(turn: RunningTurn, frame: Frame) -> None:
    """End `frame` whatever follows it; a called flow's slots stay."""
    flow = turn.assistant.flows[frame.flow_id]
    is_child = frame.type is FrameType.CALL
    if not frame.is_pattern:
        turn.emit(_completed(turn, frame, flow, is_child))
    turn.emit(FrameRemoved(frame.id))
    if not is_child:
        reset_slots(turn, turn.assistant.index.resets[flow.id])


def _completed(turn: RunningTurn, frame: Frame, flow: Flow, is_child: bool) -> FlowCompleted:
    slots = turn.state.slots
    names = flow.persisted_slots
    persisted = {name: slots[name] for name in names if slots[name] is not None} if names else {}
    return FlowCompleted(flow.id, frame.step_id, is_child, persisted)


def _follow(turn: RunningTurn, ended: Frame, flow: Flow) -> None:
    """Go on after a flow: with the flow it interrupted, or by asking what else is wanted."""
    if ended.type is FrameType.INTERRUPT and roots(turn.stack):
        ask_to_continue(turn, len(turn.stack))
    elif not turn.stack and flow.run_pattern_completed:
        context: dict[str, Json] = {"previous_flow_name": flow.name}
        turn.push("pattern_completed", context=context)


def ask_to_continue(turn: RunningTurn, index: int) -> None:
    """Put `pattern_continue_interrupted` at `index` of the stack, about the flows that wait."""
    waiting = [turn.assistant.flows[frame.flow_id] for frame in reversed(roots(turn.stack))]
    context: dict[str, Json] = {
        "previous_flow_name": waiting[0].name,
        "interrupted_flow_names": [flow.name for flow in waiting],
        "interrupted_flow_ids": [flow.id for flow in waiting],
        "interrupted_flow_options": ", ".join(flow.name for flow in waiting),
        "multiple_flows_interrupted": len(waiting) > 1,
    }
    turn.push("pattern_continue_interrupted", context=context, index=index)


def reset_slots(turn: RunningTurn, names: Iterable[str]) -> None:
    """Give slots their initial values again, in the order of `names`."""
    for name in names:
        initial = turn.assistant.slots[name].initial_value
        if turn.state.slots[name] != initial:
            turn.emit(SlotSet(name, initial, SlotSource.RESET))


def cancel_frames(turn: RunningTurn, frames: Stack, kept_slots: Container[str] = ()) -> None:
    """Cancel the user flows of `frames`, reset their slots but the kept, remove the frames."""
    users = [frame for frame in reversed(frames) if not frame.is_pattern]
    for frame in users:
        turn.emit(FlowCancelled(frame.flow_id, frame.step_id))
    for frame in reversed(frames):
        turn.emit(FrameRemoved(frame.id))
    resets = {name for frame in frames for name in turn.assistant.index.resets[frame.flow_id]}
    reset_slots(turn, sorted(name for name in resets if name not in kept_slots))


def interrupt(turn: RunningTurn) -> None:
    """Record that the active user flow, if any, has to wait."""
    frame = active_frame(turn.stack)
    if frame:
        turn.emit(FlowInterrupted(frame.flow_id, frame.step_id))


def resume(
    turn: RunningTurn,
    root: Frame,
    running: str = "",
    frame_type: FrameType = FrameType.INTERRUPT,
) -> None:
    """Bring the group of `root` to the top of the stack, but below frame `running`.

    Above others it goes on as `frame_type`: after an interruption the user is asked to continue.
    """
    group = tuple(frame for frame in group_of(turn.stack, root) if frame.id != running)
    bottom = index_of(turn.stack, root.id)
    above = [f for f in turn.stack[bottom + len(group) :] if f.id != running]
    for index, frame in enumerate(above, bottom):
        turn.emit(FrameRemoved(frame.id))
        turn.emit(FrameInserted(frame, index))
    if len(roots(turn.stack)) > 1:
        turn.emit(FrameRemoved(root.id))
        turn.emit(FrameInserted(replace(root, type=frame_type), bottom + len(above)))
    resumed = active_frame(group) or root
    turn.emit(FlowResumed(resumed.flow_id, resumed.step_id))


def fail(turn: RunningTurn, info: dict[str, Json], error_type: str = DEFAULT_ERROR) -> None:
    """Cancel what runs on top and begin `pattern_internal_error`.

    A failure inside that pattern ends it; another one would fail the same way.
    """
    owner = _owner_of_top(turn.stack)
    doomed = turn.stack[index_of(turn.stack, owner.id) :]
    if not owner.is_pattern:
        doomed = group_of(turn.stack, owner)
    cancel_frames(turn, doomed)
    if doomed[0].type is FrameType.INTERRUPT and is_root(doomed[0]) and roots(turn.stack):
        ask_to_continue(turn, len(turn.stack))
    if owner.flow_id == ERROR_PATTERN:
        turn.emit(Warned(f"{ERROR_PATTERN} failed itself: {info}"))
    else:
        context: dict[str, Json] = {"error_type": error_type, "info": info}
        turn.push(ERROR_PATTERN, context=context)


def _owner_of_top(stack: Stack) -> Frame:
    """The frame that the topmost one works for: the flow that asks, or itself."""
    for frame in reversed(stack):
        if frame.flow_id not in ASKING and not frame.flow_id.startswith(AGENT_PREFIX):
            return frame
    return stack[0]


def collect(turn: RunningTurn, step: CollectStep) -> None:
    """Arrive at collect step `step` of the topmost frame (flows.md §5, Executor).

    A value that came early goes through the step's rejections and validation like an answer.
    """
    slot = turn.assistant.slots[step.slot]
    value = turn.state.slots[step.slot]
    is_checked = step.rejections or f"validate_{step.slot}" in turn.assistant.actions
    has_prompt = any(_prompts(turn.assistant, step))
    if step.ask_before_filling and value is not None:
        turn.emit(SlotSet(step.slot, None, SlotSource.RESET))
        value = None
    elif value is None and slot.initial_value is not None and not has_prompt:
        value = slot.initial_value
        turn.emit(SlotSet(step.slot, value, SlotSource.INITIAL))
    if value is not None and not is_checked:
        go_on(turn, turn.top, step.next)
    elif value is None and not has_prompt:
        fail(turn, {"slot": step.slot, "flow": turn.top.flow_id})
    else:
        ask(turn, step)


def ask(turn: RunningTurn, step: CollectStep, index: int | None = None) -> None:
    """Push the question of `step`, or put it at `index` of the stack."""
    response, action = _prompts(turn.assistant, step)
    context: dict[str, Json] = {
        "collect": step.slot,
        "utter": response,
        "collect_action": action,
        "rejections": _as_json(step.rejections),
    }
    turn.push(COLLECT_PATTERN, context=context, index=index)


def validate(turn: RunningTurn, slot: Slot, validation: SlotValidation) -> None:
    """Push the check of a value that `slot` was just given."""
    refill = validation.refill_utter or f"utter_ask_{slot.name}"
    responses, actions = turn.assistant.responses, turn.assistant.actions
    context: dict[str, Json] = {
        "validate": slot.name,
        "refill_utter": _if_known(refill, responses),
        "refill_action": _if_known(f"action_ask_{slot.name}", actions),
        "rejections": _as_json(validation.rejections),
    }
    turn.push(VALIDATE_PATTERN, context=context)


def _prompts(assistant: Assistant, step: CollectStep) -> tuple[str | None, str | None]:
    """The response and the custom action that ask for the slot of `step`, if there are."""
    response = _if_known(step.utter or f"utter_ask_{step.slot}", assistant.responses)
    return response, _if_known(f"action_ask_{step.slot}", assistant.actions)


def _if_known(name: str, names: Container[str]) -> str | None:
    return name if name in names else None


def _as_json(rejections: Iterable[Rejection]) -> list[Json]:
    return [{"if": rejection.condition, "utter": rejection.utter} for rejection in rejections]


def push_correction(turn: RunningTurn, corrected: Mapping[str, Json]) -> None:
    target = _reset_target(turn, frozenset(corrected))
    context: dict[str, Json] = {
        "is_reset_only": all(value is None for value in corrected.values()),
        "corrected_slots": dict(corrected),
        "new_slot_values": list(corrected.values()),
        "reset_flow_id": target[0].flow_id if target else None,
        "reset_step_id": target[1] if target else None,
    }
    turn.push("pattern_correction", context=context)


def _reset_target(turn: RunningTurn, corrected: frozenset[str]) -> tuple[Frame, str] | None:
    """The frame to take back, and to which step; None if all corrected slots lie ahead.

    The callers are asked first: a caller's earlier answer weighs more than a child's.
    """
    flows = turn.assistant.flows
    for frame in active_group(turn.stack):
        if frame.is_pattern:
            continue
        flow = flows[frame.flow_id]
        order = list(flow.steps)
        here = order.index(frame.step_id) if frame.step_id in flow.steps else len(order)
        named = [id_ for id_, collect in collects_of(flow, flows) if collect.slot in corrected]
        earlier = [id_ for id_ in named if order.index(id_) < here]
        if earlier:
            return frame, min(earlier, key=order.index)
    return None


def correct_flow_slot(turn: RunningTurn) -> None:
    """`action_correct_flow_slot`: write the new values, take the flow back to the first of them."""
    running = turn.top
    corrected = running.context.get("corrected_slots")
    if not isinstance(corrected, dict):
        turn.emit(Warned(f"{running.flow_id!r} has nothing to correct"))
        return
    for name, value in corrected.items():
        if name in turn.assistant.slots:  # a reload may have come since the correction
            turn.emit(SlotSet(name, value, SlotSource.USER))
    for frame in active_group(turn.stack):
        step = turn.assistant.flows[frame.flow_id].steps.get(str(running.context["reset_step_id"]))
        if step and frame.flow_id == running.context["reset_flow_id"]:
            _take_back(turn, frame, step, running)
            return


def _take_back(turn: RunningTurn, frame: Frame, step: Step, running: Frame) -> None:
    """Move `frame` back to its `step`, without the questions and children above it."""
    above = turn.stack[index_of(turn.stack, frame.id) + 1 : index_of(turn.stack, running.id)]
    for other in reversed(above):
        if not other.is_pattern:
            turn.emit(FlowCancelled(other.flow_id, other.step_id))
        if other.flow_id == COLLECT_PATTERN or other.type is FrameType.CALL or not other.is_pattern:
            turn.emit(FrameRemoved(other.id))
    turn.emit(FrameMoved(frame.id, step.id))
    # The new value is the answer to this step's question, even one asked before filling.
    if isinstance(step, CollectStep):
        ask(turn, step, index_of(turn.stack, frame.id) + 1)


WAITING = "waiting_for_input"
RUNNING = "running"
REQUEST_INPUT = "action_agent_request_user_input"


def waiting_agent(stack: Stack) -> Frame | None:
    """The sub agent that the user's next words are for."""
    is_waiting = bool(stack) and stack[-1].context.get("agent_state") == WAITING
    return stack[-1] if is_waiting else None


def call_agent(turn: RunningTurn, step: CallStep) -> None:
    """Begin the script; slots that decide its end are cleared, also when it ran before."""
    for name in step.exit_slots:
        if turn.state.slots[name] is not None:
            turn.emit(SlotSet(name, None, SlotSource.RESET))
    context: dict[str, Json] = {
        "agent": turn.assistant.flows[step.flow_id].name,
        "agent_state": RUNNING,
        "exit_if": [*step.exit_if],
    }
    turn.push(step.flow_id, FrameType.CALL, context)


def continue_agent(turn: RunningTurn) -> None:
    """Hand the user's words to the agent on top, which waits for them."""
    frame, step = turn.top, turn.step_of(turn.top)
    assert isinstance(step, AgentTurnStep)
    target = next_step(turn, step.next)
    turn.emit(FrameMoved(frame.id, target, {**frame.context, "agent_state": RUNNING}))


def agent_call(assistant: Assistant, stack: Stack, agent: str) -> tuple[Frame, str] | None:
    """The frame of the running flow, and the step of it that calls `agent`."""
    frame = active_frame(stack)
    flow = assistant.flows[frame.flow_id] if frame else None
    for step in flow.steps.values() if flow else ():
        if isinstance(step, CallStep) and step.flow_id == f"{AGENT_PREFIX}{agent}" and frame:
            return frame, step.id
    return None


def restart_agent(turn: RunningTurn, agent: str) -> None:
    """Take the running flow back to where it calls `agent`."""
    called = agent_call(turn.assistant, turn.stack, agent)
    assert called
    frame, step_id = called
    for above in reversed(turn.stack[index_of(turn.stack, frame.id) + 1 :]):
        turn.emit(FrameRemoved(above.id))
    turn.emit(FrameMoved(frame.id, step_id))


def take_turn(turn: RunningTurn, frame: Frame, step: AgentTurnStep) -> None:
    """Say and do what the script has next; if it still waits, what interrupted it is over."""
    if step.say:
        turn.emit(BotUttered(fill(step.say, turn.document(), {})))
    if frame.context.get("agent_state") == WAITING:
        turn.emit(ActionExecuted(REQUEST_INPUT))
        turn.emit(Listened())
        return
    for name, value in step.slots:
        turn.emit(SlotSet(name, value, SlotSource.ACTION))
    conditions = texts_in(frame.context, "exit_if")  # without any, the script alone decides
    if step.fails:
        turn.emit(Warned(f"sub agent {frame.context.get('agent')!r} fails, as its script says"))
        fail(turn, {"agent": frame.context.get("agent")})
    elif conditions and all(map(turn.holds, conditions)):
        finish(turn, turn.top)
    elif step.waits:
        turn.emit(FrameMoved(frame.id, step.id, {**frame.context, "agent_state": WAITING}))
        turn.emit(ActionExecuted(REQUEST_INPUT))
        turn.emit(Listened())
    else:
        go_on(turn, turn.top, step.next)
