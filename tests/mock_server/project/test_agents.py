"""Sub agents and tools in a project's files."""

import pytest

from mock_server.project.files import Sources
from mock_server.project.findings import Findings
from mock_server.project.load import assemble_sources

DOMAIN = "slots: {a: {type: text}}\nresponses: {utter_x: [{text: '{a}'}]}\n"
FLOWS = "flows:\n  f:\n    description: d\n    steps:\n      - call: helper\n"
AGENT = "agent: {name: helper, protocol: RASA, description: Helps.}\n"
EXTERNAL = "agent: {name: helper, protocol: a2a, description: Helps.}\n"
CARD = "configuration:\n  agent_card: card.json\n"
SCRIPT = "sub_agents: {helper: [{say: Hi}]}\n"


def problems(
    flows: str = FLOWS, mock: str = "", agents: tuple[str, ...] = (AGENT,), domain: str = DOMAIN
) -> list[str]:
    found = Findings()
    sources = Sources(
        domain={"domain.yml": domain},
        flows={"flows.yml": flows},
        mock={"mock.yml": mock},
        agents={f"sub_agents/{i}/config.yml": text for i, text in enumerate(agents)},
    )
    assemble_sources(sources, {}, found)
    every = (*found.problems, *found.faults)
    return [str(p) for p in every if not p.code.endswith(".unused")]


def test_scripted_agent_is_no_problem() -> None:
    assert problems(mock=SCRIPT) == []
    assert problems(mock=SCRIPT, agents=()) == []


def test_agent_without_a_script_is_warned_of() -> None:
    (found,) = problems()
    assert found.startswith("sub_agents/0/config.yml:1: agent.no_script: sub agent 'helper'")


def test_agent_that_nobody_knows_is_an_error() -> None:
    (found,) = problems(agents=())
    assert found.startswith("flows.yml:5: flow.unknown_flow")


@pytest.mark.parametrize(
    ("agents", "code"),
    [
        (("agent: {protocol: RASA}\n",), "agent.no_name"),
        (("agent: {name: helper, protocol: HTTP, description: d}\n",), "agent.protocol"),
        ((AGENT, AGENT), "agent.duplicate"),
        (("agent: {name: f, description: d}\n",), "agent.flow_id"),
        ((AGENT, "configuration: {}\n"), "agent.no_agent"),
        (("agent: {name: helper}\n",), "agent.no_description"),
        ((EXTERNAL,), "agent.no_card"),
        ((EXTERNAL + CARD + "  max_polling_time: 0\n",), "agent.seconds"),
        ((EXTERNAL + CARD + "  polling_initial_delay: soon\n",), "yaml.type"),
        ((EXTERNAL + CARD + "  auth: {api_key: abc}\n",), "agent.plain_secret"),
        ((EXTERNAL + CARD + "  auth: {oauth: {client_secret: abc}}\n",), "agent.plain_secret"),
        ((AGENT + "configuration: {module: my.Agent}\n",), "ignored.agent_module"),
        (("[]\n",), "yaml.type"),
    ],
)
def test_config_with_one_mistake_has_one_problem(agents: tuple[str, ...], code: str) -> None:
    (found,) = problems(mock=SCRIPT, agents=agents)
    assert f": {code}: " in found


@pytest.mark.req("CFG-7")
def test_written_secret_is_not_shown() -> None:
    (found,) = problems(mock=SCRIPT, agents=(EXTERNAL + CARD + "  auth: {token: s3cret}\n",))
    assert "s3cret" not in found
    assert found.endswith('name a variable: token: "${TOKEN}"')


@pytest.mark.parametrize(
    "config", [EXTERNAL + CARD, EXTERNAL + CARD + '  auth: {token: "${TOKEN}"}\n', AGENT]
)
def test_agent_as_the_reference_has_it_is_no_problem(config: str) -> None:
    assert problems(mock=SCRIPT, agents=(config,)) == []


EXIT = "{call: helper, exit_if: [slots.a is not null]}"


def test_condition_ends_only_an_agent_inside_rasa() -> None:
    flows = f"flows: {{f: {{description: d, steps: [{EXIT}]}}}}"
    assert problems(flows, SCRIPT) == []
    (found,) = problems(flows, SCRIPT, (EXTERNAL + CARD,))
    assert found.startswith("flows.yml:1: agent.exit_if: ")
    own = f"flows: {{f: {{description: d, steps: [{EXIT}]}}, helper: {{description: e, steps: [\n"
    (found,) = problems(own + "  {action: utter_x}]}}", agents=())
    assert "'helper' is a flow" in found


@pytest.mark.parametrize(
    ("mock", "code"),
    [
        ("sub_agents: {helper: [{sya: Hi}]}", "mock.unknown_key"),
        ("sub_agents: {helper: [{wait: true, complete: true}]}", "mock.agent_turn"),
        ("sub_agents: {helper: [{set: {b: 1}}]}", "flow.unknown_slot"),
        ("sub_agents: {helper: [Hi]}", "yaml.type"),
        (SCRIPT + "tools: {t: {reslt: 1}}", "mock.unknown_key"),
        (SCRIPT + "tools: {t: {when: slots.b}}", "condition.unknown_slot"),
    ],
)
def test_script_with_one_mistake_has_one_problem(mock: str, code: str) -> None:
    (found,) = problems(mock=mock)
    assert f"mock.yml:{mock.count(chr(10)) + 1}: {code}: " in found


@pytest.mark.parametrize(
    ("step", "code"),
    [
        ("{call: t, mcp_server: s, mapping: {output: [{slot: a}]}}", "flow.mapping"),
        ("{call: t, mcp_server: s, mapping: {output: [{slot: b, value: x}]}}", "flow.unknown_slot"),
        ("{call: t, mcp_server: s, mapping: {input: [{param: x, slot: b}]}}", "flow.unknown_slot"),
        ("{call: t, mcp_server: s, mapping: 5}", "yaml.type"),
        ("{call: helper, exit_if: [slots.b]}", "condition.unknown_slot"),
    ],
)
def test_call_with_one_mistake_has_one_problem(step: str, code: str) -> None:
    flows = FLOWS.replace("- call: helper", f"- {step}")
    (found,) = problems(flows=flows, mock=f"{SCRIPT}tools: {{t: {{result: 1}}}}")
    assert found.startswith(f"flows.yml:5: {code}: ")
