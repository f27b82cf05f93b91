"""`mock.yml`: what a deployment gets from a model and an action server (flows.md §13)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

from mock_server.dialogue.action_server import ActionServer
from mock_server.dialogue.assistant import RejectedScope, ToolBranch, UnderstandRule
from mock_server.dialogue.language_model import LanguageModel
from mock_server.dialogue.model import Flow
from mock_server.dialogue.stubs import Stubs, UnstubbedActions
from mock_server.faults.fault import Fault
from mock_server.project.action_server import read_choice
from mock_server.project.agents import read_scripts, read_tools
from mock_server.project.builtin import PROFILES
from mock_server.project.faults import read_faults
from mock_server.project.findings import Findings, Mention
from mock_server.project.language_model import read_language_model
from mock_server.project.nodes import ListNode, MapNode, Node, ScalarNode
from mock_server.project.reading import as_map, as_text
from mock_server.project.stubs import read_stubs, refuse_unknown_keys
from mock_server.project.understanding import read_rules
from mock_server.project.variables import expand

KEYS = (
    "patterns_profile", "understand", "actions", "unstubbed_actions", "rejected_scope", "model",
    "faults", "action_server", "sub_agents", "tools", "llm",
)  # fmt: skip
LATER_KEYS = ("agents",)
MODEL_KEYS = ("file", "id")

Choice = TypeVar("Choice", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class MockFile:
    """`model_file` and `model_id` are what `/status` and the card show of a loaded model."""

    patterns_profile: str = PROFILES[-1]
    understand: tuple[UnderstandRule, ...] = ()
    stubs: Stubs = field(default_factory=Stubs)
    rejected_scope: RejectedScope = RejectedScope.ONLY_WITHOUT_USER_FLOW
    model_file: str | None = None
    model_id: str | None = None
    faults: tuple[Fault, ...] = ()
    action_server: ActionServer | None = None
    language_model: LanguageModel | None = None
    scripts: Mapping[str, Flow] = field(default_factory=dict[str, Flow])
    tools: Mapping[str, tuple[ToolBranch, ...]] = field(
        default_factory=dict[str, tuple[ToolBranch, ...]]
    )
    mentions: tuple[Mention, ...] = ()


def read_mock_file(root: Node | None, environment: Mapping[str, str], found: Findings) -> MockFile:
    """All that `mock.yml` says; the defaults for what it leaves out."""
    node = as_map(root, found, "mock.yml")
    if node is None:
        return MockFile()
    _refuse_keys(node, found)
    mentions: list[Mention] = []
    get = node.entries.get
    unstubbed = _choice(get("unstubbed_actions"), UnstubbedActions.NOOP, "unstubbed_actions", found)
    scope = RejectedScope.ONLY_WITHOUT_USER_FLOW
    model = _model(get("model"), environment, found)
    return MockFile(
        patterns_profile=_profile(get("patterns_profile"), found),
        understand=read_rules(get("understand"), mentions, found),
        stubs=Stubs(read_stubs(get("actions"), mentions, found), unstubbed),
        rejected_scope=_choice(get("rejected_scope"), scope, "rejected_scope", found),
        model_file=model.get("file"),
        model_id=model.get("id"),
        faults=read_faults(get("faults"), found),
        action_server=read_choice(get("action_server"), environment, found),
        language_model=read_language_model(get("llm"), environment, found),
        scripts=read_scripts(get("sub_agents"), mentions, found),
        tools=read_tools(get("tools"), mentions, found),
        mentions=tuple(mentions),
    )


def _refuse_keys(node: MapNode, found: Findings) -> None:
    refuse_unknown_keys(node, (*KEYS, *LATER_KEYS), found, "mock.yml")
    for key in LATER_KEYS:
        value = node.entries.get(key)
        is_default = (isinstance(value, ScalarNode) and value.value is None) or (
            isinstance(value, ListNode) and not value.items
        )
        if value is not None and not is_default:
            text = f"mock.yml: `{key}` is not supported by this version"
            found.error(node.place(key), "mock.not_supported", text, "remove it")


def _profile(node: Node | None, found: Findings) -> str:
    profile = as_text(node, found, "patterns_profile")
    if node is not None and profile is not None and profile not in PROFILES:
        text = f"there is no patterns_profile {profile!r}"
        mend = f"expected one of {', '.join(PROFILES)}"
        found.error(node.location, "mock.choice", text, mend)
        return PROFILES[-1]
    return profile or PROFILES[-1]


def _choice(node: Node | None, default: Choice, what: str, found: Findings) -> Choice:
    kind = type(default)
    word = as_text(node, found, what)
    if node is None or word is None:
        return default
    if word not in set(kind):
        text = f"{what}: found {word!r}, expected one of {', '.join(kind)}"
        found.error(node.location, "mock.choice", text)
        return default
    return kind(word)


def _model(
    node: Node | None, environment: Mapping[str, str], found: Findings
) -> Mapping[str, str | None]:
    model = as_map(None if node is None else expand(node, environment, found), found, "model")
    if model is None:
        return {}
    refuse_unknown_keys(model, MODEL_KEYS, found, "model")
    return {key: as_text(model.entries.get(key), found, f"model.{key}") for key in MODEL_KEYS}
