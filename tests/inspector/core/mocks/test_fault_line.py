"""Faults written as a line, and what is tried where the mock has no default."""

import pytest

from inspector.core.mock_client import parse, spell, suggest
from inspector.errors import UsageError
from inspector.wire.json_values import Json
from inspector.wire.mock_admin import FaultKind, Parameter

DELAY = FaultKind(
    "delay",
    "Waits.",
    (
        Parameter("seconds", "number", "so long", is_required=True),
        Parameter("when", "string", "before or after", "before"),
        Parameter("body", "string", "of the answer"),
    ),
)
STATE = FaultKind("task_state", "", (Parameter("state", "string", "", None, True, ("a", "b")),))
OTHERS = FaultKind(
    "other",
    "",
    (Parameter("times", "integer", "", None, True), Parameter("x", "any", "", None, True)),
)
KINDS = (DELAY, STATE, OTHERS)


@pytest.mark.parametrize(
    ("kind", "effect"),
    [
        (DELAY, {"kind": "delay", "seconds": 2}),
        (STATE, {"kind": "task_state", "state": "a"}),
        (OTHERS, {"kind": "other", "times": 1, "x": "x"}),
    ],
)
def test_required_parameters_are_suggested(kind: FaultKind, effect: dict[str, Json]) -> None:
    assert suggest(kind) == {"effect": effect, "count": 1}
    assert suggest(kind, count=None) == {"effect": effect}


@pytest.mark.parametrize("kind", KINDS)
def test_suggestion_is_read_back_as_it_was_spelt(kind: FaultKind) -> None:
    spelt = spell(suggest(kind), kind)
    assert spell(parse(spelt, KINDS), kind) == spelt


def test_line_shows_the_defaults() -> None:
    assert spell(suggest(DELAY), DELAY) == "delay seconds=2 when=before count=1"
    assert spell({}, DELAY) == "delay when=before"


def test_values_are_json_or_text_and_match_has_its_criteria() -> None:
    fault = parse("delay seconds=0.5 when='after all' probability=0.1 match.text=^a", KINDS)
    assert fault == {
        "effect": {"kind": "delay", "seconds": 0.5, "when": "after all"},
        "probability": 0.1,
        "match": {"text": "^a"},
    }


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("nap", "no fault 'nap'"),
        ("", "no fault ''"),
        ("delay 2", "'2' is not NAME=VALUE"),
        ("delay often=1", "has no 'often'"),
        ("delay when='x", "No closing quotation"),
    ],
)
def test_line_that_is_no_fault_is_refused(line: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        parse(line, KINDS)
