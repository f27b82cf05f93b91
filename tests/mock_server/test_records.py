from dataclasses import field, replace

from mock_server.records import record


@record
class Point:
    x: int
    labels: tuple[str, ...] = field(default=())


def test_record_is_equal_by_its_fields_and_hashable() -> None:
    assert Point(1) == Point(1, ())
    assert {Point(1), Point(1), Point(2)} == {Point(1), Point(2)}


def test_record_has_slots_only() -> None:
    assert not hasattr(Point(1), "__dict__")


def test_record_can_be_replaced_and_matched() -> None:
    match replace(Point(1), labels=("a",)):
        case Point(x=1, labels=(label,)):
            assert label == "a"
        case other:
            raise AssertionError(other)
