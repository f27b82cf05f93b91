"""Rasa's defaults: patterns, their responses and slots (flows.md §6)."""

from dataclasses import replace
from functools import cache
from importlib.resources import files

from mock_server.dialogue.assistant import Assistant
from mock_server.errors import ProjectError
from mock_server.project.domain import read_domain
from mock_server.project.findings import Findings
from mock_server.project.flows import read_flows
from mock_server.project.nodes import Node, parse

SHARED = "shared"
LATEST = "3.16"


@cache
def builtin(profile: str) -> Assistant:
    """The patterns, slots and responses of Rasa `profile`, of `mock.yml: patterns_profile`."""
    found = Findings()
    domain = read_domain({"domain.yml": _root(SHARED, "domain.yml", found)}, found)
    slots = {name: replace(slot, is_builtin=True) for name, slot in domain.slots.items()}
    roots = {folder: _root(folder, "flows.yml", found) for folder in (SHARED, profile)}
    flows = read_flows(roots, slots, found).flows
    if found.errors():
        raise ProjectError(found.errors())
    return Assistant(flows=flows, slots=slots, responses=domain.responses)


def _root(folder: str, file: str, found: Findings) -> Node | None:
    name = f"patterns/{folder}/{file}"
    resource = files("mock_server.project").joinpath(name)
    return parse(name, resource.read_text(encoding="utf-8"), found)
