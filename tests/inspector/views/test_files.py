"""Files among parts, in both spellings, named so that they can be kept on this machine."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.views.files import FilePart, files_in
from inspector.wire.json_values import Json
from inspector.wire.v0_3 import read_result


@pytest.mark.req("DATA-2")
@pytest.mark.parametrize(
    ("part", "file"),
    [
        (
            {"kind": "file", "file": {"name": "a.png", "mimeType": "image/png", "bytes": "AAEC"}},
            FilePart("a.png", "image/png", "AAEC"),
        ),
        (
            {"kind": "file", "file": {"uri": "https://x/a"}},
            FilePart("unnamed", "type unknown", uri="https://x/a"),
        ),
        (
            {"raw": "AA==", "filename": "b", "mediaType": "text/plain"},
            FilePart("b", "text/plain", "AA=="),
        ),
        ({"url": "https://x/c", "filename": "c"}, FilePart("c", "type unknown", uri="https://x/c")),
        ({"kind": "text", "text": "no file"}, None),
        ({"kind": "file", "file": 3}, None),
        (None, None),
    ],
)
def test_file_is_known_in_both_spellings(part: Json, file: FilePart | None) -> None:
    message: Json = {"kind": "message", "parts": [part]}
    assert list(files_in(read_result(message).parts)) == ([] if file is None else [file])


@pytest.mark.req("DATA-2")
@given(st.binary(max_size=100))
def test_size_is_that_of_the_content(content: bytes) -> None:
    file = FilePart("f", "", base64.b64encode(content).decode())
    assert file.content() == content
    assert file.size_bytes == len(content)


def test_content_that_is_no_base64_is_said() -> None:
    with pytest.raises(ValueError, match="the file 'f' is not Base64"):
        FilePart("f", "", "###").content()


@pytest.mark.req("DATA-2", "TUI-5")
@given(st.text(max_size=40))
def test_name_for_this_machine_leads_nowhere_else(name: str) -> None:
    safe = FilePart(name, "").safe_name
    assert safe
    assert safe.isascii()
    assert "/" not in safe
    assert not safe.startswith(".")


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\x\\y.txt", "y.txt"),
        (".bashrc", "bashrc"),
        ("", "unnamed"),
    ],
)
def test_safe_name_of(name: str, safe: str) -> None:
    assert FilePart(name, "").safe_name == safe
