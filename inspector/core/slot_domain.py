"""The slots that an assistant project declares, for those who write their values.

Only names, types and values are read; what is wrong with a domain is `a2a-mock check`'s to tell.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.errors import UsageError

if TYPE_CHECKING:
    from ruamel.yaml.nodes import Node

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
        slots |= _read(file, file.stat().st_mtime_ns)
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
def _read(file: Path, _saved_at: int) -> Mapping[str, DomainSlot]:
    """The slots of `file`, which is parsed again only once it was saved."""
    slots = _fields(_compose(file)).get("slots")
    return {name: _slot(_fields(slot)) for name, slot in _fields(slots).items()}


def _compose(file: Path) -> "Node | None":
    """The nodes of `file`: scalars stay the text that they are written as."""
    # the first frame must not wait for a YAML parser (inspector.md TUI-3)
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        return YAML(typ="safe", pure=True).compose(file.read_text(encoding="utf-8"))
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
