"""Which flows the words of a message fit, among those that may start."""

from collections.abc import Mapping

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.flow_matching import ENOUGH, FlowMatch, best, rank
from mock_server.dialogue.guards import can_start
from mock_server.dialogue.model import Json
from mock_server.records import record


@record
class Wish:
    """The flows that fit: one, several that tie, or none, and why."""

    best: tuple[FlowMatch, ...]
    reason: str


def wish(assistant: Assistant, slots: Mapping[str, Json], text: str) -> Wish:
    """The flows that the words of `text` fit; flows whose guard fails are no candidates."""

    def is_open(flow_id: str) -> bool:
        return can_start(assistant.flows[flow_id], slots)

    matches = rank(text, assistant.index, is_open)
    open_matches = [match for match in matches if is_open(match.flow_id)]
    fitting = best(open_matches)
    if fitting:
        return Wish(fitting, ", ".join(f"{m.flow_id} {m.score:.2f}" for m in fitting))
    if best(matches):
        return Wish((), f"the condition of flow {matches[0].flow_id!r} does not hold")
    if open_matches:
        top = open_matches[0]
        return Wish((), f"nearest is {top.flow_id!r} with {top.score:.2f} of {ENOUGH}")
    return Wish((), "no word of it belongs to a flow")
