"""Saved targets are read back as they were saved, and none holds a secret."""

import json
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.commands import Also, FollowMode, SlotShape, Turn
from inspector.core.requests import read_part
from inspector.core.saved.targets import (
    SavedTarget,
    Targets,
    change_targets,
    decode_turn,
    encode_turn,
    read_targets,
    write_targets,
)
from inspector.errors import UsageError
from inspector.wire.json_values import Json

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
        SavedTarget("https://bank.test/?api_key=hunter2secret"),
        SavedTarget("https://bank.test/card.json?v=1&token=hunter2secret"),
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


words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
pairs = st.dictionaries(words, st.none() | st.booleans() | st.integers() | words, max_size=2)
DATA = read_part('{"kind": "data", "data": {}}')
turns = st.builds(
    Turn,
    text=words,
    slots=st.dictionaries(words, st.integers(), min_size=1, max_size=2),
    slot_shapes=st.sampled_from([(SlotShape.DATA,), (SlotShape.LINE, SlotShape.METADATA)]),
    metadata=pairs,
    parts=st.just(()) | st.just((DATA,)),
    history_length=st.none() | st.integers(0, 5),
    accepted_output_modes=st.just(()) | st.just(("text/plain",)),
    follow=st.sampled_from(FollowMode),
    also=st.frozensets(st.sampled_from(Also)),
    headers=st.just(()) | st.just((("Authorization", "Bearer ${TOKEN}"), ("A2A-Version", "1"))),
)


@given(turns)
@pytest.mark.req("COMP-4")
def test_kept_turn_is_read_back(turn: Turn) -> None:
    kept = json.loads(json.dumps(encode_turn(turn)))
    assert decode_turn(kept) == turn


def test_text_alone_is_kept_as_text() -> None:
    assert encode_turn(Turn("hi", follow=FollowMode.STREAM)) == "hi"
    assert decode_turn("hi", FollowMode.STREAM) == Turn("hi", follow=FollowMode.STREAM)


def test_ids_and_values_that_may_be_secret_are_left_out() -> None:
    turn = Turn("hi", headers=(("X-Key", "hunter2-hunter2"), ("X-Env", "${KEY}")))
    kept = encode_turn(replace(turn, context_id="c-1", message_id="m-1", task_id="t-1"))
    assert kept == {"text": "hi", "headers": [["X-Env", "${KEY}"]], "follow": "blocking"}


def test_raw_body_is_kept() -> None:
    turn = Turn("", raw='{"ä"'.encode(), follow=FollowMode.STREAM)
    assert decode_turn(encode_turn(turn)) == turn


@pytest.mark.parametrize("kept", [None, 1, [], {}, {"follow": 1, "slots": [], "headers": [1]}])
def test_any_json_reads_as_some_turn(kept: Json) -> None:
    assert decode_turn(kept).text == ""
