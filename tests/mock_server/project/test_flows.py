"""Flows as people write them."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mock_server.dialogue.model import END, Flow, Json, LinkStep, SetSlotsStep
from mock_server.project.load import assemble

DOMAIN = "slots: {a: {type: float}}\nresponses: {utter_x: [{text: x}]}"


def pay(steps: str) -> Flow:
    flows = f"flows:\n  pay:\n    description: Pay.\n    steps:\n{steps}"
    return assemble({"domain.yml": DOMAIN, "data/flows.yml": flows}).flows["pay"]


def edges(flow: Flow) -> dict[str, list[str]]:
    return {
        id: [] if isinstance(step, LinkStep) else [branch.target for branch in step.next]
        for id, step in flow.steps.items()
    }


def test_nested_list_does_not_fall_through():
    flow = pay(
        "      - {id: a, action: utter_x, next: [{if: slots.a, then: [{id: b, action: utter_x}]},"
        " {else: d}]}\n"
        "      - {id: c, action: utter_x}\n"
        "      - {id: d, action: utter_x}\n"
    )
    assert edges(flow) == {"a": ["b", "d"], "b": [END], "c": ["d"], "d": [END]}


def test_next_may_be_a_list_of_steps():
    flow = pay(
        "      - {id: a, action: utter_x, next: [{id: b, action: utter_x}, {id: c, noop: true,"
        " next: a}]}\n"
    )
    assert edges(flow) == {"a": ["b"], "b": ["c"], "c": ["a"]}


def test_branches_nest_at_any_depth():
    deep = "END"
    for level in range(20):
        deep = (
            f"[{{id: s{level}, noop: true, next: [{{if: slots.a, then: {deep}}}, {{else: END}}]}}]"
        )
    flow = pay(f"      - {{id: top, noop: true, next: {deep}}}\n")
    assert len(flow.steps) == 21
    assert flow.steps["top"].id == flow.first_step


@pytest.mark.parametrize("written", ["{a: 5}", "[{a: 5}]", "[{a: '5'}]"])
def test_set_slots_takes_a_list_or_a_mapping(written: str):
    (step,) = pay(f"      - set_slots: {written}\n").steps.values()
    assert isinstance(step, SetSlotsStep)
    assert step.values == (("a", 5.0),)


def test_null_clears_a_slot():
    (step,) = pay("      - set_slots: [{a: null}]\n").steps.values()
    assert isinstance(step, SetSlotsStep)
    assert step.values == (("a", None),)


def test_else_with_a_sibling_next_goes_where_else_says():
    flow = pay(
        "      - {id: a, noop: true, next: [{if: slots.a, then: END}, {else: b, next: END}]}\n"
        "      - {id: b, action: utter_x}\n"
    )
    assert edges(flow)["a"] == [END, "b"]


def test_shared_lists_of_steps_become_steps_of_their_own():
    flow = pay(
        "      - {noop: true, next: [{if: slots.a, then: &more [{action: utter_x, next: END}]},"
        " {else: *more}]}\n"
    )
    assert edges(flow) == {
        "pay_0_noop": ["pay_1_action_utter_x", "pay_2_action_utter_x"],
        "pay_1_action_utter_x": [END],
        "pay_2_action_utter_x": [END],
    }


def test_step_without_an_id_gets_one_that_nobody_has():
    flow = pay(
        "      - {id: pay_1_action_utter_x, noop: true, next: END}\n      - action: utter_x\n"
    )
    assert [*flow.steps] == ["pay_1_action_utter_x", "pay_2_action_utter_x"]


def test_question_by_another_response_is_still_one_of_two(report: Callable[..., list[str]]):
    domain = "slots: {a: {type: text}}\nactions: [action_ask_a]\nresponses: {utter_b: [{text: a}]}"
    flows = "flows: {f: {description: d, steps: [{collect: a, utter: utter_b}]}}"
    [found] = report(flows, domain)
    assert found.startswith("flows.yml:1: flow.two_questions: slot 'a' has both utter_b and")


LEAF: dict[str, Json] = {"action": "utter_x"}


def branching(then: list[Json], other: list[Json] | None) -> dict[str, Json]:
    last: Json = "END" if other is None else other
    return {"noop": True, "next": [{"if": "slots.a", "then": then}, {"else": last}]}


def nested(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    steps = st.lists(inner, min_size=1, max_size=3)
    return st.builds(branching, steps, st.none() | steps)


STEP: st.SearchStrategy[Json] = st.recursive(st.just(LEAF), nested, max_leaves=10)


@settings(max_examples=50)
@given(st.lists(STEP, min_size=1, max_size=4))
def test_every_successor_is_a_step_or_the_end(steps: list[Json]):
    flow = pay(f"      {json.dumps(steps)}\n")
    assert flow.first_step in flow.steps
    assert {target for targets in edges(flow).values() for target in targets} <= {*flow.steps, END}
    assert all(step.id == id for id, step in flow.steps.items())
    assert any(END in targets for targets in edges(flow).values())
