"""What buttons send."""

from collections.abc import Callable

import pytest

Report = Callable[..., list[str]]

FLOW = """\
flows:
  pay:
    description: Pay.
    nlu_trigger: [{intent: {name: pay_bill, confidence_threshold: 0.7}}]
    steps:
      - collect: colour
"""


def domain(payload: str) -> str:
    button = f"{{title: x, payload: '{payload}'}}"
    return f"""\
slots:
  colour: {{type: categorical, values: [red, green]}}
  tags: {{type: list}}
responses:
  utter_ask_colour: [{{text: Which?, buttons: [{button}]}}]
"""


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        ("SetSlots(colour=red)", "response.payload"),
        ("/SetSlots(colour)", "response.payload"),
        ("/SetSlots(colour=blue)", "response.payload"),
        ("/SetSlots(tags=a)", "response.payload"),
        ("/SetSlots(color=red)", "response.unknown_slot"),
        ("/pay_bil", "response.unknown_intent"),
        ("/setslots(colour=red)", "response.payload"),
        ("/SetSlots colour=red", "response.payload"),
        ("/StartFlow(pya)", "response.unknown_flow"),
        ("/StartFlow(pay); /SetSlots(colour=blue)", "response.payload"),
        ("/SetSlots(colour=red); /pay_bil", "response.unknown_intent"),
    ],
)
def test_payload_that_nothing_understands_is_a_problem(
    report: Report, payload: str, code: str
) -> None:
    (found,) = report(FLOW, domain(payload))
    assert found.startswith(f"domain.yml:5: {code}: button 'x'")


@pytest.mark.parametrize(
    "payload",
    [
        "/SetSlots(colour=RED)",
        "/SetSlots(colour={x})",
        '/pay_bill{{"colour": "red"}}',
        "/restart",
        "/StartFlow(pay)",
        "/StartFlow(pay); /SetSlots(colour=red)",
        "/SetSlots(colour=red); /pay_bill",
        "/CancelFlow",
        "red",
    ],
)
def test_payload_that_is_understood_is_none(report: Report, payload: str) -> None:
    assert report(FLOW, domain(payload)) == []
