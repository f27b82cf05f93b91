"""How fast the engine turns: 100,000 generated turns, and 1,000 flows against 10 in the same run.

    python -m benchmarks.turns [--turns 100000]

A project of n flows has n nouns of its own, and 2 slots a flow; conversations start flows by words,
answer, correct, interrupt, cancel and talk nonsense. Nothing of a network is in here.
"""

import argparse
import random
import time
from dataclasses import dataclass

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.engine import UserMessage, advance
from mock_server.dialogue.outside import ActionResult
from mock_server.dialogue.state import (
    ActionRequested,
    DialogueState,
    Listened,
    initial_state,
)
from mock_server.project.load import assemble

SYLLABLES = ("ba", "ke", "lo", "mi", "nu", "ra", "se", "to", "vi", "zu")
FEW, MANY = 10, 1000
ROUNDS = 7
TURNS_A_ROUND = 600
TURNS_A_CONVERSATION = 8


def noun(number: int) -> str:
    """A word of its own for each number."""
    digits = f"{number:04d}"
    return "".join(SYLLABLES[int(digit)] for digit in digits) + "n"


def texts(flows: int) -> dict[str, str]:
    """The files of a project with that many flows."""
    domain = ["slots:"]
    lines = ["flows:"]
    responses = ["responses:"]
    for number in range(flows):
        name = noun(number)
        domain.append(f"  amount_{name}: {{type: float}}")
        domain.append(f"  note_{name}: {{type: text}}")
        responses += (
            f"  utter_ask_amount_{name}: [{{text: How much {name}?}}]",
            f"  utter_ask_note_{name}: [{{text: Which note?}}]",
            f'  utter_done_{name}: [{{text: "Done with {{amount_{name}}}."}}]',
        )
        lines += (
            f"  order_{name}:",
            f"    description: order a {name} for somebody",
            "    steps:",
            f"      - collect: amount_{name}",
            f'        rejections: [{{if: "slots.amount_{name} <= 0", utter: utter_done_{name}}}]',
            f"      - collect: note_{name}",
            "        next:",
            f"          - if: slots.amount_{name} > 10",
            f"            then: [{{action: action_check_{name}, next: END}}]",
            f"          - else: [{{action: utter_done_{name}, next: END}}]",
        )
    actions = "actions: [" + ", ".join(f"action_check_{noun(n)}" for n in range(flows)) + "]"
    return {
        "domain.yml": "\n".join((*domain, *responses, actions)),
        "data/flows.yml": "\n".join(lines),
    }


def words(numbers: random.Random, flows: int) -> str:
    """What a user says next; most of it means something."""
    name = noun(numbers.randrange(flows))
    return numbers.choice(
        (
            f"I want to order a {name}",
            f"please order {name} now",
            str(numbers.randint(-3, 30)),
            "forty two, and quickly",
            "yes", "no", "cancel that", "sorry, I meant 7", "repeat", "hello there",
            f"/SetSlots(amount_{name}=5)",
            "the lamp does not stop blinking at night",
        )
    )  # fmt: skip


def turn(assistant: Assistant, state: DialogueState, text: str) -> DialogueState:
    """Hold one turn; actions do nothing."""
    held = advance(assistant, state, UserMessage(text))
    events = held.run()
    while isinstance(events[-1], ActionRequested):
        events = held.run(ActionResult())
    assert isinstance(events[-1], Listened), events[-1]
    return held.state


def converse(assistant: Assistant, flows: int, turns: int, seed: int) -> float:
    """Hold so many turns; the processor's seconds, since others may use the machine, too."""
    numbers = random.Random(seed)
    said = [words(numbers, flows) for _ in range(turns)]
    state = initial_state(assistant)
    start = time.process_time()
    for count, text in enumerate(said):
        if count % TURNS_A_CONVERSATION == 0:
            state = initial_state(assistant)
        state = turn(assistant, state, text)
    return time.process_time() - start


@dataclass(frozen=True)
class Comparison:
    """Microseconds of a turn among few and among many flows; the best of several rounds each."""

    few: float
    many: float

    @property
    def ratio(self) -> float:
        return self.many / self.few


def compare() -> Comparison:
    """Few and many flows by turns, so that the machine's mood hits both."""
    few, many = assemble(texts(FEW)), assemble(texts(MANY))
    costs: dict[int, list[float]] = {FEW: [], MANY: []}
    for seed in range(ROUNDS):
        for flows, assistant in ((FEW, few), (MANY, many)):
            costs[flows].append(converse(assistant, flows, TURNS_A_ROUND, seed) / TURNS_A_ROUND)
    return Comparison(min(costs[FEW]) * 1e6, min(costs[MANY]) * 1e6)


def load_seconds(flows: int) -> float:
    files = texts(flows)
    start = time.process_time()
    assemble(files)
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=100_000)
    turns = parser.parse_args().turns
    few = assemble(texts(FEW))
    seconds = converse(few, FEW, turns, seed=0)
    print(f"{turns} turns in {seconds:.1f} s: {turns / seconds:.0f} a second, none failed")
    compared = compare()
    print(f"a turn among {FEW} flows: {compared.few:.0f} µs, among {MANY}: {compared.many:.0f} µs")
    print(f"ratio {compared.ratio:.2f} (at most 1.2)")
    for flows in (125, 250, 500, 1000):
        print(f"loading {flows:5d} flows: {(took := load_seconds(flows)):.2f} s, "
              f"{took / flows * 1e3:.2f} ms a flow")  # fmt: skip


if __name__ == "__main__":
    main()
