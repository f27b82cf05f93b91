"""What the commands print is written as it is read, and never held whole."""

import json
from collections.abc import Iterator

import pytest

from inspector.headless.terminal import Written, print_json, print_lines


def test_json_is_written_piece_by_piece(capsys: pytest.CaptureFixture[str]) -> None:
    written: list[str] = []

    def parts() -> Iterator[Written]:
        for number in range(3):
            written.append(f"part {number}")
            yield {"text": "é", "number": number, "more": {"a": [1]}}

    artifacts: list[Written] = [{"artifactId": "a", "parts": parts()}]
    print_json({"before": None, "artifacts": iter(artifacts), "none": iter(()), "after": {}})
    printed = capsys.readouterr().out
    assert written == ["part 0", "part 1", "part 2"]
    whole = [{"text": "é", "number": number, "more": {"a": [1]}} for number in range(3)]
    expected: dict[str, object] = {
        "before": None,
        "artifacts": [{"artifactId": "a", "parts": whole}],
        "none": [],
        "after": {},
    }
    assert printed == f"{json.dumps(expected)}\n"


def test_lines_are_printed_as_they_come(capsys: pytest.CaptureFixture[str]) -> None:
    def lines() -> Iterator[str]:
        yield "one"
        yield "two"

    print_lines(lines())
    assert capsys.readouterr().out == "one\ntwo\n"
