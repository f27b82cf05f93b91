"""A project's files into an assistant, and a project as a model."""

import io
import json
import os
import tarfile
import time
from dataclasses import replace
from pathlib import Path

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
from mock_server.errors import ProjectError, Severity
from mock_server.project.load import Model, assemble, load_assistant, load_model, load_project
from mock_server.project.mock_file import ModelEntry

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
    assert project.mock.settings.model is None
    assert project.warnings == project.faults == ()


def test_model_of_mock_yml(folder: Path):
    (folder / "mock.yml").write_text('model: {file: "1.tar.gz", id: "${ID}"}', encoding="utf-8")
    project = load_project(folder, environment={"ID": "x"})
    assert project.mock.settings.model == ModelEntry(file="1.tar.gz", id="x")


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
    assert (project.server.description, project.model.id) == ("Other.", "other")
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


def test_file_that_is_not_utf_8_names_the_line(folder: Path):
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


pytestmark = pytest.mark.req("HTTP-3")


def packed(folder: Path, archive: Path, prefix: str) -> Path:
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(folder, prefix)
    return archive


def archive_of(path: Path, **files: bytes) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name.replace("__", "/").replace("_yml", ".yml"))
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return path


NAME_A_PROJECT = "name an assistant's folder, or a .tar.gz of one"


def problems_of_model(path: Path) -> list[str]:
    with pytest.raises(ProjectError) as caught:
        load_model(path, environment={})
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.req("HTTP-3", "HTTP-5")
def test_model_that_is_neither_file_nor_folder_is_refused(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.tar.gz"
    os.mkfifo(pipe)
    for path, text in (
        (pipe, "this is neither a folder nor a file"),
        (tmp_path / ("x" * 256), "there is no such file"),
        (tmp_path / "a\0b", "there is no such file"),
    ):
        assert problems_of_model(path) == [f"{path}:0: project.archive: {text}; {NAME_A_PROJECT}"]


def test_folder_is_its_name_and_a_hash(folder: Path) -> None:
    project = load_project(folder, environment={})
    assert load_model(folder, environment={}) == project.model
    assert project.model == Model(folder.name, project.content_hash)


def test_mock_yml_names_the_model(folder: Path) -> None:
    (folder / "mock.yml").write_text("model: {file: bank.tar.gz, id: b1}")
    assert load_model(folder, environment={}) == Model("bank.tar.gz", "b1")


@pytest.mark.parametrize("prefix", [".", "bank", "bank/"])
def test_archive_is_its_own_name_and_the_hash_of_what_is_in_it(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, prefix: str
) -> None:
    archive = packed(folder, tmp_path_factory.mktemp("a") / "20261120.tar.gz", prefix)
    loaded = load_model(archive, environment={})
    assert loaded == Model("20261120.tar.gz", load_model(folder, environment={}).id)


@pytest.mark.req("CFG-5")
def test_session_config_is_checked_again(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    domain = folder / "domain.yml"
    domain.write_text(domain.read_text().replace("false", "true"))
    code = "1: validation.a2a_server.incompatible_session_config: "
    (problem,) = problems_of_model(folder)
    assert problem.startswith(f"{domain}:{code}")
    archive = packed(folder, tmp_path_factory.mktemp("a") / "bank.tar.gz", "bank")
    (problem,) = problems_of_model(archive)
    assert problem.startswith(f"{archive}/domain.yml:{code}")
    assert load_model(folder, environment={}, relax=True).file == folder.name


def test_every_problem_of_an_archive_is_reported(tmp_path: Path) -> None:
    archive = archive_of(
        tmp_path / "bank.tar.gz", domain_yml=b"slots: []\n", data__flows_yml=b"flows: []\n"
    )
    assert len(problems_of_model(archive)) == 3


@pytest.mark.parametrize("content", [b"", b"\x1f\x8b\x08\x00", b"no archive", b"PK\x03\x04"])
def test_file_that_is_not_an_archive_is_a_problem(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "bank.tar.gz"
    file.write_bytes(content)
    assert problems_of_model(file) == [
        f"{file}:0: project.archive: this is not a readable .tar.gz archive; {NAME_A_PROJECT}"
    ]


def test_missing_file_is_a_problem(tmp_path: Path) -> None:
    (problem,) = problems_of_model(tmp_path / "none")
    assert "project.archive" in problem


def test_model_of_rasa_itself_holds_no_project(tmp_path: Path) -> None:
    archive = archive_of(tmp_path / "m.tar.gz", components__config_yml=b"x: 1\n", metadata=b"{}")
    (problem,) = problems_of_model(archive)
    assert problem.endswith(f"it holds no project: there is no domain; {NAME_A_PROJECT}")


def test_nothing_is_written_outside(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    archive = inside / "m.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        member = tarfile.TarInfo("../../../../../../../../" + str(tmp_path / "evil.yml"))
        member.size = 1
        tar.addfile(member, io.BytesIO(b"x"))
    (problem,) = problems_of_model(archive)
    assert "lies outside the archive" in problem
    assert not (tmp_path / "evil.yml").exists()


def test_links_are_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.yml"
    secret.write_text("slots: {a: {type: text}}")
    archive = tmp_path / "m.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        member = tarfile.TarInfo("domain.yml")
        member.type = tarfile.SYMTYPE
        member.linkname = str(secret)
        tar.addfile(member)
    (problem,) = problems_of_model(archive)
    assert "there is no domain" in problem


def test_archive_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    archive = archive_of(tmp_path / "m.tar.gz", domain_yml=b" " * (64 * 1024 * 1024 + 1))
    assert archive.stat().st_size < 1024 * 1024
    (problem,) = problems_of_model(archive)
    assert "its YAML files are larger than" in problem


def test_archive_of_too_many_files_is_refused(tmp_path: Path) -> None:
    archive = tmp_path / "m.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        for number in range(10_001):
            tar.addfile(tarfile.TarInfo(f"{number}.txt"))
    (problem,) = problems_of_model(archive)
    assert "it holds more than" in problem
