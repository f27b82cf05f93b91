"""Where a step has gone when its flow was edited.

A step without an id of its own is numbered (flows.md §2): `transfer_2_collect_amount`. One that is
inserted before it changes the number, not what the step is.
"""

from mock_server.dialogue.model import Flow


def moved_step(flow: Flow, step_id: str) -> str | None:
    """The step of `flow` that differs from the missing `step_id` in its number only."""
    sought = _without_number(flow, step_id)
    found = [id for id in flow.steps if sought and _without_number(flow, id) == sought]
    return found[0] if len(found) == 1 and step_id not in flow.steps else None


def _without_number(flow: Flow, step_id: str) -> str | None:
    """What a numbered step does; None for a step that was given its id."""
    number, _, does = step_id.removeprefix(f"{flow.id}_").partition("_")
    return does if number.isdecimal() and step_id.startswith(f"{flow.id}_") else None
