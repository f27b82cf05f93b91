"""`config.yml`: the few of its keys that matter without a model."""

from dataclasses import dataclass

from mock_server.project.findings import Findings
from mock_server.project.nodes import Node
from mock_server.project.reading import as_items, as_map, as_number, as_text


@dataclass(frozen=True, slots=True)
class Config:
    assistant_id: str | None = None
    language: str = "en"
    max_characters: int | None = None


def read_config(root: Node | None, found: Findings) -> Config:
    """The assistant's id and language, and how long a message its generator admits."""
    node = as_map(root, found, "config.yml")
    if node is None:
        return Config()
    limits = (
        _max_characters(item, found)
        for item in as_items(node.entries.get("pipeline"), found, "pipeline")
    )
    return Config(
        assistant_id=as_text(node.entries.get("assistant_id"), found, "assistant_id"),
        language=as_text(node.entries.get("language"), found, "language") or "en",
        max_characters=next((limit for limit in limits if limit is not None), None),
    )


def _max_characters(component: Node, found: Findings) -> int | None:
    entries = as_map(component, found, "a component of the pipeline")
    user_input = as_map(entries.entries.get("user_input") if entries else None, found, "user_input")
    limit = user_input.entries.get("max_characters") if user_input else None
    number = as_number(limit, found, "max_characters")
    return None if number is None else int(number)
