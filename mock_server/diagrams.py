"""Flows as charts, and charts as text: Mermaid, and DOT for Graphviz.

A flow's steps are the nodes of its chart, its branches are the arrows.
"""

import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
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
from mock_server.xml_text import xml_text

START = "START"
UTTER_PREFIX = "utter_"


class NodeKind(StrEnum):
    """The kind of a node, which decides how it is drawn."""

    START = "start"
    END = "end"
    COLLECT = "collect"
    UTTER = "utter"
    ACTION = "action"
    SET_SLOTS = "set_slots"
    NOOP = "noop"
    CALL = "call"
    LINK = "link"


MERMAID_ENTITIES = str.maketrans(
    {"#": "#35;", "&": "#amp;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "`": "#96;"}
)

# Graphviz reads HTML's entities in labels, and escapes with a backslash.
DOT_ENTITIES = str.maketrans({"&": "&amp;", '"': "&quot;", "\\": "\\\\"})
DOT_DEFAULTS = """\
  compound=true fontname="Helvetica" fontsize=14 labelloc=t labeljust=l
  node [shape=box style=filled fillcolor="#f4f5f7" color="#8b93a1" fontname="Helvetica" fontsize=11]
  edge [color="#7b8494" fontname="Helvetica" fontsize=10]
"""
JUMP_COLORS = 'fillcolor="#fdeaf0" color="#c05579"'
LABEL_LETTERS = 34
CAPTION_LETTERS = 90


@dataclass(frozen=True, slots=True)
class _Look:
    """How a node is drawn: the word before its text, Mermaid's brackets, Graphviz's attributes."""

    word: str
    brackets: tuple[str, str]
    dot: str


LOOKS: Mapping[NodeKind, _Look] = {
    NodeKind.START: _Look(
        "", ("([", "])"), 'shape=box style="rounded,filled" fillcolor="#1f2430" fontcolor=white'
    ),
    NodeKind.END: _Look("", ("((", "))"), 'shape=doublecircle width=0.2 fillcolor="#1f2430"'),
    NodeKind.COLLECT: _Look("ask", ("[/", "/]"), 'fillcolor="#e3f0ff" color="#3f7fc4"'),
    NodeKind.UTTER: _Look("say", ("(", ")"), 'fillcolor="#e7f6e9" color="#46975a"'),
    NodeKind.ACTION: _Look("do", ("[", "]"), 'fillcolor="#fff2dd" color="#c4862b"'),
    NodeKind.SET_SLOTS: _Look("set", ("[", "]"), 'fillcolor="#f1eafb" color="#8461bd"'),
    NodeKind.NOOP: _Look("", ("{", "}"), "shape=diamond width=0.4 height=0.4"),
    NodeKind.CALL: _Look("call", ("[[", "]]"), f"{JUMP_COLORS} peripheries=2"),
    NodeKind.LINK: _Look("go to", (">", "]"), f"{JUMP_COLORS} peripheries=2"),
}


@dataclass(frozen=True, slots=True)
class Node:
    id: str
    kind: NodeKind
    text: str


@dataclass(frozen=True, slots=True)
class Arrow:
    """`label` is the condition of the branch, empty where there is no choice."""

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
    """The chart of `flow`; END is a node of it if a branch leads there."""
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
    """The arrows from `step`: a linked flow ends this one, and nothing follows it."""
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


def as_mermaid(charts: Sequence[Chart]) -> str:
    """One diagram of all charts, as GitHub, GitLab and most editors draw it."""
    if len(charts) != 1:
        return _frames(charts)
    [chart] = charts
    head = ("---", f"title: {json.dumps(chart.title)}", "---", "flowchart TD")
    return "\n".join((*head, *_mermaid_body(chart, "n"))) + "\n"


def _frames(charts: Sequence[Chart]) -> str:
    """A diagram of several flows, each in a frame, with dotted arrows from flow to flow."""
    names = {chart.title: f"f{number}" for number, chart in enumerate(charts)}
    lines = ["flowchart TD"]
    for chart in charts:
        lines.append(f"  subgraph {names[chart.title]}[{_mermaid_label(chart.title)}]")
        lines += (f"  {line}" for line in _mermaid_body(chart, f"{names[chart.title]}n"))
        lines.append("  end")
    lines += (f"  {source} -.-> {target}" for source, target in _jumps(charts, names))
    return "\n".join(lines) + "\n"


def _jumps(charts: Sequence[Chart], names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The nodes that call or link another of `charts`, each with the name of that one."""
    for chart in charts:
        ids = _node_ids(chart, f"{names[chart.title]}n")
        for node in chart.nodes:
            if node.kind in (NodeKind.CALL, NodeKind.LINK) and node.text in names:
                yield ids[node.id], names[node.text]


def _node_ids(chart: Chart, prefix: str) -> Mapping[str, str]:
    """By the id of a node its id in the text: those of steps may be words of the language."""
    return {node.id: f"{prefix}{number}" for number, node in enumerate(chart.nodes)}


def _mermaid_body(chart: Chart, prefix: str) -> Iterator[str]:
    ids = _node_ids(chart, prefix)
    for node in chart.nodes:
        opening, closing = LOOKS[node.kind].brackets
        yield f"  {ids[node.id]}{opening}{_mermaid_label(words_of(node))}{closing}"
    for arrow in chart.arrows:
        label = f"|{_mermaid_label(arrow.label)}|" if arrow.label else ""
        yield f"  {ids[arrow.source]} -->{label} {ids[arrow.target]}"


def words_of(node: Node) -> str:
    """A node's text with the word for what it does."""
    return " ".join(part for part in (LOOKS[node.kind].word, node.text) if part) or " "


def _mermaid_label(text: str) -> str:
    """A quoted label; Mermaid knows HTML's entities, written with `#`, and tags."""
    lines = xml_text(text).translate(MERMAID_ENTITIES).splitlines()
    return f'"{"<br>".join(lines)}"'


def as_dot(charts: Sequence[Chart]) -> str:
    """One graph of all charts in Graphviz's language, each with its title above it."""
    names = {chart.title: f"f{number}" for number, chart in enumerate(charts)}
    lines = ["digraph flows {", DOT_DEFAULTS.rstrip()]
    for chart in charts:
        caption = textwrap.wrap(chart.caption, CAPTION_LETTERS)
        lines.append(f"  subgraph cluster_{names[chart.title]} {{")
        lines.append(f"    color=none label={_dot_label([chart.title, *caption], end='l')}")
        lines += (f"    {line}" for line in _dot_body(chart, names[chart.title]))
        lines.append("  }")
    for source, target in _jumps(charts, names):
        style = f"lhead=cluster_{target} style=dotted constraint=false"
        lines.append(f"  {source} -> {target}n0 [{style}]")
    return "\n".join((*lines, "}")) + "\n"


def _dot_body(chart: Chart, prefix: str) -> Iterator[str]:
    ids = _node_ids(chart, f"{prefix}n")
    for node in chart.nodes:
        is_bare = node.kind in (NodeKind.END, NodeKind.NOOP)
        label = _dot_label([] if is_bare else _wrapped(words_of(node)))
        yield f"{ids[node.id]} [label={label} {LOOKS[node.kind].dot}]"
    for arrow in chart.arrows:
        label = f" [label={_dot_label(_wrapped(arrow.label))}]" if arrow.label else ""
        yield f"{ids[arrow.source]} -> {ids[arrow.target]}{label}"


def _wrapped(text: str) -> list[str]:
    """The lines of `text`, long ones broken at blanks."""
    return [part for line in text.splitlines() for part in textwrap.wrap(line, LABEL_LETTERS)]


def _dot_label(lines: Sequence[str], end: str = "n") -> str:
    """A quoted label; `end` l aligns its lines on the left, n in the middle."""
    written = "".join(xml_text(line).translate(DOT_ENTITIES) + f"\\{end}" for line in lines)
    return f'"{written}"'
