"""What a project has for NLU, coexistence and voice, and what check says of it."""

from collections.abc import Callable

import pytest

Report = Callable[..., list[str]]

FLOW = "flows: {f: {description: d, steps: [{collect: a}]}}"


def domain(slot: str, response: str = "") -> str:
    asking = f"utter_ask_a: [{{text: a{response}}}]"
    return f"slots: {{a: {{type: text, {slot}}}}}\nresponses: {{{asking}}}\n"


@pytest.mark.parametrize(
    ("slot", "problem"),
    [
        (
            "mappings: [{type: from_entity, entity: x}]",
            "ignored.nlu_mapping: mapping 'from_entity'",
        ),
        ("mappings: [{type: from_text}]", "ignored.nlu_mapping: mapping 'from_text' of slot 'a'"),
        (
            "mappings: [{type: controlled, coexistence_system: CALM}]",
            "ignored.coexistence: `coexistence_system` of slot 'a'",
        ),
        ("shared_for_coexistence: true", "ignored.coexistence: `shared_for_coexistence` of slot"),
    ],
)
def test_slot_names_what_is_ignored(report: Report, slot: str, problem: str) -> None:
    (found,) = report(FLOW, domain(slot))
    assert found.startswith(f"warning domain.yml:1: {problem}")


@pytest.mark.parametrize("key", ["silence_timeout: 5", "dtmf: {length: 4}"])
def test_voice_keys_of_a_question_are_ignored(report: Report, key: str) -> None:
    flow = f"flows: {{f: {{description: d, steps: [{{collect: a, {key}}}]}}}}"
    (found,) = report(flow, domain(""))
    assert found.startswith(f"warning flows.yml:1: ignored.voice: `{key.partition(':')[0]}` of")


def test_voice_key_of_a_response_is_ignored(report: Report) -> None:
    (found,) = report(FLOW, domain("", ", allow_interruptions: false"))
    assert found.startswith("warning domain.yml:2: ignored.voice: `allow_interruptions`")


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ("pipeline: [{name: DIETClassifier}]", "ignored.nlu: DIETClassifier of the pipeline"),
        ("pipeline: [{name: NLUCommandAdapter}]", "ignored.nlu: NLUCommandAdapter"),
        ("pipeline: [{name: LLMBasedRouter}]", "ignored.coexistence: LLMBasedRouter"),
        ("policies: [{name: RulePolicy}]", "ignored.nlu: RulePolicy of the policies"),
    ],
)
def test_components_of_other_systems_are_ignored(report: Report, config: str, problem: str) -> None:
    (found,) = report(FLOW, domain(""), config=config)
    assert found.startswith(f"warning config.yml:1: {problem}")


def test_components_of_calm_and_own_ones_are_no_problem(report: Report) -> None:
    config = """
pipeline: [{name: CompactLLMCommandGenerator}, {name: addons.Mine}]
policies: [{name: FlowPolicy}, {name: EnterpriseSearchPolicy}, {name: addons.Policy}]
"""
    assert report(FLOW, domain(""), config=config) == []


@pytest.mark.parametrize("key", ["nlu", "stories", "rules"])
def test_training_data_is_ignored(report: Report, key: str) -> None:
    (found,) = report(f"{key}: []\n{FLOW}", domain(""))
    assert found.startswith(f"warning flows.yml:1: ignored.training_data: `{key}`")


def test_forms_are_ignored(report: Report) -> None:
    (found,) = report(FLOW, domain("") + "forms: {f: {required_slots: [a]}}\n")
    assert found.startswith("warning domain.yml:3: ignored.forms")
