"""`mock.yml: understand`: which words mean which commands (flows.md §13)."""

from mock_server.dialogue.assistant import UnderstandRule
from mock_server.dialogue.command_language import HOLE, CommandSyntaxError, parse_command
from mock_server.dialogue.commands import Clarify, SetSlot, StartFlow
from mock_server.project.circumstances import read_match, read_when
from mock_server.project.findings import Findings, Mention, MentionKind
from mock_server.project.nodes import Node
from mock_server.project.reading import as_items, as_map, as_number, as_text, as_texts
from mock_server.project.stubs import refuse_unknown_keys

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
