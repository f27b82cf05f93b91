"""Payloads and templates that nothing can read are reported before a user meets them."""

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


JINJA = "metadata: {template: jinja}"


@pytest.mark.parametrize(
    "variation",
    [
        f"{{text: '{{% if %}}', {JINJA}}}",
        f"{{text: fine, translation: {{en: '{{{{ a | nothing }}}}'}}, {JINJA}}}",
    ],
)
def test_jinja_of_a_response_is_read(report: Report, variation: str) -> None:
    domain = f"slots: {{a: {{type: text}}}}\nresponses:\n  utter_x:\n    - {variation}\n"
    flows = "flows: {f: {description: d, steps: [{action: utter_x}]}}"
    [problem] = report(flows, domain)
    assert problem.startswith("domain.yml:4: jinja.invalid: a variation of 'utter_x' has Jinja")


@pytest.mark.parametrize(
    ("steps", "problem"),
    [
        ("[{action: '{{ context. }}'}]", "jinja.invalid"),
        (
            "[{noop: true, next: [{if: '{{ slots.colour', then: END}, {else: END}]}]",
            "condition.invalid",
        ),
    ],
)
def test_jinja_of_a_flow_is_read(report: Report, steps: str, problem: str) -> None:
    [found] = report(f"flows: {{f: {{description: d, steps: {steps}}}}}")
    assert found.startswith(f"flows.yml:1: {problem}: ")


def test_jinja_that_can_be_read_is_no_problem(report: Report) -> None:
    steps = "[{action: '{{ context.utter }}', next: [{if: '{{ 1 }} = 1', then: END}, {else: END}]}]"
    assert report(f"flows: {{f: {{description: d, steps: {steps}}}}}") == []
