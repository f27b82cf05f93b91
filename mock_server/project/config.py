"""`config.yml`: the few of its keys that matter without a model."""

from collections.abc import Callable
from dataclasses import dataclass

from mock_server.project.findings import Findings
from mock_server.project.nodes import MapNode, Node, as_text, fields_of

POLICIES = frozenset({"FlowPolicy", "EnterpriseSearchPolicy"})


@dataclass(frozen=True, slots=True)
class Config:
    assistant_id: str | None = None
    language: str = "en"
    additional_languages: tuple[str, ...] = ()
    max_characters: int | None = None


def read_config(root: Node | None, found: Findings) -> Config:
    """The assistant's id and language, and how long a message its generator admits."""
    file = fields_of(root, found, "config.yml")
    if file is None:
        return Config()
    for key, ignored in (("pipeline", _is_ignored_component), ("policies", _is_ignored_policy)):
        for item in file.items(key):
            _warn_ignored(item, key, ignored, found)
    limits = (
        component.below("user_input", "user_input").number("max_characters")
        for component in file.each("pipeline", "a component of the pipeline")
    )
    limit = next((limit for limit in limits if limit is not None), None)
    return Config(
        assistant_id=file.text("assistant_id"),
        language=file.text("language") or "en",
        additional_languages=file.texts("additional_languages"),
        max_characters=None if limit is None else int(limit),
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
