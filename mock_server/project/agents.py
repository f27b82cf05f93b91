"""Sub agents: their scripts in mock.yml, and the flows that call them (flows.md §9, §13)."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import pairwise

from mock_server.dialogue.assistant import ToolBranch
from mock_server.dialogue.model import (
    AGENT_PREFIX,
    END,
    AgentTurnStep,
    Branch,
    CallStep,
    Flow,
    Json,
)
from mock_server.errors import NOWHERE, Location
from mock_server.project.agent_config import DeclaredAgent
from mock_server.project.circumstances import read_when
from mock_server.project.findings import Findings, Mention, MentionKind
from mock_server.project.nodes import ListNode, Node
from mock_server.project.reading import as_bool, as_items, as_json, as_map, as_text
from mock_server.project.stubs import refuse_unknown_keys

TURN_KEYS = ("say", "set", "wait", "complete", "fail")
TOOL_KEYS = ("when", "result", "fail")


def read_scripts(node: Node | None, mentions: list[Mention], found: Findings) -> Mapping[str, Flow]:
    """`mock.yml: sub_agents`: each script as a flow that the engine runs, by the agent's name."""
    scripts = as_map(node, found, "sub_agents")
    if scripts is None:
        return {}
    return {
        name: _script(name, value, scripts.place(name), mentions, found)
        for name, value in scripts.entries.items()
    }


def _script(
    name: str, node: Node, place: Location, mentions: list[Mention], found: Findings
) -> Flow:
    items = as_items(node, found, f"the script of sub agent {name!r}")
    steps = [_turn(name, index, item, mentions, found) for index, item in enumerate(items)]
    turns = {step.id: step for step in steps if step is not None}
    return agent_flow(name, turns, place)


def agent_flow(
    name: str, turns: Mapping[str, AgentTurnStep] | None = None, place: Location = NOWHERE
) -> Flow:
    """The flow that plays sub agent `name`, whose turns follow each other."""
    ids = [*(turns or {})]
    following = {**dict(pairwise(ids)), **{id: END for id in ids[-1:]}}
    return Flow(
        id=f"{AGENT_PREFIX}{name}",
        name=name,
        description="",
        steps={
            id: turn if turn.next else replace(turn, next=(Branch(following[id]),))
            for id, turn in (turns or {}).items()
        },
        first_step=ids[0] if ids else END,
        location=place,
    )


def _turn(
    name: str, index: int, item: Node, mentions: list[Mention], found: Findings
) -> AgentTurnStep | None:
    what = f"a turn of sub agent {name!r}"
    node = as_map(item, found, what)
    if node is None:
        return None
    refuse_unknown_keys(node, TURN_KEYS, found, what)
    get = node.entries.get
    waits = as_bool(get("wait"), found, f"`wait` of {what}", default=False)
    completes = as_bool(get("complete"), found, f"`complete` of {what}", default=False)
    fails = as_bool(get("fail"), found, f"`fail` of {what}", default=False)
    if waits + completes + fails > 1:
        text = f"{what} can do one of `wait`, `complete` and `fail`, not several"
        found.error(node.location, "mock.agent_turn", text)
    return AgentTurnStep(
        id=f"turn_{index}",
        next=(Branch(END),) if completes else (),
        say=as_text(get("say"), found, f"`say` of {what}") or "",
        slots=_slots(what, get("set"), mentions, found),
        waits=waits,
        fails=fails,
        location=node.location,
    )


def _slots(
    what: str, node: Node | None, mentions: list[Mention], found: Findings
) -> tuple[tuple[str, Json], ...]:
    entries = as_map(node, found, f"`set` of {what}")
    if entries is None:
        return ()
    for name, value in entries.entries.items():
        place = entries.place(name)
        mentions.append(Mention(MentionKind.SLOT, name, place, what))
        mentions.append(Mention(MentionKind.VALUE, name, place, what, value=as_json(value)))
    return tuple((name, as_json(value)) for name, value in entries.entries.items())


def read_tools(
    node: Node | None, mentions: list[Mention], found: Findings
) -> Mapping[str, tuple[ToolBranch, ...]]:
    """`mock.yml: tools`: what each tool returns, one branch or a list of them."""
    tools = as_map(node, found, "tools")
    if tools is None:
        return {}
    return {
        name: tuple(
            _tool_branch(f"tool {name!r}", item, mentions, found)
            for item in (value.items if isinstance(value, ListNode) else (value,))
        )
        for name, value in tools.entries.items()
    }


def _tool_branch(what: str, item: Node, mentions: list[Mention], found: Findings) -> ToolBranch:
    node = as_map(item, found, what)
    if node is None:
        return ToolBranch()
    refuse_unknown_keys(node, TOOL_KEYS, found, what)
    when = read_when(node, what, mentions, found)
    fails = as_bool(node.entries.get("fail"), found, f"`fail` of {what}", default=False)
    return ToolBranch(when, as_json(node.entries.get("result")), fails)


def with_agents(
    flows: Mapping[str, Flow],
    declared: Mapping[str, DeclaredAgent],
    scripts: Mapping[str, Flow],
    found: Findings,
) -> Mapping[str, Flow]:
    """`flows` whose calls of sub agents lead to the scripts, and the scripts themselves."""
    for name, agent in declared.items():
        if name in flows:
            text = f"sub agent {name!r} has the id of a flow, at {flows[name].location}"
            found.error(agent.location, "agent.flow_id", text, "rename one of the two")
    named = {*declared, *scripts}
    called = {
        step.flow_id
        for flow in flows.values()
        for step in flow.steps.values()
        if isinstance(step, CallStep) and step.flow_id not in flows
    }
    for name in sorted(called & declared.keys() - scripts.keys()):
        text = f"sub agent {name!r} has no script in mock.yml, so it completes without a word"
        mend = f"add `sub_agents: {{{name}: [{{say: …, wait: true}}, {{complete: true}}]}}`"
        found.warn(declared[name].location, "agent.no_script", text, mend)
    _check_exits(flows, declared, found)
    playing = {name: scripts.get(name) or agent_flow(name) for name in named}
    return {
        **{id: _leading_to_agents(flow, named - flows.keys()) for id, flow in flows.items()},
        **{flow.id: flow for flow in playing.values()},
    }


def _check_exits(
    flows: Mapping[str, Flow], declared: Mapping[str, DeclaredAgent], found: Findings
) -> None:
    """`exit_if` ends an agent that runs inside Rasa, and nothing else (flows.md §2.2)."""
    steps = (step for flow in flows.values() for step in flow.steps.values())
    for step in steps:
        if not (isinstance(step, CallStep) and step.exit_if):
            continue
        agent = declared.get(step.flow_id)
        if step.flow_id in flows or (agent is not None and agent.is_external):
            what = "a flow" if agent is None else "an agent of protocol A2A"
            text = f"`exit_if` means nothing here: {step.flow_id!r} is {what}, and ends by itself"
            found.fault(step.location, "agent.exit_if", text, "remove it")


def _leading_to_agents(flow: Flow, names: Iterable[str]) -> Flow:
    agents = frozenset(names)
    steps = {
        id: replace(step, flow_id=f"{AGENT_PREFIX}{step.flow_id}")
        if isinstance(step, CallStep) and step.flow_id in agents
        else step
        for id, step in flow.steps.items()
    }
    return flow if steps == flow.steps else replace(flow, steps=steps)
