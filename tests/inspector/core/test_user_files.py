"""What the user names is read to its end, if it has one."""

import io
from pathlib import Path

import pytest

from inspector.core.user_files import read_to_end, read_user_file
from inspector.errors import UsageError


def test_content_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"a\0b")
    assert read_user_file(tmp_path / "file", "--raw file") == b"a\0b"


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--raw x: No such file or directory"):
        read_user_file(tmp_path / "none", "--raw x")
    with pytest.raises(UsageError, match="--raw x: Is a directory"):
        read_user_file(tmp_path, "--raw x")


def test_what_does_not_end_is_refused() -> None:
    assert read_to_end(io.BytesIO(b"1234"), "stdin", most_bytes=4) == b"1234"
    with pytest.raises(UsageError, match="stdin: more than 4 bytes"):
        read_to_end(io.BytesIO(b"12345"), "stdin", most_bytes=4)
