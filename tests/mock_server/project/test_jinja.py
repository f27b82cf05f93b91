"""Jinja that nothing can read is told before anybody meets it."""

from collections.abc import Callable

import pytest

Report = Callable[..., list[str]]

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
