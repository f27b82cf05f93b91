"""`config.yml`: the few of its keys that matter without a model."""

from collections.abc import Callable
from dataclasses import dataclass

from mock_server.project.findings import Findings
from mock_server.project.nodes import MapNode, Node, as_items, as_map, as_number, as_text, as_texts

POLICIES = frozenset({"FlowPolicy", "EnterpriseSearchPolicy"})


@dataclass(frozen=True, slots=True)
class Config:
    assistant_id: str | None = None
    language: str = "en"
    additional_languages: tuple[str, ...] = ()
    max_characters: int | None = None


def read_config(root: Node | None, found: Findings) -> Config:
    """The assistant's id and language, and how long a message its generator admits."""
    node = as_map(root, found, "config.yml")
    if node is None:
        return Config()
    for key, ignored in (("pipeline", _is_ignored_component), ("policies", _is_ignored_policy)):
        for item in as_items(node.entries.get(key), found, key):
            _warn_ignored(item, key, ignored, found)
    limits = (
        _max_characters(item, found)
        for item in as_items(node.entries.get("pipeline"), found, "pipeline")
    )
    return Config(
        assistant_id=as_text(node.entries.get("assistant_id"), found, "assistant_id"),
        language=as_text(node.entries.get("language"), found, "language") or "en",
        additional_languages=as_texts(
            node.entries.get("additional_languages"), found, "additional_languages"
        ),
        max_characters=next((limit for limit in limits if limit is not None), None),
    )


def _is_ignored_component(name: str) -> bool:
    """Whether a component neither generates commands nor is a class of the project's own."""
    is_own = "." in name
    return not (is_own or name.endswith(("CommandGenerator", "CommandPreProcessor")))


def _is_ignored_policy(name: str) -> bool:
    return "." not in name and name not in POLICIES


def _warn_ignored(item: Node, key: str, is_ignored: Callable[[str], bool], found: Findings) -> None:
    named = item.entries.get("name") if isinstance(item, MapNode) else item
    name = as_text(named, found, f"name of an item of {key}")
    if name is None or not is_ignored(name):
        return
    if name.endswith("Router"):
        text = f"{name} is ignored: there is one system only, so nothing is routed"
        found.warn(item.location, "ignored.coexistence", text)
    else:
        text = f"{name} of the {key} is ignored: the mock runs flows, and no NLU model"
        found.warn(item.location, "ignored.nlu", text)


def _max_characters(component: Node, found: Findings) -> int | None:
    entries = as_map(component, found, "a component of the pipeline")
    user_input = as_map(entries.entries.get("user_input") if entries else None, found, "user_input")
    limit = user_input.entries.get("max_characters") if user_input else None
    number = as_number(limit, found, "max_characters")
    return None if number is None else int(number)
