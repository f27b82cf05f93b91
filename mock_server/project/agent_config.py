"""`sub_agents/<folder>/config.yml`: what Rasa asks of it, and the little that a mock can use.

Rasa's pages "Overview" and "External Sub Agent"; flows.md §1 and §9.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from mock_server.errors import Location
from mock_server.project.findings import Findings
from mock_server.project.nodes import MapNode, Node
from mock_server.project.reading import as_map, as_number, as_text
from mock_server.project.variables import VARIABLE

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
