"""Another project or archive, as `PUT /model` loads it."""

import io
import tarfile
from pathlib import Path

import pytest

from mock_server.errors import ProjectError
from mock_server.project.load import Model, load_model, load_project

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


def problems_of(path: Path) -> list[str]:
    with pytest.raises(ProjectError) as caught:
        load_model(path, environment={})
    return [str(problem) for problem in caught.value.problems]


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
    (problem,) = problems_of(folder)
    assert problem.startswith(f"{domain}:{code}")
    archive = packed(folder, tmp_path_factory.mktemp("a") / "bank.tar.gz", "bank")
    (problem,) = problems_of(archive)
    assert problem.startswith(f"{archive}/domain.yml:{code}")
    assert load_model(folder, environment={}, relax=True).file == folder.name


def test_every_problem_of_an_archive_is_told(tmp_path: Path) -> None:
    archive = archive_of(
        tmp_path / "bank.tar.gz", domain_yml=b"slots: []\n", data__flows_yml=b"flows: []\n"
    )
    assert len(problems_of(archive)) == 3


@pytest.mark.parametrize("content", [b"", b"\x1f\x8b\x08\x00", b"no archive", b"PK\x03\x04"])
def test_file_that_is_no_archive_is_a_problem(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "bank.tar.gz"
    file.write_bytes(content)
    assert problems_of(file) == [
        f"{file}:0: project.archive: this is no .tar.gz archive that can be read"
    ]


def test_missing_file_is_a_problem(tmp_path: Path) -> None:
    (problem,) = problems_of(tmp_path / "none")
    assert "project.archive" in problem


def test_model_of_rasa_itself_holds_no_project(tmp_path: Path) -> None:
    archive = archive_of(tmp_path / "m.tar.gz", components__config_yml=b"x: 1\n", metadata=b"{}")
    (problem,) = problems_of(archive)
    assert problem.endswith("it holds no project: there is no domain")


def test_nothing_is_written_outside(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    archive = inside / "m.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        member = tarfile.TarInfo("../../../../../../../../" + str(tmp_path / "evil.yml"))
        member.size = 1
        tar.addfile(member, io.BytesIO(b"x"))
    (problem,) = problems_of(archive)
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
    (problem,) = problems_of(archive)
    assert problem.endswith("there is no domain")


def test_archive_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    archive = archive_of(tmp_path / "m.tar.gz", domain_yml=b" " * (64 * 1024 * 1024 + 1))
    assert archive.stat().st_size < 1024 * 1024
    (problem,) = problems_of(archive)
    assert "its YAML files are larger than" in problem


def test_archive_of_too_many_files_is_refused(tmp_path: Path) -> None:
    archive = tmp_path / "m.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        for number in range(10_001):
            tar.addfile(tarfile.TarInfo(f"{number}.txt"))
    (problem,) = problems_of(archive)
    assert "it holds more than" in problem
