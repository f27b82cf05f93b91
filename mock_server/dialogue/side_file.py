"""`mock.yml: understand`: what a developer says that words mean (flows.md §13)."""

import re
from typing import TypeAlias

from rapidfuzz import fuzz, process

from mock_server.dialogue import lexicon
from mock_server.dialogue.assistant import UnderstandRule
from mock_server.dialogue.circumstances import holds
from mock_server.dialogue.command_language import fill_command
from mock_server.dialogue.commands import Command
from mock_server.dialogue.hearing import Hearing

Outcome: TypeAlias = tuple[tuple[Command, ...], str]
"""The commands of a rule, none if it does not fire, and the reason either way."""


def by_rules(hearing: Hearing) -> Outcome:
    """What the first rule that fits the message, and the moment, makes of it."""
    for rule in hearing.assistant.understand:
        commands, reason = _by_rule(rule, hearing.text)
        if commands and holds(rule.when, hearing.state):
            return commands, f"{rule.location}: {reason}"
    count = len(hearing.assistant.understand)
    return (), f"none of {count} rules in mock.yml matches" if count else "mock.yml has no rules"


def _by_rule(rule: UnderstandRule, text: str) -> Outcome:
    if rule.match is not None:
        match = re.search(rule.match, text)
        if match is None:
            return (), ""
        groups = {name: value.strip() for name, value in match.groupdict(default="").items()}
        filled = (fill_command(command, groups) for command in rule.commands)
        return tuple(c for c in filled if c is not None), f"{match[0]!r} matches"
    plain = lexicon.normalized(text)
    like = process.extractOne(
        plain,
        [lexicon.normalized(example) for example in rule.examples],
        scorer=fuzz.ratio,
        score_cutoff=100 * rule.threshold,
    )
    if like is None:
        return (), ""
    filled = (fill_command(command, {}) for command in rule.commands)
    return tuple(c for c in filled if c is not None), f"like {like[0]!r} by {like[1]:.0f} %"
