"""What answers: a version of the project, and how it takes over from the one before it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from mock_server.actions.runner import RunAction
from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.events import Frame
from mock_server.dialogue.outside import Generate


@dataclass(frozen=True, slots=True)
class AgentVersion:
    """What turns need to know; a turn keeps the one it began with.

    `changed_flows` says in which version a flow was last changed, for conversations that are to be
    told of it; versions count from 0. With `keeps_stories` it is kept what happens in each
    conversation, for its actions to look at.
    """

    assistant: Assistant
    run_action: RunAction
    offers_repair: bool = True
    generate: Generate | None = None
    keeps_stories: bool = False
    version: int = 0
    changed_flows: Mapping[str, int] = field(default_factory=dict[str, int])

    def successor(
        self, assistant: Assistant, run_action: RunAction, *, tells_of_changes: bool
    ) -> "AgentVersion":
        """The next version; conversations in the midst of what it changes may be told of it."""
        version = self.version + 1
        changed = dict.fromkeys(_changed(self.assistant, assistant), version)
        return replace(
            self,
            assistant=assistant,
            run_action=run_action,
            version=version,
            changed_flows={**self.changed_flows, **changed} if tells_of_changes else {},
        )

    def has_changed(self, stack: tuple[Frame, ...], since_version: int) -> bool:
        """Whether a flow on `stack` is not as it was in `since_version`."""
        return any(self.changed_flows.get(frame.flow_id, 0) > since_version for frame in stack)


def _changed(before: Assistant, after: Assistant) -> Iterator[str]:
    for flow_id in before.flows.keys() | after.flows.keys():
        if before.flows.get(flow_id) != after.flows.get(flow_id):
            yield flow_id
