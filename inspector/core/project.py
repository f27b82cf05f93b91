"""A Rasa assistant's files on disk: YAML with its lines, and the slots of the domain."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.errors import UsageError
from inspector.wire.json_values import Json, list_at, object_at, text_at

if TYPE_CHECKING:
    from ruamel.yaml.nodes import Node


def compose(file: Path) -> "Node | None":
    """The root of what `file` holds; None where it is empty.

    Raises:
        UsageError: it cannot be read, or is not YAML.
    """
    # the first frame must not wait for a YAML parser (inspector.md TUI-3)
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        return YAML(typ="safe", pure=True).compose(file.read_text(encoding="utf-8"))
    except MarkedYAMLError as error:
        mark = error.problem_mark
        line = f":{mark.line + 1}" if mark else ""
        raise UsageError(f"{shown(file)}{line} is not YAML: {error.problem}") from error
    except (YAMLError, UnicodeDecodeError) as error:
        first = str(error).strip().splitlines()[0]
        raise UsageError(f"{shown(file)} is not YAML: {first}") from error
    except RecursionError as error:
        raise UsageError(f"{shown(file)} is nested too deeply") from error
    except OSError as error:
        raise UsageError(f"{shown(file)}: {error.strerror}") from error


def shown(file: Path) -> str:
    """`file` as it is named from the current folder, where it is in that; else as it is."""
    relative = os.path.relpath(file)
    return str(file) if relative.startswith(os.pardir) else relative


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
    return [file for place in _PLACES for file in yaml_files(folder / place)]


def yaml_files(path: Path) -> list[Path]:
    """The file `path`, or the YAML files in the folder."""
    if path.is_dir():
        return sorted(file for file in path.rglob("*.y*ml") if file.is_file())
    return [path] if path.is_file() else []


@lru_cache(maxsize=64)
def _read_domain(file: Path, _saved_at: int) -> Mapping[str, DomainSlot]:
    """The slots of `file`, which is parsed again only once it was saved."""
    slots = object_at(_plain(compose(file)), "slots")
    return {
        name: DomainSlot(
            text_at(slot, "type") or "any",
            tuple(value for value in list_at(slot, "values") if isinstance(value, str)),
        )
        for name, slot in slots.items()
    }
