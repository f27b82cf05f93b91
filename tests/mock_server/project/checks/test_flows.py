"""One mistake in a project, one problem; and what is ignored is said."""

from collections.abc import Callable

import pytest

Report = Callable[..., list[str]]


def flow(steps: str, head: str = "") -> str:
    return f"flows:\n  pay:\n    description: Pay.\n{head}    steps:\n{steps}"


def test_good_project_has_no_problems(report: Report):
    assert report() == []


@pytest.mark.parametrize(
    ("steps", "problem"),
    [
        ("      - collect: amuont\n", "flows.yml:5: flow.unknown_slot"),
        ("      - action: utter_don\n", "flows.yml:5: flow.unknown_response"),
        ("      - action: action_pya\n", "flows.yml:5: flow.unknown_action"),
        ("      - link: pya\n", "flows.yml:5: flow.unknown_flow"),
        ("      - call: pya\n", "flows.yml:5: flow.unknown_flow"),
        ("      - call: pay\n", "flows.yml:5: flow.calls_itself"),
        ("      - call: pattern_search\n", "flows.yml:5: flow.calls_pattern"),
        ("      - link: pattern_completed\n", "flows.yml:5: flow.link_to_pattern"),
        ("      - link: other\n        next: END\n", "flows.yml:6: flow.link_next"),
        ("      - collect: colour\n", "flows.yml:5: flow.no_question"),
        ("      - collect: amount\n        utter: utter_x\n", "flows.yml:6: flow.unknown_response"),
        ("      - collect: amount\n        next: ned\n", "flows.yml:6: flow.unknown_step"),
        ("      - noop: true\n", "flows.yml:5: flow.noop_next"),
        ("      - {noop: false, next: END}\n", "flows.yml:5: flow.noop"),
        ("      - nop: true\n", "flows.yml:5: flow.step_kind"),
        ("      - {}\n", "flows.yml:5: flow.step_kind"),
        ("      - action: utter_done\n        collect: amount\n", "flows.yml:5: flow.step_kind"),
        ("      - utter_done\n", "flows.yml:5: yaml.type"),
        ("      - action:\n", "flows.yml:5: flow.no_name"),
        ("      - call:\n", "flows.yml:5: flow.no_name"),
        ("      - action: utter_done\n        id: END\n", "flows.yml:6: flow.reserved_step"),
        (
            "      - {id: a, action: utter_done}\n      - {id: a, action: utter_done}\n",
            "flows.yml:6: flow.duplicate_step",
        ),
        ("      - set_slots: [{colour: blue}]\n", "flows.yml:5: flow.set_value"),
        ("      - set_slots: [{clour: red}]\n", "flows.yml:5: flow.unknown_slot"),
        ("      - set_slots: red\n", "flows.yml:5: yaml.type"),
        ("      - set_slots: [red]\n", "flows.yml:5: yaml.type"),
        ("      - collect: amount\n        next: {if: x}\n", "flows.yml:6: flow.target"),
        ("      - collect: amount\n        next: []\n", "flows.yml:6: flow.target"),
        (
            "      - collect: amount\n        ask_before_filling: sometimes\n",
            "flows.yml:6: yaml.type",
        ),
        (
            "      - collect: amount\n        rejections: [{if: slots.amount < 0}]\n",
            "flows.yml:6: rejection.incomplete",
        ),
        ("      []\n", "flows.yml:4: flow.no_steps"),
    ],
)
def test_step_with_one_mistake_has_one_problem(report: Report, steps: str, problem: str):
    other = "  other:\n    description: Other.\n    steps: [{action: utter_done}]\n"
    (found,) = report(flow(steps) + other)
    assert found.startswith(f"{problem}: ")


def branches(*lines: str) -> str:
    return flow(
        "      - collect: amount\n        next:\n"
        + "".join(f"          {line}\n" for line in lines)
    )


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (["- {if: slots.amount > 5, then: END}"], "flows.yml:6: flow.no_else"),
        (["- {if: slots.amount > 5}", "- else: END"], "flows.yml:7: flow.no_then"),
        (["- {then: END}", "- else: END"], "flows.yml:7: flow.no_if"),
        (["- else: END", "- {if: slots.amount > 5, then: END}"], "flows.yml:8: flow.branch_after"),
        (["- else: END", "  next: END"], "warning flows.yml:8: flow.branch_key"),
        (["- {else: END, if: slots.amount}"], "warning flows.yml:7: flow.branch_key"),
        (["- else:", "  - action: utter_done"], "flows.yml:8: flow.open_branch"),
        (["- else:"], "flows.yml:7: flow.target"),
        (["- {if: slots.amount >, then: END}", "- else: END"], "flows.yml:7: condition.invalid"),
        (["- {if: amount > 5, then: END}", "- else: END"], "flows.yml:7: condition.no_namespace"),
        (["- {if: slots.amuont, then: END}", "- else: END"], "flows.yml:7: condition.unknown_slot"),
        (["- {if: slots.colour = red, then: END}", "- else: END"], "flows.yml:7: condition.no_nam"),
    ],
)
def test_branches_with_one_mistake_have_one_problem(report: Report, lines: list[str], problem: str):
    (found,) = report(branches(*lines))
    assert found.startswith(problem)


def test_misspelling_is_mended(report: Report):
    (found,) = report(branches("- {if: amount > 5, then: END}", "- else: END"))
    assert found.endswith("'amount' is neither in slots nor in context; write slots.amount")


def test_conditions_of_jinja_texts_and_sets_are_left_alone(report: Report):
    lines = (
        "- {if: \"'{{context.x}}' = 'a b'\", then: END}",
        "- {if: \"{'red' 'green'} contains slots.colour\", then: END}",
        "- {if: slots.amount IS NOT null AND context.x is empty, then: END}",
        "- else: END",
    )
    assert report(branches(*lines)) == []


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        ("slots.colour &&", "&& cannot be read; write `and`"),
        ("slots.amount and !slots.colour", "!slots.colour cannot be read; write `not`"),
        ("slots.colour in ['red']", "['red'] cannot be read; write {'a' 'b'} contains slots.x"),
        ("slots.colour not", "not is not expected there"),
        ("slots.colour and", "it ends too early"),
        ("slots.colour matches '('", "'(' is not a valid regex"),
        ("slots.colour = “red”", '“red” cannot be read; use plain quotes: "…"'),
    ],
)
def test_condition_that_cannot_be_read_is_mended(report: Report, condition: str, reason: str):
    (found,) = report(branches(f"- if: {condition}", "  then: END", "- else: END"))
    assert found.startswith("flows.yml:7: condition.invalid: flow 'pay' has an invalid condition")
    assert found.endswith(f": {reason}")


@pytest.mark.parametrize(
    ("condition", "code", "end"),
    [
        ("slots.colour = 'rde'", "unknown_value", "'colour' are red, green; did you mean 'red'?"),
        ("slots.colour is not 'Red'", "unknown_value", "did you mean 'red'?"),
        ("slots.colour = 5", "type", 'and no text equals 5; put a text in quotes: "…"'),
        ("slots.amount = '5'", "type", "and no number equals '5'; write a number, without quotes"),
        (
            "slots.amount > '5'",
            "type",
            "no number can be compared with '5'; write a number, withou",
        ),
        ("not slots.amount == true", "type", "no number equals true; make it a bool slot"),
    ],
)
def test_comparison_that_never_holds_is_warned_of(
    report: Report, condition: str, code: str, end: str
):
    (found,) = report(branches(f'- if: "{condition}"', "  then: END", "- else: END"))
    assert found.startswith(f"warning flows.yml:7: condition.{code}: flow 'pay' has condition")
    assert end in found


@pytest.mark.parametrize("condition", ["slots.colour is not true", "slots.colour == False"])
def test_text_compared_with_a_truth_value_is_warned_of(report: Report, condition: str):
    (found,) = report(branches(f"- {{if: {condition}, then: END}}", "- else: END"))
    assert found.startswith("warning flows.yml:7: condition.type: flow 'pay'")
    assert "a categorical slot, and no text equals" in found
    assert found.endswith("; make it a bool slot")


@pytest.mark.parametrize(
    "condition", ["slots.sure is true", "slots.any = true", "slots.amount is not null"]
)
def test_truth_values_may_be_compared_with_what_can_have_them(report: Report, condition: str):
    domain = (
        "slots: {sure: {type: bool}, any: {type: any}, amount: {type: float}}\n"
        "responses: {utter_ask_amount: [{text: How much?}]}\n"
    )
    lines = branches(f"- {{if: {condition}, then: END}}", "- else: END")
    assert report(lines, domain) == []


@pytest.mark.parametrize(
    ("head", "problem"),
    [
        ("    if: slots.amuont\n", "flows.yml:4: condition.unknown_slot"),
        ("    persisted_slots: [colour]\n", "flows.yml:2: flow.persisted_not_filled"),
        ("    persisted_slots: [nothing]\n", "flows.yml:4: flow.unknown_slot"),
        ("    nlu_trigger: [{intnt: x}]\n", "flows.yml:4: flow.trigger"),
        ("    nam: x\n", "warning flows.yml:4: yaml.unknown_key"),
        ("    block_digressions: true\n", "warning flows.yml:4: flow.removed_key"),
    ],
)
def test_property_with_one_mistake_has_one_problem(report: Report, head: str, problem: str):
    (found,) = report(flow("      - collect: amount\n", head))
    assert found.startswith(problem)


def test_misspelt_slot_is_one_problem_though_it_should_have_been_persisted(report: Report):
    head = "    persisted_slots: [amount]\n"
    (found,) = report(flow("      - collect: amuont\n", head))
    assert "flow.unknown_slot" in found


def test_persisted_slots_do_not_mix_with_reset_after_flow_ends(report: Report):
    step = "      - collect: amount\n        reset_after_flow_ends: false\n"
    mixed, deprecated = report(flow(step, "    persisted_slots: [amount]\n"))
    assert mixed.startswith("flows.yml:6: flow.mixed_persistence")
    assert deprecated.startswith("warning flows.yml:7: flow.deprecated_key")


def test_called_flow_may_not_link_nor_a_pattern_call(report: Report):
    flows = (
        flow("      - call: child\n")
        + "  child:\n    description: d\n    steps: [{link: last}]\n"
        + "  last:\n    description: e\n    steps: [{action: utter_done}]\n"
        + "  pattern_search:\n    steps: [{call: last}]\n"
        + "  pattern_internal_error:\n    steps: [{link: last}]\n"
    )
    assert [line.split(":")[2].strip() for line in report(flows)] == [
        "flow.link_in_called",
        "flow.pattern_calls",
        "flow.link_in_error",
    ]


def test_flow_needs_description_and_a_plain_id(report: Report):
    flows = "flows:\n  a b:\n    steps: [{action: utter_done}]\n"
    assert [line.split(":")[2].strip() for line in report(flows)] == [
        "flow.id",
        "flow.no_description",
    ]


def test_steps_never_reached_are_warned_of(report: Report):
    steps = "      - {action: utter_done, next: END}\n      - action: utter_done\n"
    (found,) = report(flow(steps))
    assert found.startswith("warning flows.yml:6: flow.unreachable_step")
    (behind,) = report(flow("      - link: pattern_search\n      - action: utter_done\n"))
    assert behind.startswith("flows.yml:5: flow.link_not_last")


@pytest.mark.parametrize(
    ("steps", "problem"),
    [
        ("      - {action: utter_done, next: x}\n", "flows.yml:5: flow.unknown_step"),
        (
            "      - {action: utter_done, noop: true, id: x, next: y}\n",
            "flows.yml:5: flow.step_kin",
        ),
        (
            "      - {action: utter_done, next: [{if: slots.amount}, {else: END}]}\n",
            "flows.yml:5: flow.no_then",
        ),
    ],
)
def test_steps_behind_a_mistake_are_not_called_unreachable(
    report: Report, steps: str, problem: str
):
    behind = "      - {id: y, action: utter_done}\n      - {action: utter_done, next: END}\n"
    (found,) = report(flow(steps + behind))
    assert found.startswith(problem)


def test_only_the_first_of_steps_that_are_never_reached_is_reported(report: Report):
    steps = (
        "      - {action: utter_done, next: END}\n"
        "      - {id: lost, action: utter_done}\n"
        "      - {id: also_lost, action: utter_done, next: END}\n"
        "      - {id: elsewhere, action: utter_done}\n"
    )
    lost, elsewhere = report(flow(steps))
    assert "step 'lost' of flow 'pay' is never reached" in lost
    assert "step 'elsewhere' of flow 'pay' is never reached" in elsewhere


def test_circle_that_nothing_leads_out_of_is_a_problem(report: Report):
    circle = "      - {id: a, action: utter_done}\n      - {set_slots: [{amount: null}], next: a}\n"
    (found,) = report(flow(circle))
    assert found.startswith("flows.yml:5: flow.endless: step 'a' of flow 'pay' comes back to itse")
    waiting = ("collect: amount", "action: action_listen")
    for step in waiting:
        assert report(flow(circle.replace("set_slots: [{amount: null}]", step))) == []
    behind = flow("      - {id: z, action: utter_done}\n" + circle)
    assert [line[:25] for line in report(behind)] == ["flows.yml:6: flow.endless"]


@pytest.mark.parametrize("text", ["slots: {{a: {type: text}}", "slots:\n\ta: {type: text}"])
def test_what_an_unread_file_defines_is_not_called_unknown(report: Report, text: str):
    (found,) = report(domain=text)
    assert ": yaml.syntax: this is not YAML: " in found


def test_what_is_never_closed_is_reported_with_the_line_where_it_begins(report: Report):
    (found,) = report(domain="version: '3.1'\nslots: {a: {type: 'text}}\nactions: []\n")
    assert found == (
        "domain.yml:4: yaml.syntax: this is not YAML: found unexpected end of stream, "
        "while scanning a quoted scalar that begins on line 2"
    )


def test_some_patterns_are_for_patterns_to_link_to(report: Report):
    steps = "      - link: pattern_chitchat\n"
    (found,) = report(flow(steps))
    assert found.startswith("warning flows.yml:5: flow.link_to_pattern")
    assert report(flow(steps).replace("  pay:", "  pattern_search:")) == []


def test_question_is_asked_once(report: Report):
    domain = (
        "slots: {a: {type: text}}\nactions: [action_ask_a]\nresponses: {utter_ask_a: [{text: a}]}"
    )
    (found,) = report(flow("      - collect: a\n"), domain)
    assert found.startswith("flows.yml:5: flow.two_questions")


def test_initial_value_needs_no_question(report: Report):
    domain = "slots: {a: {type: text, initial_value: x}}"
    assert report(flow("      - collect: a\n"), domain) == []


def test_rejection_looks_at_its_own_slot(report: Report):
    steps = (
        "      - collect: amount\n        rejections:\n"
        "          - {if: slots.colour = 'red', utter: utter_done}\n"
    )
    (found,) = report(flow(steps))
    assert found.startswith("warning flows.yml:7: condition.other_slot")


@pytest.mark.parametrize(
    ("domain", "problem"),
    [
        ("slots: {a: {}}", "domain.yml:1: slot.no_type"),
        ("slots: {a: {type: boolean}}", "domain.yml:1: slot.unknown_type"),
        ("slots: {a: {type: my.Slot}}", "warning domain.yml:1: slot.custom_type"),
        ("slots: {a: {type: categorical}}", "domain.yml:1: slot.no_values"),
        ("slots: {a: {type: float, initial_value: x}}", "domain.yml:1: slot.initial_value"),
        ("slots: {a: {type: text, tpye: x}}", "warning domain.yml:1: yaml.unknown_key"),
        ("slots: {a: {type: text, mappings: [{type: llm}]}}", "warning domain.yml:1: slot.mapping"),
        ("slots: {a: {type: float, min_value: low}}", "domain.yml:1: yaml.type"),
        ("slots: {a: text}", "domain.yml:1: yaml.type"),
        ("responses: {utter_a: }", "domain.yml:1: response.empty"),
        ("responses: {utter_a: []}", "domain.yml:1: response.empty"),
        ("responses: {utter_a: [{text: [a]}]}", "domain.yml:1: yaml.type"),
        ("responses: {utter_a: [{text: a, butons: []}]}", "warning domain.yml:1: yaml.unknown_key"),
        (
            "responses: {utter_a: [{text: a, buttons: [{payload: x}]}]}",
            "domain.yml:1: response.but",
        ),
        (
            "responses: {utter_a: [{text: a, condition: slots.b}, {text: c}]}",
            "domain.yml:1: condition.unknown",
        ),
        (
            "slots: {b: {type: bool}}\nresponses: {utter_a: [{text: a, condition: slots.b}]}",
            "warning domain.yml:2: response.no_default",
        ),
        (
            "responses: {utter_a: [{text: a, channel: slack}]}",
            "warning domain.yml:1: response.other_channel",
        ),
        ("responses: {utter_a: a}", "domain.yml:1: yaml.type"),
        ("slots: {a: {type: flaot}}", "domain.yml:1: slot.unknown_type: slot 'a' has type 'flaot'"),
        ("responses: {utter_a: [{text: a, condition: {a: 1}}]}", "domain.yml:1: yaml.type"),
        (
            "responses: {utter_a: [{text: a, condition: [{type: slot}]}]}",
            "domain.yml:1: response.con",
        ),
        ("rsponses: {}", "warning domain.yml:1: yaml.unknown_key"),
        ("[]", "domain.yml:1: yaml.type"),
    ],
)
def test_domain_with_one_mistake_has_one_problem(report: Report, domain: str, problem: str):
    flows = "flows: {f: {description: d, steps: [{action: utter_ask_rephrase}]}}"
    (found,) = report(flows, domain)
    assert found.startswith(problem)


def test_domain_files_may_not_define_a_name_twice(report: Report):
    domain = "slots:\n  a: {type: text}\n  a: {type: text}\n"
    flows = "flows: {f: {description: d, steps: [{action: utter_ask_rephrase}]}}"
    (found,) = report(flows, domain)
    assert found.startswith("domain.yml:3: yaml.duplicate_key: key 'a' occurs twice; first at ")


def test_config_of_the_wrong_shape(report: Report):
    assert report(
        config="pipeline: [{name: XCommandGenerator, user_input: {max_characters: many}}]"
    ) == ["config.yml:1: yaml.type: max_characters of user_input: found 'many', expected a number"]


@pytest.mark.parametrize(
    ("head", "problem"),
    [
        (
            "    description: Pay.\n",
            "warning flows.yml:6: flow.same_description: flow 'other' has the description of fl",
        ),
        (
            "    description: Other.\n    name: pay\n",
            "warning flows.yml:6: flow.same_name: flow 'other' has the name 'pay' of flow 'pay', a",
        ),
        (
            "    description: Other.\n    nlu_trigger: [{intent: go}]\n",
            "flows.yml:6: flow.same_trigger: intent 'go' starts flow 'other' and flow 'pay', at fl",
        ),
        ("    description: ''\n", "flows.yml:6: flow.no_description"),
    ],
)
def test_flows_that_are_alike_are_reported(report: Report, head: str, problem: str):
    steps = "    steps: [{action: utter_done}]\n"
    pay = f"  pay:\n    description: Pay.\n    nlu_trigger: [{{intent: go}}]\n{steps}"
    (found,) = report(f"flows:\n{pay}  other:\n{head}{steps}")
    assert found.startswith(problem)


def test_pattern_that_rasa_has_not_is_warned_of(report: Report):
    pattern = "  pattern_serch:\n    steps: [{action: utter_done}]\n"
    (found,) = report(flow("      - action: utter_done\n") + pattern)
    assert found.startswith("warning flows.yml:6: flow.never_starts: flow 'pattern_serch' never")
    assert found.endswith("; did you mean 'pattern_search'?")
    assert report(flow("      - link: pattern_search\n") + pattern.replace("serch", "search")) == []


def test_flow_that_nothing_starts_is_warned_of(report: Report):
    (found,) = report(flow("      - action: utter_done\n", "    if: False\n"))
    assert found.startswith("warning flows.yml:2: flow.never_starts")


@pytest.mark.parametrize(
    ("head", "mock"),
    [
        ("    nlu_trigger: [{intent: pay}]\n", ""),
        ("", "understand: [{match: pay, commands: [StartFlow(pay)]}]"),
    ],
)
def test_closed_flow_with_another_way_in_is_no_problem(report: Report, head: str, mock: str):
    assert report(flow("      - action: utter_done\n", f"    if: False\n{head}"), mock=mock) == []


def test_guard_cannot_look_at_the_context(report: Report):
    (found,) = report(flow("      - action: utter_done\n", "    if: context.reason\n"))
    assert found.startswith("flows.yml:4: condition.guard_context")


def test_flows_that_call_each_other_are_warned_of(report: Report):
    other = "  other:\n    description: Other.\n    steps: [{call: pay}]\n"
    lines = report(flow("      - call: other\n") + other)
    assert [line.split(": ")[1] for line in lines] == ["flow.call_cycle"] * 2


def test_language_of_a_translation_is_listed(report: Report):
    domain = "responses: {utter_done: [{text: Done., translation: {de: Fertig., fr: Fini.}}]}"
    flows = "flows: {f: {description: d, steps: [{action: utter_done}]}}"
    (found,) = report(flows, domain, config="additional_languages: [de]")
    assert found.startswith("warning domain.yml:1: response.language: a variation of 'utter_done'")
    assert "'fr'" in found


def test_categories_that_differ_in_case_only_are_warned_of(report: Report):
    domain = "slots: {a: {type: categorical, values: [low, LOW, high]}}\n"
    flows = "flows: {f: {description: d, steps: [{action: utter_ask_rephrase}]}}"
    (found,) = report(flows, domain)
    assert found.startswith("warning domain.yml:1: slot.like_values: slot 'a' cannot tell")


def test_tool_without_a_result_is_warned_of(report: Report):
    (found,) = report(flow("      - {call: get_price, mcp_server: cars}\n"))
    assert found.startswith("warning flows.yml:5: tool.no_result: tool 'get_price' has no result")


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


ProjectReport = Callable[..., list[str]]

DOMAIN = """\
slots:
  amount: {type: float}
  colour: {type: text}
actions: [action_pay, action_default_fallback, utter_done]
responses:
  utter_ask_amount: [{text: How much?}]
  utter_done: [{text: Done.}]
  utter_bye: [{text: Bye.}]
  utter_ask_rephrase: [{text: Pardon?}]
"""
USED_FLOW = """\
flows:
  pay:
    description: Pay.
    steps:
      - collect: amount
      - action: action_pay
      - action: utter_done
"""


def test_slots_and_responses_without_use_are_warned_of(report: ProjectReport) -> None:
    assert [line[: line.index(" is ")] for line in report(USED_FLOW, DOMAIN, with_unused=True)] == [
        "warning domain.yml:3: slot.unused: slot 'colour'",
        "warning domain.yml:8: response.unused: response 'utter_bye'",
    ]


@pytest.mark.parametrize(
    "code",
    ["tracker.get_slot('colour'); dispatcher.utter_message(response='utter_bye'); action_pay"],
)
def test_what_the_code_names_is_used(report: ProjectReport, code: str) -> None:
    assert report(USED_FLOW, DOMAIN, code=code, with_unused=True) == []


def test_slot_of_a_response_is_used(report: ProjectReport) -> None:
    domain = DOMAIN.replace("Done.", '"Done, {colour}."').replace("Bye.", "Bye.")
    lines = report(USED_FLOW.replace("utter_done", "utter_done\n      - action: utter_bye"), domain)
    assert lines == []


def test_action_that_nobody_wrote_is_warned_of(report: ProjectReport) -> None:
    (found,) = report(USED_FLOW, DOMAIN, code="class Other: pass")
    assert found.startswith("warning domain.yml:4: action.not_written: action 'action_pay'")
    assert (
        report(USED_FLOW, DOMAIN, code="class Other: pass", mock="actions: {action_pay: {}}") == []
    )


CODE = """\
class Pay:
    def name(self): return "action_pay"
    def run(self, dispatcher, tracker, domain):
        colour = tracker.get_slot("colour")
        color = tracker.get_slot('color')  # not get_slot("balance")
        return [SlotSet("amuont", 1), SlotSet(key="amuont", value=2), SlotSet("amount", 3)]
"""


def test_slots_that_only_the_code_knows_are_warned_of(report: ProjectReport) -> None:
    assert report(USED_FLOW, DOMAIN, code=CODE) == [
        "warning actions.py:5: action.unknown_slot: this reads slot 'color', which the domain does "
        "not have: it is always None; did you mean 'colour'?",
        "warning actions.py:6: action.unknown_slot: this sets slot 'amuont', which the domain does "
        "not have: nothing comes of it; did you mean 'amount'?",
    ]


def test_nothing_is_called_unused_in_a_project_with_errors(report: ProjectReport) -> None:
    (found,) = report(
        USED_FLOW.replace("collect: amount", "collect: amuont"), DOMAIN, with_unused=True
    )
    assert found.startswith("flows.yml:5: flow.unknown_slot")


@pytest.mark.parametrize(
    ("written", "misspelt", "problem"),
    [
        ("action: utter_done", "action: utter_dome", "flow.unknown_response"),
        ("utter_ask_amount:", "utter_ask_amuont:", "flow.no_question"),
        ("next: [{if: slots.colour,", "next: [{if: slots.color,", "condition.unknown_slot"),
        ("colour: {type: text}", "colou: {type: text}", "condition.unknown_slot"),
    ],
)
def test_what_a_misspelt_name_means_is_not_called_unused(
    report: ProjectReport, written: str, misspelt: str, problem: str
) -> None:
    flow = USED_FLOW + "        next: [{if: slots.colour, then: END}, {else: END}]\n"
    domain = DOMAIN.replace("  utter_bye: [{text: Bye.}]\n", "")
    (found,) = report(
        flow.replace(written, misspelt), domain.replace(written, misspelt), with_unused=True
    )
    assert f": {problem}: " in found
    assert "; did you mean '" in found


@pytest.mark.parametrize(
    ("text", "count"),
    [("{amuont}", 1), ("{{amuont}}", 0), ("{context.x}", 0), ("{amount}", 0), ("{balance}", 0)],
)
def test_hole_that_nothing_fills_is_warned_of(report: ProjectReport, text: str, count: int) -> None:
    domain = DOMAIN.replace("Done.", f'"{text}"')
    found = report(USED_FLOW, domain, code="action_pay balance")
    assert len(found) == count
    assert all("response.unknown_slot" in line for line in found)
