"""Sub agents: their configuration, and the flows that call them (flows.md §1, §9).

Rasa's pages "Overview" and "External Sub Agent".
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Annotated, ClassVar, TypeAlias

from pydantic import AfterValidator, ConfigDict, ValidationInfo

from mock_server.dialogue.model import AGENT_PREFIX, END, AgentTurnStep, Branch, CallStep, Flow
from mock_server.errors import NOWHERE, Location
from mock_server.project.findings import Findings
from mock_server.project.nodes import VARIABLE, Node
from mock_server.project.validation import FileEntry, Text, Timeout, refusal, validated

EXTERNAL = "a2a"
PROTOCOLS = frozenset({"rasa", EXTERNAL})
FILE = "the config of a sub agent"


def _protocol(text: str) -> str:
    if text.lower() not in PROTOCOLS:
        raise refusal("agent.protocol", f"found {text!r}, expected RASA or A2A")
    return text.lower()


def _variable(text: str, info: ValidationInfo) -> str:
    """Refuse a secret that is written out; the message does not quote it."""
    if not VARIABLE.search(text):
        key = str(info.field_name)
        fix = f'name a variable: {key}: "${{{key.upper()}}}"'
        raise refusal("agent.plain_secret", "this is written out, which Rasa refuses", fix)
    return text


Secret: TypeAlias = Annotated[Text, AfterValidator(_variable)]


class AgentFileEntry(FileEntry):
    """A mapping of a sub agent's config, of which Rasa knows more keys."""

    model_config = ConfigDict(extra="ignore")
    codes: ClassVar[Mapping[str, str]] = {"greater_than": "agent.seconds"}
    fault_codes: ClassVar[frozenset[str]] = frozenset(
        {"agent.no_agent", "agent.plain_secret", "agent.protocol", "agent.seconds"}
    )


class AgentEntry(AgentFileEntry):
    codes: ClassVar[Mapping[str, str]] = {"missing": "agent.no_name"}
    name: Text
    protocol: Annotated[Text, AfterValidator(_protocol)] = "rasa"
    description: Text = ""


class OAuthEntry(AgentFileEntry):
    api_key: Secret | None = None
    token: Secret | None = None
    client_secret: Secret | None = None


class AgentAuthEntry(OAuthEntry):
    oauth: OAuthEntry | None = None


class ConfigurationEntry(AgentFileEntry):
    """Where an external agent is, and how long Rasa waits for it."""

    agent_card: Text | None = None
    module: Text | None = None
    max_polling_time: Timeout | None = None
    polling_initial_delay: Timeout | None = None
    auth: AgentAuthEntry | None = None


class AgentConfig(AgentFileEntry):
    """`sub_agents/<folder>/config.yml`: what Rasa asks of it, and what a mock can use."""

    codes: ClassVar[Mapping[str, str]] = {"missing": "agent.no_agent"}
    fixes: ClassVar[Mapping[str, str]] = {"missing": "write `agent: {name: …, description: …}`"}
    agent: AgentEntry
    configuration: ConfigurationEntry | None = None


@dataclass(frozen=True, slots=True)
class DeclaredAgent:
    """An agent that runs elsewhere is `is_external`: no condition of a flow ends it."""

    name: str
    location: Location
    is_external: bool = False


def read_agents(roots: Iterable[Node | None], found: Findings) -> Mapping[str, DeclaredAgent]:
    """The sub agents that the project declares, by name; one that two files have is an error."""
    agents: dict[str, DeclaredAgent] = {}
    for root in roots:
        config = validated(AgentConfig, root, found, FILE)
        if config is None:
            continue
        agent = _declared(config, found)
        first = agents.setdefault(agent.name, agent)
        if first is not agent:
            text = f"sub agent {agent.name!r} is declared twice; first at {first.location}"
            found.error(agent.location, "agent.duplicate", text, "rename one of the two")
    return agents


def _declared(config: AgentConfig, found: Findings) -> DeclaredAgent:
    agent, settings = config.agent, config.configuration
    what, place = f"sub agent {agent.name!r}", agent.at("name")
    is_external = agent.protocol == EXTERNAL
    if not agent.description.strip():
        text = f"{what} has no `description`, which Rasa requires"
        found.fault(place, "agent.no_description", text, "describe in a sentence what it can do")
    if is_external and (settings is None or settings.agent_card is None):
        text = f"{what} has no `agent_card`, which one of protocol A2A requires"
        fix = "name its file or URL in `configuration`"
        found.fault(settings.node.location if settings else place, "agent.no_card", text, fix)
    if settings is not None and settings.module is not None:
        text = f"the module of {what} needs Rasa and is ignored: its script runs"
        found.warn(settings.at("module"), "ignored.agent_module", text)
    return DeclaredAgent(agent.name, place, is_external)


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
        fix = f"add `sub_agents: {{{name}: [{{say: …, wait: true}}, {{complete: true}}]}}`"
        found.warn(declared[name].location, "agent.no_script", text, fix)
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
