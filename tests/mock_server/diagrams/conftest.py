"""Flows to draw."""

from collections.abc import Callable

import pytest

from mock_server.diagrams.chart import Chart, chart_of
from mock_server.project.load import assemble

DOMAIN = """\
slots:
  amount: {type: float}
  is_sure: {type: bool}
actions: [action_pay]
responses:
  utter_ask_amount: [{text: How much?}]
  utter_ask_is_sure: [{text: Sure?}]
  utter_done: [{text: Done.}]
  utter_too_low: [{text: More!}]
"""
FLOWS = """\
flows:
  pay:
    name: pay a bill
    description: |
      Pay a bill,
      or not.
    if: slots.is_sure is null
    steps:
      - id: ask
        collect: amount
        rejections: [{if: slots.amount <= 0, utter: utter_too_low}]
        next:
          - if: slots.amount > 100
            then: [{set_slots: [{amount: null}, {is_sure: false}], next: ask}]
          - else: choose
      - id: choose
        noop: true
        next:
          - if: slots.amount = 7
            then: [{link: other}]
          - if: slots.amount = 8
            then: [{call: other, next: END}]
          - else: act
      - id: act
        action: action_pay
        next: [{if: slots.is_sure, then: say}]
      - id: say
        action: utter_done
  other:
    description: Another one.
    steps: [{action: utter_done}]
"""


@pytest.fixture
def chart() -> Callable[[str], Chart]:
    assistant = assemble({"domain.yml": DOMAIN, "data/flows.yml": FLOWS})
    return lambda flow_id: chart_of(assistant.flows[flow_id])
