"""Texts in, an assistant out, or every problem at once."""

import pytest

from mock_server.dialogue.model import (
    END,
    ActionStep,
    Branch,
    CallStep,
    CollectStep,
    LinkStep,
    NoopStep,
    SetSlotsStep,
    SlotFiller,
    SlotType,
)
from mock_server.errors import ProjectError
from mock_server.project.load import assemble

DOMAIN = """
slots:
  amount: {type: float}
  recipient: {type: text, mappings: [{type: controlled}]}
  speed: {type: categorical, values: [Yes, No], initial_value: "yes"}
responses:
  utter_ask_amount:
    - text: How much?
      buttons: [{title: Fifty, payload: /SetSlots(amount=50)}]
"""

FLOWS = """
flows:
  pay:
    description: |
      Pay a bill.
    if: False
    persisted_slots: [amount]
    steps:
      - collect: amount
        next:
          - if: slots.amount > 100
            then:
              - set_slots: [{speed: NO}]
              - link: other
          - else: end
      - id: end
        action: utter_ask_amount
  other:
    name: the other
    description: Another.
    steps:
      - call: pay
      - noop: true
        next: "END"
"""


def problems_of(**texts: str) -> list[str]:
    names = {"domain": "domain.yml", "flows": "data/flows.yml", "mock": "mock.yml"}
    with pytest.raises(ProjectError) as caught:
        assemble({names[key]: text for key, text in texts.items()})
    return [str(problem) for problem in caught.value.problems]


def test_slots_have_type_filler_and_initial_value():
    slots = assemble({"domain.yml": DOMAIN}).slots
    assert slots["amount"].type is SlotType.FLOAT
    assert slots["recipient"].filler is SlotFiller.CONTROLLED
    assert (slots["speed"].values, slots["speed"].initial_value) == (("Yes", "No"), "Yes")


def test_nested_steps_are_flattened():
    flow = assemble({"domain.yml": DOMAIN, "data/flows.yml": FLOWS}).flows["pay"]
    collect, assign, link, end = flow.steps.values()
    assert isinstance(collect, CollectStep)
    assert collect.next == (Branch(assign.id, "slots.amount > 100"), Branch("end"))
    assert isinstance(assign, SetSlotsStep)
    assert (assign.values, assign.next) == ((("speed", "No"),), (Branch(link.id),))
    assert isinstance(link, LinkStep)
    assert isinstance(end, ActionStep)
    assert end.next == (Branch(END),)


def test_flow_has_its_properties():
    flow = assemble({"domain.yml": DOMAIN, "data/flows.yml": FLOWS}).flows["pay"]
    assert (flow.name, flow.description, flow.guard) == ("pay", "Pay a bill.", "False")
    assert flow.persisted_slots == ("amount",)
    assert flow.first_step == "pay_0_collect_amount"
    assert flow.location.line == 3


def test_quoted_end_and_call():
    call, noop = (
        assemble({"domain.yml": DOMAIN, "data/flows.yml": FLOWS}).flows["other"].steps.values()
    )
    assert isinstance(call, CallStep)
    assert isinstance(noop, NoopStep)
    assert noop.next == (Branch(END),)


def test_all_problems_are_reported_at_once():
    flows = FLOWS.replace("collect: amount", "collect: amont").replace("else: end", "else: ende")
    assert problems_of(domain=DOMAIN, flows=flows.replace("call: pay", "call: pays")) == [
        "data/flows.yml:9: flow.unknown_slot: step 'pay_0_collect_amont' of flow 'pay' names "
        "slot 'amont'; the domain has 'amount'",
        "data/flows.yml:15: flow.unknown_step: flow 'pay' has no step 'ende'; did you mean 'end'?",
        "data/flows.yml:22: flow.unknown_flow: step 'other_0_call_pays' of flow 'other' names "
        "flow 'pays'; there is 'pay'",
    ]


def test_flow_defined_in_two_files_names_both():
    with pytest.raises(ProjectError) as caught:
        assemble({"domain.yml": DOMAIN, "data/a.yml": FLOWS, "data/b.yml": FLOWS})
    assert [str(problem.location) for problem in caught.value.problems] == [
        "data/b.yml:3",
        "data/b.yml:18",
    ]
    assert "data/a.yml:3" in caught.value.problems[0].text
