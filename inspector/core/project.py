"""A Rasa assistant's project on disk: its sub agents as targets, and the slots of its domain."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.errors import UsageError
from inspector.folders import typed_path
from inspector.wire.json_values import Json, list_at, object_at, text_at

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
    path = typed_path(str(path)).absolute()
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
        root = _read_yaml(config)
    except UsageError as error:
        return SubAgent(config.parent.name, config, problem=error.text)
    name = text_at(root, "agent", "name") or config.parent.name
    protocol = text_at(root, "agent", "protocol") or "RASA"
    if protocol.upper() != A2A:
        return SubAgent(name, config, problem=f"its protocol is {protocol!r}, not {A2A}")
    card = text_at(root, "configuration", "agent_card")
    if not card:
        return SubAgent(name, config, problem=f"{config} names no configuration.agent_card")
    if "://" in card:
        return SubAgent(name, config, card)
    file = _root(config) / card
    if not os.path.isfile(file):
        return SubAgent(name, config, problem=f"its card {file} is not there")
    return SubAgent(name, config, str(file))


def _root(config: Path) -> Path:
    """The project that the config belongs to."""
    folder = config.parent
    return folder.parent.parent if folder.parent.name == FOLDER else folder


def _read_yaml(file: Path) -> Json:
    """What `file` holds; scalars stay the text that they are written as.

    Raises:
        UsageError: it cannot be read, or is not YAML.
    """
    # the first frame must not wait for a YAML parser (inspector.md TUI-3)
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        return _plain(YAML(typ="safe", pure=True).compose(file.read_text(encoding="utf-8")))
    except (YAMLError, UnicodeDecodeError) as error:
        first = str(error).strip().splitlines()[0]
        raise UsageError(f"{file} is not YAML: {first}") from error
    except RecursionError as error:
        raise UsageError(f"{file} is nested too deeply") from error
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from error


def _plain(node: "Node | None") -> Json:
    """`node` as JSON has it, without keys that are not text."""
    from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

    match node:
        case ScalarNode():
            return node.value
        case SequenceNode():
            return [_plain(one) for one in node.value]
        case MappingNode():
            pairs = ((key, one) for key, one in node.value if isinstance(key, ScalarNode))
            return {key.value: _plain(one) for key, one in pairs}
        case _:
            return None


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
    slots = object_at(_read_yaml(file), "slots")
    return {
        name: DomainSlot(
            text_at(slot, "type") or "any",
            tuple(value for value in list_at(slot, "values") if isinstance(value, str)),
        )
        for name, slot in slots.items()
    }
