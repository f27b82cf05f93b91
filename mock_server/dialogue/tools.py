"""Tools of an MCP server that a flow calls: mock.yml has their results (flows.md §9)."""

from collections.abc import Mapping

from mock_server.dialogue.assistant import ToolBranch
from mock_server.dialogue.events import Frame, SlotSet, SlotSource, Warned
from mock_server.dialogue.lifecycle import fail, go_on
from mock_server.dialogue.model import Json, ToolStep
from mock_server.dialogue.slots import coerce
from mock_server.dialogue.templates import evaluate_expression
from mock_server.dialogue.turn import Answer, Steps, Turn
from mock_server.errors import InvalidSlotValue, TemplateFailed


def call_tool(turn: Turn, frame: Frame, step: ToolStep) -> Steps:
    """Put what the script returns into the slots of the step's `mapping.output`."""
    branch = yield from _branch(turn, step)
    if branch is None:
        yield Warned(f"tool {step.tool!r} has no result in mock.yml, so it sets no slot")
    elif branch.fails:
        yield Warned(f"tool {step.tool!r} fails, as its script says")
        yield from fail(turn, {"tool": step.tool})
        return
    else:
        yield from _fill_slots(turn, step, branch.result)
    yield from go_on(turn, frame, step.next)


def _branch(turn: Turn, step: ToolStep) -> Answer[ToolBranch | None]:
    for branch in turn.assistant.tools.get(step.tool, ()):
        if branch.when is None or (yield from turn.holds(branch.when)):
            return branch
    return None


def _fill_slots(turn: Turn, step: ToolStep, result: Json) -> Steps:
    """A value that cannot be had or does not fit leaves its slot alone, with a warning."""
    names: Mapping[str, object] = {"result": result, "slots": turn.state.slots}
    for name, expression in step.outputs:
        try:
            value = coerce(turn.assistant.slots[name], evaluate_expression(expression, names))
        except (TemplateFailed, InvalidSlotValue) as error:
            yield Warned(f"tool {step.tool!r}, output {name!r}: {error}")
            continue
        yield SlotSet(name, value, SlotSource.ACTION)
