"""A flow as a chart: its steps as nodes, the ways from step to step as arrows."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import takewhile
from typing import assert_never

from mock_server.dialogue.model import (
    AGENT_PREFIX,
    END,
    ActionStep,
    AgentTurnStep,
    Branch,
    CallStep,
    CollectStep,
    Flow,
    LinkStep,
    NoopStep,
    SetSlotsStep,
    Step,
    ToolStep,
)

START = "START"
UTTER_PREFIX = "utter_"


class NodeKind(StrEnum):
    """What a node stands for; it is drawn by this."""

    START = "start"
    END = "end"
    COLLECT = "collect"
    UTTER = "utter"
    ACTION = "action"
    SET_SLOTS = "set_slots"
    NOOP = "noop"
    CALL = "call"
    LINK = "link"


@dataclass(frozen=True, slots=True)
class Node:
    id: str
    kind: NodeKind
    text: str


@dataclass(frozen=True, slots=True)
class Arrow:
    """`label` is the condition of the way, empty where there is no choice."""

    source: str
    target: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Chart:
    """Nodes in the order of the file, START first; `title` is the flow's id."""

    title: str
    caption: str
    nodes: tuple[Node, ...]
    arrows: tuple[Arrow, ...]


def chart_of(flow: Flow) -> Chart:
    """The chart of `flow`; END is a node of it if a way leads there."""
    steps = tuple(_node(step) for step in flow.steps.values())
    arrows = (
        Arrow(START, flow.first_step, f"if {flow.guard}" if flow.guard else ""),
        *(arrow for step in flow.steps.values() for arrow in _arrows(step)),
    )
    ends = any(arrow.target == END for arrow in arrows)
    nodes = (
        Node(START, NodeKind.START, flow.name),
        *steps,
        *((Node(END, NodeKind.END, "end"),) if ends else ()),
    )
    return Chart(flow.id, " ".join(flow.description.split()), nodes, arrows)


def _node(step: Step) -> Node:
    match step:
        case CollectStep():
            return Node(step.id, NodeKind.COLLECT, step.slot)
        case ActionStep():
            is_utter = step.action.startswith(UTTER_PREFIX)
            return Node(step.id, NodeKind.UTTER if is_utter else NodeKind.ACTION, step.action)
        case SetSlotsStep():
            values = (f"{name} = {json.dumps(value)}" for name, value in step.values)
            return Node(step.id, NodeKind.SET_SLOTS, "\n".join(values))
        case NoopStep():
            return Node(step.id, NodeKind.NOOP, "")
        case CallStep():
            return Node(step.id, NodeKind.CALL, step.flow_id.removeprefix(AGENT_PREFIX))
        case ToolStep():
            return Node(step.id, NodeKind.CALL, f"{step.tool} of {step.server}")
        case AgentTurnStep():
            return Node(step.id, NodeKind.UTTER, step.say)
        case LinkStep():
            return Node(step.id, NodeKind.LINK, step.flow_id)
        case _:
            assert_never(step)


def _arrows(step: Step) -> Iterator[Arrow]:
    """The ways on from `step`: a linked flow ends this one, and nothing follows it."""
    if isinstance(step, LinkStep):
        return
    if isinstance(step, CollectStep):
        for rejection in step.rejections:
            yield Arrow(step.id, step.id, f"rejected if {rejection.condition}")
    yield from _ways(step.id, step.next)


def _ways(source: str, branches: tuple[Branch, ...]) -> Iterator[Arrow]:
    """An arrow for each condition and one for the rest, which ends the flow where none is named."""
    conditional = tuple(takewhile(lambda branch: branch.condition is not None, branches))
    for branch in conditional:
        yield Arrow(source, branch.target, f"if {branch.condition}")
    rest = next((branch.target for branch in branches[len(conditional) :]), END)
    yield Arrow(source, rest, "else" if conditional else "")
