"""Saved targets are read back as they were saved, and none holds a secret."""

import sys
import threading
from pathlib import Path

import pytest

from inspector.core.saved.targets import (
    SavedTarget,
    Targets,
    change_targets,
    read_targets,
    write_targets,
)
from inspector.errors import UsageError

BANK = SavedTarget("https://bank.test", {"token_env": "BANK", "header": ["X-Key: ${KEY}"]})


@pytest.mark.req("CONN-1", "COMP-4")
def test_file_gives_back_what_was_saved(tmp_path: Path) -> None:
    path = tmp_path / "config" / "targets.json"
    assert read_targets(path) == Targets()
    targets = (
        Targets()
        .with_target("bank", BANK)
        .with_slot_set("bank", "joe", {"amount": 50})
        .with_snippet("http://127.0.0.1:1", "greeting", "hello\n")
    )
    write_targets(path, targets)
    assert read_targets(path) == targets
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert [one.name for one in path.parent.iterdir()] == ["targets.json"]


@pytest.mark.req("COMP-4")
def test_what_is_kept_for_a_target_is_forgotten_by_name() -> None:
    targets = Targets().with_slot_set("a", "one", {"x": 1}).with_slot_set("a", "two", {})
    targets = targets.with_snippet("a", "hi", "hello")
    assert targets.slot_sets("a") == {"one": {"x": 1}, "two": {}}
    assert targets.with_slot_set("a", "one", None).slot_sets("a") == {"two": {}}
    assert targets.with_snippet("a", "hi", None).all_snippets == {}
    assert targets.slot_sets("b") == targets.snippets("b") == {}


def test_removed_target_takes_along_what_was_kept_for_it() -> None:
    targets = Targets().with_target("bank", BANK).with_snippet("bank", "hi", "hello")
    assert targets.without_target("bank") == Targets()


@pytest.mark.parametrize("name", ["", "a b", "http://x", "-x", "a/b", "x" * 65])
def test_name_that_could_be_something_else_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="cannot be a target's name"):
        Targets().with_target(name, BANK)


@pytest.mark.req("CONN-3")
@pytest.mark.parametrize(
    "target",
    [
        SavedTarget("https://joe:hunter2secret@bank.test"),
        SavedTarget("https://bank.test", {"header": ["X-Key: hunter2secret"]}),
        SavedTarget("https://bank.test", {"header": ["X-Key: hunter2secret${NOTHING}"]}),
    ],
)
def test_secret_is_refused_and_not_repeated(target: SavedTarget) -> None:
    with pytest.raises(UsageError) as caught:
        Targets().with_target("bank", target)
    assert "hunter2secret" not in str(caught.value)


@pytest.mark.skipif(sys.platform == "win32", reason="folders are not locked there")
def test_two_that_save_at_once_take_nothing_from_each_other(tmp_path: Path) -> None:
    path = tmp_path / "targets.json"
    other = threading.Thread(
        target=lambda: change_targets(path, lambda now: now.with_target("other", BANK))
    )

    def change(targets: Targets) -> Targets:
        other.start()
        other.join(0.05)
        return targets.with_target("bank", BANK)

    change_targets(path, change)
    other.join()
    assert set(read_targets(path).saved) == {"bank", "other"}


@pytest.mark.parametrize(("content", "told"), [(b"{", "not JSON"), (b"[]", "no JSON object")])
def test_file_that_is_broken_is_told(tmp_path: Path, content: bytes, told: str) -> None:
    path = tmp_path / "targets.json"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=told):
        read_targets(path)


def test_system_that_refuses_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"targets\.json"):
        write_targets(tmp_path / "file" / "targets.json", Targets())
    with pytest.raises(UsageError, match="Is a directory"):
        read_targets(tmp_path)
