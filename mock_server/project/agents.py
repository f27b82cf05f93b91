"""Sub agents: their configuration, and the flows that call them (flows.md §1, §9).

Rasa's pages "Overview" and "External Sub Agent".
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from mock_server.dialogue.model import AGENT_PREFIX, END, AgentTurnStep, Branch, CallStep, Flow
from mock_server.errors import NOWHERE, Location
from mock_server.project.findings import Findings
from mock_server.project.nodes import VARIABLE, MapNode, Node, as_map, as_number, as_text

EXTERNAL = "a2a"
PROTOCOLS = frozenset({"rasa", EXTERNAL})
SECONDS = ("max_polling_time", "polling_initial_delay")
SECRETS = frozenset({"api_key", "token", "client_secret"})


@dataclass(frozen=True, slots=True)
class DeclaredAgent:
    """An agent that runs elsewhere is `is_external`: no condition of a flow ends it."""

    name: str
    description: str
    location: Location
    is_external: bool = False


def read_agents(roots: Mapping[str, Node | None], found: Findings) -> Mapping[str, DeclaredAgent]:
    """The sub agents that the project declares, by name; one that two files have is an error."""
    agents: dict[str, DeclaredAgent] = {}
    for file, root in roots.items():
        node = as_map(root, found, "the config of a sub agent")
        if node is None:
            continue
        agent = as_map(node.entries.get("agent"), found, "agent")
        if agent is None:
            text = "the config of a sub agent has no `agent`"
            mend = "write `agent: {name: …, description: …}`"
            found.fault(Location(file, 1), "agent.no_agent", text, mend)
            continue
        name = as_text(agent.entries.get("name"), found, "name of a sub agent")
        if name is None:
            found.error(agent.location, "agent.no_name", "a sub agent has no `name`")
            continue
        place = agent.place("name")
        if name in agents:
            text = f"sub agent {name!r} is declared twice; first at {agents[name].location}"
            found.error(place, "agent.duplicate", text, "rename one of the two")
            continue
        agents[name] = _declared(name, agent, node, found)
    return agents


def _declared(name: str, agent: MapNode, node: MapNode, found: Findings) -> DeclaredAgent:
    what = f"sub agent {name!r}"
    place = agent.place("name")
    protocol = as_text(agent.entries.get("protocol"), found, f"protocol of {what}") or "rasa"
    if protocol.lower() not in PROTOCOLS:
        text = f"{what} has protocol {protocol!r}, expected RASA or A2A"
        found.fault(agent.place("protocol"), "agent.protocol", text)
    description = as_text(agent.entries.get("description"), found, f"description of {what}") or ""
    if not description.strip():
        text = f"{what} has no `description`, which Rasa requires"
        found.fault(place, "agent.no_description", text, "say in a sentence what it can do")
    is_external = protocol.lower() == EXTERNAL
    settings = as_map(node.entries.get("configuration"), found, f"configuration of {what}")
    settings = settings or MapNode(place, {}, {})
    if is_external and "agent_card" not in settings.entries:
        text = f"{what} has no `agent_card`, which one of protocol A2A requires"
        mend = "name its file or URL in `configuration`"
        found.fault(settings.location, "agent.no_card", text, mend)
    _check_settings(what, settings, found)
    return DeclaredAgent(name, description.strip(), place, is_external)


def _check_settings(what: str, settings: MapNode, found: Findings) -> None:
    if "module" in settings.entries:
        text = f"the module of {what} needs Rasa and is ignored: its script runs"
        found.warn(settings.place("module"), "ignored.agent_module", text)
    for key in SECONDS:
        seconds = as_number(settings.entries.get(key), found, f"{key} of {what}")
        if seconds is not None and not seconds > 0:
            text = f"{key} of {what} is {seconds:g}, expected more than 0"
            found.fault(settings.place(key), "agent.seconds", text)
    auth = as_map(settings.entries.get("auth"), found, f"auth of {what}")
    if auth is not None:
        _check_secrets(what, auth, found)
        oauth = as_map(auth.entries.get("oauth"), found, f"oauth of {what}")
        _check_secrets(what, oauth or MapNode(auth.location, {}, {}), found)


def _check_secrets(what: str, node: MapNode, found: Findings) -> None:
    for key in sorted(SECRETS & node.entries.keys()):
        value = as_text(node.entries[key], found, f"{key} of {what}")
        if value is not None and not VARIABLE.search(value):
            text = f"{key} of {what} is written out, which Rasa refuses"
            mend = f'name a variable: {key}: "${{{key.upper()}}}"'
            found.fault(node.place(key), "agent.plain_secret", text, mend)


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
