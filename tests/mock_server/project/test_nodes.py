"""YAML 1.2 with places."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_server.dialogue.model import Json
from mock_server.errors import Location
from mock_server.project.findings import Findings
from mock_server.project.nodes import ListNode, MapNode, parse, plain


def value_of(text: str) -> Json:
    found = Findings()
    node = parse("f.yml", text, found)
    assert found.problems == []
    return None if node is None else plain(node)


def problems_of(text: str) -> list[str]:
    found = Findings()
    parse("f.yml", text, found)
    return [str(problem) for problem in found.problems]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", "yes"),
        ("off", "off"),
        ("True", True),
        ("false", False),
        ("~", None),
        ("", None),
        ("12", 12),
        ("-0x1F", -31),
        ("0o17", 15),
        ("017", 17),
        ("1_000", 1000),
        ("1.5", 1.5),
        (".inf", float("inf")),
        ("2025-01-31", "2025-01-31"),
        ("'12'", "12"),
        ("- a\n- {b: 1}", ["a", {"b": 1}]),
        ("1: a", {"1": "a"}),
        (
            "base: &b {x: 1, y: 2}\nnext: {<<: *b, y: 3}",
            {"base": {"x": 1, "y": 2}, "next": {"y": 3, "x": 1}},
        ),
        (
            "a: &l [1]\nb: *l\nc: {<<: [{d: 1}, {e: 2}]}",
            {"a": [1], "b": [1], "c": {"e": 2, "d": 1}},
        ),
    ],
)
def test_values_are_those_of_yaml_1_2(text: str, value: Json):
    assert value_of(text) == value


def test_nodes_know_their_lines():
    found = Findings()
    node = parse("f.yml", "a: 1\nb:\n  - x\n  - y\n", found)
    assert isinstance(node, MapNode)
    assert node.place("b") == Location("f.yml", 2)
    assert node.place("absent") == Location("f.yml", 1)
    items = node.entries["b"]
    assert isinstance(items, ListNode)
    assert [item.location.line for item in items.items] == [3, 4]


def test_duplicate_key_names_both_places():
    (problem,) = problems_of("a: 1\nb: 2\na: 3\n")
    assert problem == (
        "f.yml:3: yaml.duplicate_key: key 'a' occurs twice; first at f.yml:1; remove one of the two"
    )


@pytest.mark.parametrize(
    ("text", "place", "code"),
    [
        ("a: [1\nb: 2\n", "f.yml:2", "yaml.syntax"),
        ("a: 1\n\tb: 2\n", "f.yml:2", "yaml.syntax"),
        ("a: 1\n---\nb: 2\n", "f.yml:2", "yaml.syntax"),
        ("a: *missing\n", "f.yml:1", "yaml.syntax"),
        ("a: 1\nb: \x07\n", "f.yml:2", "yaml.syntax"),
        ("a: 1\nb: !mine x\n", "f.yml:2", "yaml.tag"),
        ("a: !!python/name:os.system\n", "f.yml:1", "yaml.tag"),
        ("a: 1\nb:\n  <<: text\n", "f.yml:3", "yaml.merge"),
        ("b:\n  <<: [{a: 1}, text]\n", "f.yml:2", "yaml.merge"),
        pytest.param("[" * 1200, "f.yml:1", "yaml.depth", id="very deep"),
        pytest.param(f"a: 1\nb: {'[' * 220}{']' * 220}\n", "f.yml:2", "yaml.depth", id="deep"),
        ("{a}: 1\n", "f.yml:1", "yaml.key"),
        ("a: &x [*x]\n", "f.yml:1", "yaml.alias"),
    ],
)
def test_bad_yaml_is_a_finding_with_its_line(text: str, place: str, code: str):
    (problem,) = problems_of(text)
    assert problem.startswith(f"{place}: {code}: ")


@pytest.mark.req("CFG-7")
@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("a:\n\tb: 2\n", "indent with blanks, not with tabs"),
        ("a: *missing\n", "write the anchor, &name, before the alias"),
        ("a: 1\n---\nb: 2\n", "what follows --- goes into another"),
        ("a: b: c\n", "put a text with a colon in it in quotes"),
    ],
)
def test_bad_yaml_comes_with_what_to_do(text: str, fix: str):
    (problem,) = problems_of(text)
    assert problem.endswith(fix)


def test_aliases_cannot_blow_up():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    (problem,) = problems_of("\n".join(lines))
    assert "yaml.size" in problem


@given(st.text())
def test_any_text_is_read_or_reported(text: str):
    found = Findings()
    node = parse("f.yml", text, found)
    assert node is None or not found.problems or all(p.location.file for p in found.problems)
