"""`mock.yml`: what a deployment gets from a model and an action server (flows.md §13)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

from mock_server.dialogue.assistant import RejectedScope, ToolBranch, UnderstandRule
from mock_server.dialogue.command_language import HOLE, CommandSyntaxError, parse_command
from mock_server.dialogue.commands import Clarify, SetSlot, StartFlow
from mock_server.dialogue.model import END, AgentTurnStep, Branch, Flow, Json
from mock_server.dialogue.outside import (
    MODEL_TIMEOUT_SECONDS,
    ActionServer,
    ActionServerKind,
    LanguageModel,
    Stub,
    StubBranch,
    Stubs,
    UnstubbedActions,
    Utterance,
)
from mock_server.errors import Location
from mock_server.faults.fault import Fault, Path, read_fault
from mock_server.project import nodes
from mock_server.project.agents import agent_flow
from mock_server.project.builtin import PROFILES
from mock_server.project.findings import Findings, Mention, MentionKind
from mock_server.project.nodes import (
    ListNode,
    MapNode,
    Node,
    ScalarNode,
    as_bool,
    as_items,
    as_json,
    as_map,
    as_number,
    as_text,
    as_texts,
    expand,
    expand_map,
    plain,
)
from mock_server.project.responses import read_buttons

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


BRANCH_KEYS = (
    "when", "match", "events", "responses", "delay_seconds", "stream", "chunk_delay_seconds",
    "fail",
)  # fmt: skip
FAIL_KEYS = ("status", "error")
UTTERANCE_KEYS = frozenset({"text", "buttons", "response", "template", "image", "custom"})
IGNORED_UTTERANCE_KEYS = frozenset({"elements", "attachment", "quick_replies"})


def read_stubs(node: Node | None, mentions: list[Mention], found: Findings) -> Mapping[str, Stub]:
    """A stub by action name; each is one branch or a list of them."""
    actions = as_map(node, found, "actions")
    if actions is None:
        return {}
    return {
        name: Stub(_branches(name, value, mentions, found), actions.place(name))
        for name, value in actions.entries.items()
    }


def _branches(
    name: str, node: Node, mentions: list[Mention], found: Findings
) -> tuple[StubBranch, ...]:
    items = node.items if isinstance(node, ListNode) else (node,)
    what = f"the stub of {name!r}"
    branches: list[StubBranch] = []
    for item in items:
        entries = as_map(item, found, what)
        if entries is None:
            branches.append(StubBranch())
            continue
        if branches and branches[-1].when is None and branches[-1].match is None:
            text = f"a branch of {what} behind one without `when` and `match` is never taken"
            found.warn(item.location, "mock.unreachable_branch", text)
        branches.append(_branch(what, entries, mentions, found))
    return tuple(branches)


def _branch(what: str, node: MapNode, mentions: list[Mention], found: Findings) -> StubBranch:
    refuse_unknown_keys(node, BRANCH_KEYS, found, what)
    get = node.entries.get
    match = read_match(node, what, found)
    fail = as_map(get("fail"), found, f"`fail` of {what}")
    if fail is not None:
        refuse_unknown_keys(fail, FAIL_KEYS, found, f"`fail` of {what}")
        as_number(fail.entries.get("status"), found, f"status of {what}")
    responses = as_items(get("responses"), found, f"responses of {what}")
    utterances = (_utterance(what, item, mentions, found) for item in responses)
    return StubBranch(
        when=read_when(node, what, mentions, found),
        match=None if match is None else match.pattern,
        slots=_slots(what, get("events"), mentions, found),
        utterances=tuple(u for u in utterances if u is not None),
        delay_seconds=_seconds(get("delay_seconds"), f"delay_seconds of {what}", found),
        stream=as_texts(get("stream"), found, f"stream of {what}"),
        chunk_delay_seconds=_seconds(get("chunk_delay_seconds"), "chunk_delay_seconds", found),
        fails=fail is not None,
    )


def _slots(
    what: str, node: Node | None, mentions: list[Mention], found: Findings
) -> tuple[tuple[str, Json], ...]:
    """The `slot` events; the others of Rasa change nothing here."""
    slots: list[tuple[str, Json]] = []
    for item in as_items(node, found, f"events of {what}"):
        entries = as_map(item, found, f"an event of {what}")
        event = entries.entries.get("event") if entries else None
        kind = as_text(event, found, f"`event` of {what}")
        if entries is None or kind is None:
            text = f"an event of {what} has no `event`"
            mend = "write `{event: slot, name: …, value: …}`"
            found.error(item.location, "mock.event", text, mend)
            continue
        name = as_text(entries.entries.get("name"), found, f"a slot's name in {what}")
        if kind != "slot":
            text = f"{what} has a {kind!r} event, which is ignored; only `slot` events count"
            found.warn(item.location, "mock.event", text)
        elif name is None:
            found.error(item.location, "mock.event", f"a slot event of {what} has no `name`")
        else:
            value = as_json(entries.entries.get("value"))
            mentions.append(Mention(MentionKind.SLOT, name, item.location, what))
            mentions.append(Mention(MentionKind.VALUE, name, item.location, what, value=value))
            slots.append((name, value))
    return tuple(slots)


def _utterance(what: str, node: Node, mentions: list[Mention], found: Findings) -> Utterance | None:
    entries = as_map(node, found, f"a response of {what}")
    if entries is None:
        return None
    get = entries.entries.get
    key = "response" if "response" in entries.entries else "template"
    response = as_text(get(key), found, f"`{key}` of {what}")
    if response is not None:
        mentions.append(Mention(MentionKind.RESPONSE, response, entries.place(key), what))
    known = UTTERANCE_KEYS | IGNORED_UTTERANCE_KEYS
    return Utterance(
        text=as_text(get("text"), found, f"text of {what}") or "",
        buttons=read_buttons(what, get("buttons"), mentions, found),
        response=response,
        arguments={k: as_json(v) for k, v in entries.entries.items() if k not in known},
        image=as_text(get("image"), found, f"image of {what}"),
        custom=as_json(get("custom")) or None,
    )


def _seconds(node: Node | None, what: str, found: Findings) -> float:
    seconds = as_number(node, found, what) or 0.0
    if node is not None and not 0 <= seconds < float("inf"):
        found.error(node.location, "mock.seconds", f"{what}: found {seconds:g}, expected 0 or more")
        return 0.0
    return seconds


def refuse_unknown_keys(node: MapNode, known: tuple[str, ...], found: Findings, what: str) -> None:
    """Report keys of our own file that mean nothing."""
    nodes.refuse_unknown_keys(node, known, found, what, "mock.unknown_key")


RULE = "a rule of understand"
RULE_KEYS = ("match", "examples", "when", "commands", "threshold")


def read_rules(
    node: Node | None, mentions: list[Mention], found: Findings
) -> tuple[UnderstandRule, ...]:
    rules = (_rule(item, mentions, found) for item in as_items(node, found, "understand"))
    return tuple(rule for rule in rules if rule is not None)


def _rule(item: Node, mentions: list[Mention], found: Findings) -> UnderstandRule | None:
    node = as_map(item, found, RULE)
    if node is None:
        return None
    refuse_unknown_keys(node, RULE_KEYS, found, RULE)
    match = read_match(node, RULE, found)
    examples = as_texts(node.entries.get("examples"), found, "examples")
    commands = node.entries.get("commands")
    if ("match" in node.entries) == bool(examples) or commands is None:
        text = "a rule of understand needs `commands`, and either `match` or `examples`"
        found.error(node.location, "mock.rule", text)
        return None
    groups = frozenset(match.groupindex if match else ())
    for command in as_items(commands, found, "commands"):
        _check_command(command, groups, mentions, found)
    threshold = _threshold(node.entries.get("threshold"), found)
    texts = as_texts(commands, found, "commands")
    when = read_when(node, RULE, mentions, found)
    pattern = None if match is None else match.pattern
    return UnderstandRule(texts, pattern, examples, threshold, when, node.location)


def _check_command(
    node: Node, groups: frozenset[str], mentions: list[Mention], found: Findings
) -> None:
    source = as_text(node, found, "a command") or ""
    for name in set(HOLE.findall(source)) - groups:
        text = f"command {source!r} uses {{{name}}}, which `match` has no group for"
        found.error(node.location, "mock.command", text, f"name it there: (?P<{name}>…)")
    try:
        command = parse_command(source)
    except CommandSyntaxError as error:
        found.error(node.location, "mock.command", str(error))
        return
    by = f"command {source!r}"
    match command:
        case StartFlow(flow_id=flow_id) if not HOLE.search(flow_id):
            mentions.append(Mention(MentionKind.FLOW, flow_id, node.location, by))
        case Clarify(flow_ids=flow_ids):
            mentions.extend(Mention(MentionKind.FLOW, f, node.location, by) for f in flow_ids)
        case SetSlot(name=name, value=value):
            mentions.append(Mention(MentionKind.SLOT, name, node.location, by))
            if not HOLE.search(str(value)):
                mentions.append(Mention(MentionKind.VALUE, name, node.location, by, value=value))
        case _:
            pass


def _threshold(node: Node | None, found: Findings) -> float:
    threshold = as_number(node, found, "threshold")
    if node is None or threshold is None:
        return UnderstandRule.__dataclass_fields__["threshold"].default
    if not 0 < threshold <= 1:
        text = f"threshold: found {threshold:g}, expected more than 0 and at most 1"
        found.error(node.location, "mock.threshold", text)
    return threshold


REFERENCE = "see docs/reference/faults.md"


def read_faults(node: Node | None, found: Findings) -> tuple[Fault, ...]:
    """The faults in the order in which they are armed."""
    faults: list[Fault] = []
    for item in as_items(node, found, "faults"):
        fault = read_fault(plain(item))
        if isinstance(fault, Fault):
            _refuse_second(fault, faults, item.location, found)
            faults.append(fault)
        else:
            for problem in fault:
                place = _place(item, problem.path)
                found.error(place, "mock.fault", f"a fault: {problem}", REFERENCE)
    return tuple(faults)


def _refuse_second(fault: Fault, before: list[Fault], at: Location, found: Findings) -> None:
    if fault.id is not None and fault.id in {other.id for other in before}:
        text = f"a second fault has the id {fault.id!r}"
        found.error(at, "mock.fault", text, "give each an id of its own, or none")


def _place(node: Node, path: Path) -> Location:
    """Where `path` leads, as far as there is something."""
    place = node.location
    for step in path:
        match node:
            case MapNode(entries=entries) if isinstance(step, str) and step in entries:
                place, node = node.place(step), entries[step]
            case _:
                break
    return place


MODEL_SERVER_KEYS = ("base_url", "model", "api_key", "timeout_seconds")
SCHEMES = ("http://", "https://")


def read_language_model(
    node: Node | None, environment: Mapping[str, str], found: Findings
) -> LanguageModel | None:
    """The model that mock.yml names; None is none. No message quotes the key."""
    written = as_map(node, found, "llm")
    if written is None:
        return None
    refuse_unknown_keys(written, MODEL_SERVER_KEYS, found, "llm")
    get = expand_map(written, environment, found).entries.get
    base_url = as_text(get("base_url"), found, "llm.base_url")
    model = as_text(get("model"), found, "llm.model")
    api_key = as_text(get("api_key"), found, "llm.api_key")
    seconds = as_number(get("timeout_seconds"), found, "llm.timeout_seconds")
    if base_url is None or model is None:
        text = "llm needs `base_url` and `model`"
        found.error(written.location, "mock.llm", text)
        return None
    if not base_url.startswith((*SCHEMES, "${")):
        text = f"llm.base_url: found {base_url!r}, expected an address with http:// or https://"
        found.error(written.place("base_url"), "mock.llm", text)
    if seconds is not None and not 0 < seconds < float("inf"):
        text = f"llm.timeout_seconds: found {seconds:g}, expected more than 0"
        found.error(written.place("timeout_seconds"), "mock.seconds", text)
        seconds = None
    return LanguageModel(base_url, model, api_key or "", seconds or MODEL_TIMEOUT_SECONDS)


def read_when(node: MapNode, what: str, mentions: list[Mention], found: Findings) -> str | None:
    """The condition of `when`, to be checked with all others."""
    when = as_text(node.entries.get("when"), found, f"`when` of {what}")
    if when is not None:
        mentions.append(Mention(MentionKind.CONDITION, when, node.place("when"), what))
    return when


def read_match(node: MapNode, what: str, found: Findings) -> re.Pattern[str] | None:
    """The regular expression of `match`."""
    match = as_text(node.entries.get("match"), found, f"`match` of {what}")
    if match is None:
        return None
    try:
        return re.compile(match)
    except re.error as error:
        text = f"match is no regular expression: {error}"
        found.error(node.place("match"), "mock.match", text)
        return None


TURN_KEYS = ("say", "set", "wait", "complete", "fail")
TOOL_KEYS = ("when", "result", "fail")


def read_scripts(node: Node | None, mentions: list[Mention], found: Findings) -> Mapping[str, Flow]:
    """`mock.yml: sub_agents`: each script as a flow that the engine runs, by the agent's name."""
    scripts = as_map(node, found, "sub_agents")
    if scripts is None:
        return {}
    return {
        name: _script(name, value, scripts.place(name), mentions, found)
        for name, value in scripts.entries.items()
    }


def _script(
    name: str, node: Node, place: Location, mentions: list[Mention], found: Findings
) -> Flow:
    items = as_items(node, found, f"the script of sub agent {name!r}")
    steps = [_turn(name, index, item, mentions, found) for index, item in enumerate(items)]
    turns = {step.id: step for step in steps if step is not None}
    return agent_flow(name, turns, place)


def _turn(
    name: str, index: int, item: Node, mentions: list[Mention], found: Findings
) -> AgentTurnStep | None:
    what = f"a turn of sub agent {name!r}"
    node = as_map(item, found, what)
    if node is None:
        return None
    refuse_unknown_keys(node, TURN_KEYS, found, what)
    get = node.entries.get
    waits = as_bool(get("wait"), found, f"`wait` of {what}", default=False)
    completes = as_bool(get("complete"), found, f"`complete` of {what}", default=False)
    fails = as_bool(get("fail"), found, f"`fail` of {what}", default=False)
    if waits + completes + fails > 1:
        text = f"{what} can do one of `wait`, `complete` and `fail`, not several"
        found.error(node.location, "mock.agent_turn", text)
    return AgentTurnStep(
        id=f"turn_{index}",
        next=(Branch(END),) if completes else (),
        say=as_text(get("say"), found, f"`say` of {what}") or "",
        slots=_agent_slots(what, get("set"), mentions, found),
        waits=waits,
        fails=fails,
        location=node.location,
    )


def _agent_slots(
    what: str, node: Node | None, mentions: list[Mention], found: Findings
) -> tuple[tuple[str, Json], ...]:
    entries = as_map(node, found, f"`set` of {what}")
    if entries is None:
        return ()
    for name, value in entries.entries.items():
        place = entries.place(name)
        mentions.append(Mention(MentionKind.SLOT, name, place, what))
        mentions.append(Mention(MentionKind.VALUE, name, place, what, value=as_json(value)))
    return tuple((name, as_json(value)) for name, value in entries.entries.items())


def read_tools(
    node: Node | None, mentions: list[Mention], found: Findings
) -> Mapping[str, tuple[ToolBranch, ...]]:
    """`mock.yml: tools`: what each tool returns, one branch or a list of them."""
    tools = as_map(node, found, "tools")
    if tools is None:
        return {}
    return {
        name: tuple(
            _tool_branch(f"tool {name!r}", item, mentions, found)
            for item in (value.items if isinstance(value, ListNode) else (value,))
        )
        for name, value in tools.entries.items()
    }


def _tool_branch(what: str, item: Node, mentions: list[Mention], found: Findings) -> ToolBranch:
    node = as_map(item, found, what)
    if node is None:
        return ToolBranch()
    refuse_unknown_keys(node, TOOL_KEYS, found, what)
    when = read_when(node, what, mentions, found)
    fails = as_bool(node.entries.get("fail"), found, f"`fail` of {what}", default=False)
    return ToolBranch(when, as_json(node.entries.get("result")), fails)


ACTION_SERVER_KEYS = ("kind", "python", "module", "timeout_seconds")


def read_choice(
    node: Node | None, environment: Mapping[str, str], found: Findings
) -> ActionServer | None:
    """`action_server` of mock.yml, a kind or a mapping with one; None if it says nothing."""
    if node is None:
        return None
    node = expand(node, environment, found)
    entries = node if isinstance(node, MapNode) else MapNode(node.location, {"kind": node}, {})
    refuse_unknown_keys(entries, ACTION_SERVER_KEYS, found, "action_server")
    get = entries.entries.get
    kind = as_text(get("kind"), found, "kind of action_server")
    seconds = as_number(get("timeout_seconds"), found, "timeout_seconds of action_server")
    if kind is not None and kind not in set(ActionServerKind):
        text = f"action_server: found {kind!r}, expected one of {', '.join(ActionServerKind)}"
        found.error(entries.place("kind"), "mock.choice", text)
        kind = None
    if seconds is not None and not 0 < seconds < float("inf"):
        text = f"timeout_seconds of action_server: found {seconds:g}, expected more than 0"
        found.error(entries.place("timeout_seconds"), "mock.seconds", text)
        seconds = None
    default = ActionServer()
    return ActionServer(
        kind=ActionServerKind(kind or ActionServerKind.STUBS),
        python=as_text(get("python"), found, "python of action_server") or "",
        module=as_text(get("module"), found, "module of action_server") or "",
        timeout_seconds=seconds or default.timeout_seconds,
        location=node.location,
    )
