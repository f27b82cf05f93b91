"""The slots of an assistant's domain."""

from pathlib import Path

import pytest

from inspector.core.project import DomainSlot, has_domain, read_slot_domain
from inspector.errors import UsageError

BANK = Path(__file__).parents[3] / "examples" / "bank"


@pytest.mark.req("COMP-1a")
def test_slots_of_a_folder_of_domain_files() -> None:
    slots = read_slot_domain(BANK)
    assert slots["account"] == DomainSlot("categorical", ("checking", "savings"))
    assert slots["amount"] == DomainSlot("float")


def test_values_are_the_words_that_the_file_has(tmp_path: Path) -> None:
    domain = "slots:\n  a:\n    type: categorical\n    values: [yes, 1, x]\n  b: {}\n  [1]: x\n"
    tmp_path.joinpath("domain.yml").write_text(domain)
    slots = read_slot_domain(tmp_path)
    assert slots == {"a": DomainSlot("categorical", ("yes", "1", "x")), "b": DomainSlot("any")}


def test_saved_domain_is_read_anew(tmp_path: Path) -> None:
    file = tmp_path / "domain.yml"
    file.write_text("slots: {a: {type: bool}}")
    assert set(read_slot_domain(tmp_path)) == {"a"}
    file.write_text("slots: {ab: {type: bool}}")
    assert set(read_slot_domain(tmp_path)) == {"ab"}


@pytest.mark.parametrize("content", ["", "[1]", "slots: 1", "slots: {a: 1}"])
def test_domain_without_slots_has_none_to_tell(content: str, tmp_path: Path) -> None:
    tmp_path.joinpath("domain.yml").write_text(content)
    assert all(slot.type == "any" for slot in read_slot_domain(tmp_path).values())


@pytest.mark.parametrize(
    "content", [b"slots: [", b"\xff\xfe\x00", pytest.param(b"[" * 1200, id="deep")]
)
def test_domain_that_is_no_yaml_is_told_with_its_file(content: bytes, tmp_path: Path) -> None:
    tmp_path.joinpath("domain.yml").write_bytes(content)
    with pytest.raises(UsageError, match=r"domain\.yml"):
        read_slot_domain(tmp_path)


def test_folder_without_a_domain_is_no_project(tmp_path: Path) -> None:
    assert not has_domain(tmp_path)
    with pytest.raises(UsageError, match=r"no domain\.yml"):
        read_slot_domain(tmp_path)
