"""What a turn costs among many flows, and what loading them costs: in calls, which never vary.

`benchmarks/turns.py` measures the same in seconds.
"""

import gc
import sys
from collections.abc import Callable
from types import FrameType

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.engine import UserMessage, advance
from mock_server.dialogue.state import initial_state
from mock_server.project.load import assemble

FEW, MANY = 10, 300
SAID = (
    "I want to order a lampkc",
    "5",
    "please order lampke now",
    "the fan does not stop blinking at night",
    "sorry, I meant 7",
    "/SetSlots(amount_lampkf=5)",
    "/intent_lampkf",
    "let me talk to a human",
    "cancel",
    "yes",
)


def noun(number: int) -> str:
    return "lamp" + "".join("klmnpqrstv"[int(digit)] for digit in f"{number:02d}") + "ke"


def names(count: int) -> list[str]:
    return ["lampkc", "lampke", "lampkf", *(noun(number) for number in range(count - 3))]


def texts(count: int) -> dict[str, str]:
    slots, responses, flows = ["slots:"], ["responses:"], ["flows:"]
    for name in names(count):
        slots.append(f"  amount_{name}: {{type: float}}")
        responses.append(f"  utter_ask_amount_{name}: [{{text: How much {name}?}}]")
        flows += (
            f"  order_{name}:",
            f"    description: order a {name}",
            f"    nlu_trigger: [{{intent: intent_{name}}}]",
            f"    steps: [{{collect: amount_{name}}}]",
        )
    return {"domain.yml": "\n".join((*slots, *responses)), "data/flows.yml": "\n".join(flows)}


def converse(assistant: Assistant) -> None:
    state = initial_state(assistant)
    for text in SAID:
        turn = advance(assistant, state, UserMessage(text))
        turn.run()
        state = turn.state


def calls_of(work: Callable[[], object]) -> int:
    """How many functions `work` calls, of Python and of C."""
    calls = 0

    def count(_: FrameType, event: str, __: object) -> None:
        nonlocal calls
        calls += event in {"call", "c_call"}

    before = sys.getprofile()
    gc.disable()  # a finalizer that runs in between would be counted
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
        gc.enable()
    return calls


def turns_cost(count: int) -> int:
    assistant = assemble(texts(count))
    converse(assistant)  # what is made once is made here
    return calls_of(lambda: converse(assistant))


def test_turn_among_many_flows_costs_what_it_costs_among_few() -> None:
    assert turns_cost(MANY) <= 1.2 * turns_cost(FEW)


def test_loading_is_linear_in_the_number_of_flows() -> None:
    assemble(texts(3))
    few, more, most = (calls_of(lambda n=n: assemble(texts(n))) for n in (20, 60, 100))
    assert most - more <= 1.1 * (more - few)
