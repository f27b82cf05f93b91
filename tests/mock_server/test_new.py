"""`a2a-mock new`."""

import json
from pathlib import Path

import pytest

from mock_server.cli import main
from mock_server.new import template


@pytest.mark.parametrize("name", ["minimal", "bank"])
def test_new_project_passes_check_and_test(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "deep" / "mine"
    assert main(["new", str(folder), "--template", name]) == 0
    *files, next_steps = capsys.readouterr().out.splitlines()
    assert str(folder / "domain.yml") in files or str(folder / "domain" / "session.yml") in files
    assert not [file for file in files if file.endswith("README.md")]
    assert next_steps == f"next: a2a-mock check {folder}, a2a-mock test {folder}"
    assert main(["check", str(folder)]) == 0
    assert capsys.readouterr().out == "no problems\n"
    assert main(["test", str(folder)]) == 0
    assert " 0 failed, 0 skipped" in capsys.readouterr().out


def test_editors_find_the_schema_of_the_new_mock_file(tmp_path: Path) -> None:
    assert main(["new", str(tmp_path), "--template", "bank"]) == 0
    head = (tmp_path / "mock.yml").read_text(encoding="utf-8").splitlines()[1]
    assert head == "# yaml-language-server: $schema=mock.schema.json"
    schema = json.loads((tmp_path / "mock.schema.json").read_text(encoding="utf-8"))
    assert schema["title"] == "mock.yml of a2a-mock"


def test_empty_directory_is_filled(tmp_path: Path) -> None:
    assert main(["new", str(tmp_path)]) == 0
    copied = {f.relative_to(tmp_path) for f in tmp_path.rglob("*") if f.is_file()}
    source = template("minimal")
    assert copied == {
        f.relative_to(source) for f in source.rglob("*") if f.is_file() and f.name != "README.md"
    }


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_nothing_is_overwritten(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "mine"
    if kind == "folder":
        target.mkdir()
    file = target / "kept" if kind == "folder" else target
    file.write_text("mine")
    assert main(["new", str(target)]) == 1
    assert file.read_text() == "mine"
    assert capsys.readouterr().err == (
        f"{target}: this is not an empty directory; name one that is empty or new\n"
    )


def test_place_that_cannot_be_written_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert main(["new", str(tmp_path / "file" / "mine")]) == 1
    assert "this cannot be written: " in capsys.readouterr().err
