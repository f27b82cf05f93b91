"""Where a project's custom actions run: `mock.yml: action_server` and `endpoints.yml` together."""

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from mock_server.dialogue.action_server import ActionServer, ActionServerKind
from mock_server.project.findings import Findings
from mock_server.project.nodes import MapNode, Node
from mock_server.project.reading import as_map, as_number, as_text
from mock_server.project.stubs import refuse_unknown_keys
from mock_server.project.variables import expand

KEYS = ("kind", "python", "module", "timeout_seconds")
SCHEMES = ("http://", "https://")
OWN_PYTHON = Path(".venv") / "bin" / "python"


def read_choice(
    node: Node | None, environment: Mapping[str, str], found: Findings
) -> ActionServer | None:
    """`action_server` of mock.yml, a kind or a mapping with one; None if it says nothing."""
    if node is None:
        return None
    node = expand(node, environment, found)
    entries = node if isinstance(node, MapNode) else MapNode(node.location, {"kind": node}, {})
    refuse_unknown_keys(entries, KEYS, found, "action_server")
    get = entries.entries.get
    kind = as_text(get("kind"), found, "kind of action_server")
    seconds = as_number(get("timeout_seconds"), found, "timeout_seconds of action_server")
    if kind is not None and kind not in set(ActionServerKind):
        text = f"action_server: found {kind!r}, expected one of {', '.join(ActionServerKind)}"
        found.error(entries.place("kind"), "mock.choice", text)
        kind = None
    if seconds is not None and not 0 < seconds < float("inf"):
        text = f"timeout_seconds of action_server: found {seconds:g}, expected more than 0"
        found.error(entries.place("timeout_seconds"), "mock.seconds", text)
        seconds = None
    default = ActionServer()
    return ActionServer(
        kind=ActionServerKind(kind or ActionServerKind.STUBS),
        python=as_text(get("python"), found, "python of action_server") or "",
        module=as_text(get("module"), found, "module of action_server") or "",
        timeout_seconds=seconds or default.timeout_seconds,
        location=node.location,
    )


def complete(
    choice: ActionServer | None,
    endpoints: Node | None,
    file: Path,
    folder: Path,
    *,
    environment: Mapping[str, str],
    found: Findings,
) -> ActionServer:
    """What `choice` leaves to endpoints.yml, the `file`: the address, or the module to run."""
    if choice is None or choice.kind is ActionServerKind.STUBS:
        return ActionServer()
    root = as_map(endpoints, found, "endpoints.yml")
    block = root.entries.get("action_endpoint") if root else None
    entries = as_map(block and expand(block, environment, found), found, "action_endpoint")
    get = (entries or MapNode(choice.location, {}, {})).entries.get
    url = as_text(get("url"), found, "action_endpoint.url") or ""
    cafile = as_text(get("cafile"), found, "action_endpoint.cafile")
    module = as_text(get("actions_module"), found, "action_endpoint.actions_module")
    if choice.kind is ActionServerKind.ENDPOINT and not url.startswith(SCHEMES):
        place = entries.place("url") if entries else choice.location
        text = f"action_endpoint.url: found {url!r}, expected an address with http:// or https://"
        mend = "start the project's own actions with `action_server: child`"
        found.error(place, "mock.action_endpoint", text, mend)
    return replace(
        choice,
        url=url,
        cafile=None if cafile is None else str(file.parent / cafile),
        python=_interpreter(choice.python, folder),
        module=choice.module or module or "actions",
        folder=str(folder.resolve()),
    )


def _interpreter(written: str, folder: Path) -> str:
    """A name is looked up on PATH, a path starts at the project; else the project's own `.venv`."""
    if written:
        return str(folder.resolve() / written) if "/" in written else written
    own = folder.resolve() / OWN_PYTHON
    return str(own) if own.exists() else sys.executable
