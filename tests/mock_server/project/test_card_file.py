"""A card that somebody wrote."""

import json
from pathlib import Path

import pytest

from mock_server.errors import Location
from mock_server.project.endpoints import read_card_file
from mock_server.project.findings import Findings

AT = Location("endpoints.yml", 3)
CARD = """\
{
  "name": "Bank",
  "description": "A bank.",
  "version": "7",
  "capabilities": {"streaming": true},
  "defaultInputModes": ["text/plain"],
  "defaultOutputModes": ["text/plain"],
  "skills": [
    {"id": "pay", "name": "Pay", "description": "Pays.", "tags": []},
    {"id": "ask", "name": "Ask", "description": "Asks.", "tags": ["x"]}
  ]
}
"""


def problems_of(path: Path, text: str | bytes) -> list[str]:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    found = Findings()
    assert read_card_file(path, AT, found) is None
    return [f"{Path(p.location.file).name}:{p.location.line}: {p.text}" for p in found.problems]


@pytest.mark.req("CARD-6")
@pytest.mark.parametrize("extra", ["", '"url": "http://elsewhere/",', '"x-own": [1.5, null],'])
def test_card_is_taken_as_it_is(tmp_path: Path, extra: str) -> None:
    text = CARD.replace("{", "{" + extra, 1)
    (tmp_path / "card.json").write_text(text)
    found = Findings()
    assert read_card_file(tmp_path / "card.json", AT, found) == json.loads(text)
    assert found.problems == []


@pytest.mark.req("CARD-6", "CFG-7")
@pytest.mark.parametrize(
    ("wrong", "problems"),
    [
        ("{,}", ["card.json:1: this is not JSON: "]),
        (CARD.replace('"version": "7",', '"version": 7x,'), ["card.json:4: this is not JSON: "]),
        ("[]", ["card.json:1: a card is a JSON object"]),
        pytest.param(
            "[" * 500 + "]" * 500, ["card.json:1: this is not JSON: nested deeper"], id="deep"
        ),
        (b"\xff", ["endpoints.yml:3: agent_card_path: "]),
        (CARD.replace('"version": "7",', ""), ["card.json:1: version: Field required"]),
        (CARD.replace('"tags": []', '"tags": [], "name": 1'), ["card.json:9: skills.0.name: "]),
        (CARD.replace(', "tags": ["x"]', ""), ["card.json:10: skills.1.tags: Field required"]),
        (
            CARD.replace('"7"', "7").replace('{"streaming": true}', "[]"),
            ["card.json:5: capabilities: ", "card.json:4: version: "],
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_line(
    tmp_path: Path, wrong: str | bytes, problems: list[str]
) -> None:
    told = problems_of(tmp_path / "card.json", wrong)
    assert len(told) == len(problems)
    for text, expected in zip(sorted(told), sorted(problems), strict=True):
        assert text.startswith(expected)


@pytest.mark.req("CARD-6")
def test_missing_file_is_told_where_it_is_named(tmp_path: Path) -> None:
    found = Findings()
    assert read_card_file(tmp_path / "card.json", AT, found) is None
    (problem,) = found.problems
    assert problem.location == AT
    assert problem.text.endswith("cannot be read: No such file or directory")
