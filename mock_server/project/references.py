"""Names in flows that must exist for a project to be loaded at all: slots and flows."""

from collections.abc import Collection, Iterable

from mock_server.dialogue.assistant import Assistant
from mock_server.project.findings import Findings, Mention, MentionKind, nearest


def check_references(
    assistant: Assistant, mentions: Iterable[Mention], agents: Collection[str], found: Findings
) -> None:
    """Report every slot, flow and sub agent that is mentioned and not defined."""
    for mention in mentions:
        if mention.kind is MentionKind.SLOT and mention.name not in assistant.slots:
            near = nearest(mention.name, assistant.slots)
            text = f"{mention.by} names slot {mention.name!r}"
            mend = f"the domain has {near!r}" if near else "define it in the domain"
            found.error(mention.location, "flow.unknown_slot", text, mend)
        if mention.kind is MentionKind.FLOW and not (
            mention.name in assistant.flows or mention.name in agents
        ):
            near = nearest(mention.name, {*assistant.flows, *agents})
            text = f"{mention.by} names flow {mention.name!r}"
            mend = f"there is {near!r}" if near else "no flow and no sub agent has this name"
            found.error(mention.location, "flow.unknown_flow", text, mend)
