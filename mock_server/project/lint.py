"""Faults of an assistant that loads: it would run, and go wrong on the way."""

from collections.abc import Iterable, Mapping

from mock_server.dialogue.model import Assistant, Flow
from mock_server.project.findings import Findings
from mock_server.project.mentions import Mention


def lint(
    assistant: Assistant, flows: Mapping[str, Flow], mentions: Iterable[Mention], found: Findings
) -> None:
    """Report the faults of the project's own `flows` and of what its files mention."""
