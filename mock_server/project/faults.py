"""`mock.yml: faults`: what is armed at the start, in the objects that the admin API takes."""

from mock_server.errors import Location
from mock_server.faults.fault import Fault, Path, read_fault
from mock_server.project.findings import Findings
from mock_server.project.nodes import MapNode, Node, plain
from mock_server.project.reading import as_items

REFERENCE = "see docs/reference/faults.md"


def read_faults(node: Node | None, found: Findings) -> tuple[Fault, ...]:
    """The faults in the order in which they are armed."""
    faults: list[Fault] = []
    for item in as_items(node, found, "faults"):
        fault = read_fault(plain(item))
        if isinstance(fault, Fault):
            _refuse_second(fault, faults, item.location, found)
            faults.append(fault)
        else:
            for problem in fault:
                place = _place(item, problem.path)
                found.error(place, "mock.fault", f"a fault: {problem}", REFERENCE)
    return tuple(faults)


def _refuse_second(fault: Fault, before: list[Fault], at: Location, found: Findings) -> None:
    if fault.id is not None and fault.id in {other.id for other in before}:
        text = f"a second fault has the id {fault.id!r}"
        found.error(at, "mock.fault", text, "give each an id of its own, or none")


def _place(node: Node, path: Path) -> Location:
    """Where `path` leads, as far as there is something."""
    place = node.location
    for step in path:
        match node:
            case MapNode(entries=entries) if isinstance(step, str) and step in entries:
                place, node = node.place(step), entries[step]
            case _:
                break
    return place
