"""The sub agents of a Rasa assistant's project, as targets: `sub_agents/<name>/config.yml`.

Only what leads to a card is read: `agent.protocol` and `configuration.agent_card`, a URL or a path
from the project's root (inspector.md CONN-1, ORCH-1).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.errors import UsageError

if TYPE_CHECKING:
    from ruamel.yaml.nodes import Node

FOLDER = "sub_agents"
CONFIG = "config.yml"
A2A = "A2A"


@dataclass(frozen=True, slots=True)
class SubAgent:
    """`card` is a URL or a file; `problem` says why there is none."""

    name: str
    config: Path
    card: str = ""
    problem: str = ""


def is_project(path: Path) -> bool:
    """Say whether `path` is a folder or a `config.yml`, whatever is in it."""
    return path.is_dir() or path.name == CONFIG


def find_sub_agents(path: Path) -> tuple[SubAgent, ...]:
    """The sub agents of a project, or the one of a `sub_agents/<name>/` folder or its config.

    Raises:
        UsageError: there is none.
    """
    path = path.expanduser().absolute()
    if path.name == CONFIG:
        return (_read(path),)
    if (path / CONFIG).is_file() and path.parent.name == FOLDER:
        return (_read(path / CONFIG),)
    configs = sorted(path.glob(f"{FOLDER}/*/{CONFIG}"))
    if not configs:
        raise UsageError(
            f"{path}: no {FOLDER}/*/{CONFIG} here",
            "name the folder of a Rasa assistant that has sub agents, or an agent's URL",
        )
    return tuple(_read(config) for config in configs)


def card_of_project(path: Path) -> str:
    """The card's URL or file of the one sub agent that is reached over A2A.

    Raises:
        UsageError: there is none, or it takes a choice.
    """
    agents = find_sub_agents(path)
    usable = [agent for agent in agents if agent.card]
    if len(usable) == 1:
        return usable[0].card
    if not usable:
        problems = "".join(f"\n  {agent.name}: {agent.problem}" for agent in agents)
        raise UsageError(f"{path}: no sub agent that can be reached over A2A{problems}")
    names = ", ".join(f"{path / FOLDER / agent.name}" for agent in usable)
    raise UsageError(f"{path} has {len(usable)} sub agents", f"name one of them: {names}")


def _read(config: Path) -> SubAgent:
    try:
        root = _compose(config)
    except UsageError as error:
        return SubAgent(config.parent.name, config, problem=error.text)
    name = _text_at(root, "agent", "name") or config.parent.name
    protocol = _text_at(root, "agent", "protocol") or "RASA"
    if protocol.upper() != A2A:
        return SubAgent(name, config, problem=f"its protocol is {protocol!r}, not {A2A}")
    card = _text_at(root, "configuration", "agent_card")
    if not card:
        return SubAgent(name, config, problem=f"{config} names no configuration.agent_card")
    if "://" in card:
        return SubAgent(name, config, card)
    file = _root(config) / card
    if not file.is_file():
        return SubAgent(name, config, problem=f"its card {file} is not there")
    return SubAgent(name, config, str(file))


def _root(config: Path) -> Path:
    """The project that the config belongs to."""
    folder = config.parent
    return folder.parent.parent if folder.parent.name == FOLDER else folder


def _compose(config: Path) -> "Node | None":
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        return YAML(typ="safe", pure=True).compose(config.read_text(encoding="utf-8"))
    except (YAMLError, UnicodeDecodeError) as error:
        first = str(error).strip().splitlines()[0]
        raise UsageError(f"{config} is not YAML: {first}") from error
    except RecursionError as error:
        raise UsageError(f"{config} is nested too deeply") from error
    except OSError as error:
        raise UsageError(f"{config}: {error.strerror}") from error


def _text_at(node: "Node | None", *path: str) -> str | None:
    """The text below the mapping `node` at `path`; None where there is none."""
    from ruamel.yaml.nodes import MappingNode, ScalarNode

    for step in path:
        pairs = node.value if isinstance(node, MappingNode) else []
        found = (value for key, value in pairs if isinstance(key, ScalarNode) and key.value == step)
        node = next(found, None)
    return node.value if isinstance(node, ScalarNode) else None
