"""A project folder, loaded."""

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from mock_server.errors import ProjectError, Severity
from mock_server.project.load import load_assistant, load_project

REAL = (
    "starterpack-retail-banking-en",
    "starterpack-telco-en",
    "rasa-quickstart",
    "calm-summit-masterclass-assistant",
)
CARD: dict[str, object] = {
    "name": "Bank",
    "description": "A bank.",
    "version": "7",
    "capabilities": {},
    "defaultInputModes": ["text/plain"],
    "defaultOutputModes": ["text/plain"],
    "skills": [{"id": "pay", "name": "Pay", "description": "Pays.", "tags": []}],
}


def codes(error: ProjectError) -> list[str]:
    return [problem.code.removeprefix("validation.a2a_server.") for problem in error.problems]


def test_project_is_loaded(folder: Path):
    project = load_project(folder, environment={})
    assert project.server.description == "Pays bills."
    assert {"pay", "pattern_completed"} <= set(project.assistant.flows)
    assert (project.model_file, project.model_id) == (None, None)
    assert project.warnings == project.faults == ()


def test_model_of_mock_yml(folder: Path):
    (folder / "mock.yml").write_text('model: {file: "1.tar.gz", id: "${ID}"}', encoding="utf-8")
    project = load_project(folder, environment={"ID": "x"})
    assert (project.model_file, project.model_id) == ("1.tar.gz", "x")


def test_content_hash_is_of_the_content(folder: Path, tmp_path_factory: pytest.TempPathFactory):
    first = load_project(folder, environment={}).content_hash
    moved = tmp_path_factory.mktemp("elsewhere") / "project"
    folder.rename(moved)
    assert load_project(moved, environment={}).content_hash == first
    with (moved / "domain.yml").open("a", encoding="utf-8") as domain:
        domain.write("# more\n")
    assert load_project(moved, environment={}).content_hash != first


@pytest.mark.req("CFG-5", "CFG-7")
def test_session_config_must_be_kept(folder: Path):
    domain = folder / "domain.yml"
    text = domain.read_text(encoding="utf-8")
    domain.write_text(text.replace("false", "true"), encoding="utf-8")
    with pytest.raises(ProjectError) as caught:
        load_project(folder, environment={})
    (problem,) = caught.value.problems
    assert str(problem) == (
        f"{domain}:1: validation.a2a_server.incompatible_session_config: "
        "session_config.start_session_after_expiry is not false, which it must be for A2A; "
        'add to the domain "session_config: {start_session_after_expiry: false}", '
        "or start with --relax"
    )


@pytest.mark.req("CFG-5a")
def test_relax_supplies_both_and_description_one(folder: Path):
    (folder / "endpoints.yml").unlink()
    domain = folder / "domain.yml"
    text = domain.read_text(encoding="utf-8")
    domain.write_text("".join(text.splitlines(keepends=True)[1:]), encoding="utf-8")
    with pytest.raises(ProjectError) as caught:
        load_project(folder, environment={})
    assert codes(caught.value) == ["incompatible_session_config", "missing_description"]
    with pytest.raises(ProjectError) as caught:
        load_project(folder, environment={}, description="Bank")
    assert codes(caught.value) == ["incompatible_session_config"]
    relaxed = load_project(folder, environment={}, relax=True)
    assert relaxed.server.description == "A Rasa assistant"
    both = load_project(folder, environment={}, relax=True, description="Bank")
    assert both == replace(relaxed, server=replace(relaxed.server, description="Bank"))


@pytest.mark.req("CFG-5a")
def test_relax_waives_nothing_else(folder: Path):
    (folder / "endpoints.yml").write_text("a2a_server: {tls: {}}", encoding="utf-8")
    with pytest.raises(ProjectError) as caught:
        load_project(folder, environment={}, relax=True)
    assert codes(caught.value) == ["legacy_tls"]


@pytest.mark.req("CFG-6")
def test_several_workers_need_another_store(folder: Path):
    assert load_project(folder, environment={"SANIC_WORKERS": "1"})
    with pytest.raises(ProjectError) as caught:
        load_project(folder, environment={"SANIC_WORKERS": "2"})
    assert codes(caught.value) == ["incompatible_sanic_workers"]


@pytest.mark.req("CFG-9")
def test_endpoints_and_mock_may_lie_elsewhere(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
):
    other = tmp_path_factory.mktemp("other")
    endpoints, mock = other / "e.yml", other / "m.yml"
    endpoints.write_text(
        "a2a_server: {description: Other., agent_card_path: card.json}", encoding="utf-8"
    )
    mock.write_text("model: {id: other}", encoding="utf-8")
    (other / "card.json").write_text(json.dumps(CARD), encoding="utf-8")
    project = load_project(folder, environment={}, endpoints=endpoints, mock=mock)
    assert (project.server.description, project.model_id) == ("Other.", "other")
    assert project.server.agent_card == CARD


def test_missing_folder_file_and_domain_are_problems(folder: Path):
    with pytest.raises(ProjectError, match="there is no such folder"):
        load_project(folder / "nowhere", environment={})
    with pytest.raises(ProjectError, match="this is not a folder"):
        load_assistant(folder / "domain.yml", environment={})
    with pytest.raises(ProjectError, match="there is no such file"):
        load_project(folder, environment={}, endpoints=folder / "none.yml")
    (folder / "domain.yml").unlink()
    (folder / "data" / "flows.yml").unlink()
    (folder / "config.yml").mkdir()
    with pytest.raises(ProjectError) as caught:
        load_assistant(folder, environment={})
    assert {"project.no_domain", "project.no_flows", "project.no_file"} <= set(codes(caught.value))
    with pytest.raises(ProjectError) as caught:
        load_project(folder, environment={})
    assert all(problem.location.file for problem in caught.value.problems)


def test_file_that_is_no_utf_8_names_the_line(folder: Path):
    (folder / "data" / "more.yml").write_bytes(b"flows:\n  x\xff: 1\n")
    with pytest.raises(ProjectError) as caught:
        load_project(folder, environment={})
    (problem,) = caught.value.problems
    assert str(problem).startswith(f"{folder / 'data' / 'more.yml'}:2: project.encoding: ")


def test_what_only_a_server_needs_is_a_warning(folder: Path):
    (folder / "endpoints.yml").write_text(
        "a2a_server: {url: '${HOST}', max_contexts: -1}", encoding="utf-8"
    )
    project = load_assistant(folder, environment={})
    assert {problem.code for problem in project.warnings} == {
        "config.unset_variable",
        "validation.a2a_server.missing_description",
    }
    assert {problem.severity for problem in project.warnings} == {Severity.WARNING}
    assert [problem.code for problem in project.faults] == ["yaml.type"]


@pytest.mark.shared
@pytest.mark.parametrize("name", REAL)
def test_real_assistants_load_when_relaxed(shared: Path, name: str):
    folder = shared / "projects" / name
    with pytest.raises(ProjectError) as caught:
        load_project(folder, environment={})
    assert codes(caught.value) == ["incompatible_session_config", "missing_description"]
    project = load_project(folder, environment={}, relax=True)
    user_flows = [flow for flow in project.assistant.flows.values() if not flow.is_pattern]
    assert user_flows
    assert all(step.location.line for flow in user_flows for step in flow.steps.values())


def test_loading_is_linear(folder: Path):
    def seconds(count: int) -> float:
        flows = [
            f"  f{n}:\n    description: d\n    steps:\n      - collect: amount\n"
            for n in range(count)
        ]
        (folder / "data" / "flows.yml").write_text("flows:\n" + "".join(flows), encoding="utf-8")
        start = time.process_time()
        assert len(load_project(folder, environment={}).assistant.flows) > count
        return time.process_time() - start

    assert seconds(1000) < 25 * seconds(100) + 1
