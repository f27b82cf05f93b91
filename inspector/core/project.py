"""A Rasa assistant's project on disk: its sub agents as targets, and the slots of its domain."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
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
    from ruamel.yaml.error import YAMLError

    try:
        return _nodes(config)
    except (YAMLError, UnicodeDecodeError) as error:
        first = str(error).strip().splitlines()[0]
        raise UsageError(f"{config} is not YAML: {first}") from error
    except RecursionError as error:
        raise UsageError(f"{config} is nested too deeply") from error
    except OSError as error:
        raise UsageError(f"{config}: {error.strerror}") from error


def _nodes(file: Path) -> "Node | None":
    """The nodes of `file`: scalars stay the text that they are written as."""
    # the first frame must not wait for a YAML parser (inspector.md TUI-3)
    from ruamel.yaml import YAML

    return YAML(typ="safe", pure=True).compose(file.read_text(encoding="utf-8"))


def _text_at(node: "Node | None", *path: str) -> str | None:
    """The text below the mapping `node` at `path`; None where there is none."""
    from ruamel.yaml.nodes import MappingNode, ScalarNode

    for step in path:
        pairs = node.value if isinstance(node, MappingNode) else []
        found = (value for key, value in pairs if isinstance(key, ScalarNode) and key.value == step)
        node = next(found, None)
    return node.value if isinstance(node, ScalarNode) else None


_PLACES = ("domain.yml", "domain.yaml", "domain")


@dataclass(frozen=True, slots=True)
class DomainSlot:
    """`type` as the domain spells it: text, bool, float, categorical, list or any."""

    type: str
    values: tuple[str, ...] = ()


def read_slot_domain(folder: Path) -> Mapping[str, DomainSlot]:
    """Return the slots of the project in `folder` by their names; later files win.

    Raises:
        UsageError: no domain there, or a file of it that cannot be read as YAML.
    """
    files = _domain_files(folder)
    if not files:
        raise UsageError(f"--project {folder}: no domain.yml and no folder domain in it")
    slots: dict[str, DomainSlot] = {}
    for file in files:
        slots |= _read_domain(file, file.stat().st_mtime_ns)
    return slots


def has_domain(folder: Path) -> bool:
    return bool(_domain_files(folder))


def _domain_files(folder: Path) -> list[Path]:
    return [file for place in _PLACES for file in _files(folder / place)]


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(file for file in path.rglob("*.y*ml") if file.is_file())
    return [path] if path.is_file() else []


@lru_cache(maxsize=64)
def _read_domain(file: Path, _saved_at: int) -> Mapping[str, DomainSlot]:
    """The slots of `file`, which is parsed again only once it was saved."""
    slots = _fields(_compose_domain(file)).get("slots")
    return {name: _slot(_fields(slot)) for name, slot in _fields(slots).items()}


def _compose_domain(file: Path) -> "Node | None":
    from ruamel.yaml.error import YAMLError

    try:
        return _nodes(file)
    except (OSError, UnicodeError, YAMLError, RecursionError) as error:
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise UsageError(f"{file}: {first}") from error


def _slot(fields: "Mapping[str, Node]") -> DomainSlot:
    from ruamel.yaml.nodes import ScalarNode, SequenceNode

    type_node, values = fields.get("type"), fields.get("values")
    found = values.value if isinstance(values, SequenceNode) else []
    return DomainSlot(
        type_node.value if isinstance(type_node, ScalarNode) else "any",
        tuple(value.value for value in found if isinstance(value, ScalarNode)),
    )


def _fields(node: "Node | None") -> "dict[str, Node]":
    from ruamel.yaml.nodes import MappingNode, ScalarNode

    pairs = node.value if isinstance(node, MappingNode) else []
    return {key.value: value for key, value in pairs if isinstance(key, ScalarNode)}
