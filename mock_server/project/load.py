"""A project folder into an assistant and the settings of its server: the edge of the loader."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from mock_server.dialogue.model import Assistant
from mock_server.dialogue.stubs import Stubs
from mock_server.errors import Location, Problem, ProjectError, Severity
from mock_server.faults.fault import Fault
from mock_server.project.assemble import Assembled, Sources, assemble_sources, sorted_problems
from mock_server.project.domain import is_session_kept
from mock_server.project.endpoints import A2AServer, read_a2a_server
from mock_server.project.files import read_sources
from mock_server.project.findings import Findings
from mock_server.project.nodes import parse

CODE = "validation.a2a_server"
SESSION_MEND = (
    'add to the domain "session_config: {start_session_after_expiry: false}", or start with --relax'
)
ONLY_A_SERVER_NEEDS = frozenset(
    {
        "config.unset_variable",
        f"{CODE}.missing_description",
        f"{CODE}.incompatible_session_config",
        f"{CODE}.incompatible_sanic_workers",
    }
)


@dataclass(frozen=True, slots=True)
class Project:
    """A project as it was at one moment; `content_hash` changes with any of its files.

    `faults` are what `a2a-mock check` reports beside the errors that keep a project from being
    loaded: the assistant runs, and goes wrong on the way. `initial_faults` are what `mock.yml`
    arms against those who call.
    """

    folder: Path
    assistant: Assistant
    stubs: Stubs
    server: A2AServer
    content_hash: str
    model_file: str | None = None
    model_id: str | None = None
    initial_faults: tuple[Fault, ...] = ()
    faults: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()


def load_project(
    folder: Path,
    *,
    environment: Mapping[str, str],
    description: str | None = None,
    relax: bool = False,
    endpoints: Path | None = None,
    mock: Path | None = None,
) -> Project:
    """The project, as a server needs it.

    `description` supplies that of `a2a_server` alone; `relax` supplies a description and a
    session_config to a project that has none (server.md CFG-5a).

    Raises:
        ProjectError: with every problem that keeps it from being served.
    """
    found = Findings()
    sources = read_sources(folder, found, endpoints=endpoints, mock=mock)
    _raise_if_unreadable(folder, found)
    assembled = assemble_sources(sources, environment, found)
    asked = Findings()
    server = _server(
        sources, folder, assembled, asked, environment=environment, description=description
    )
    waived = {f"{CODE}.missing_description", f"{CODE}.incompatible_session_config"}
    errors = (*found.errors(), *(p for p in asked.errors() if not relax or p.code not in waived))
    if errors:
        raise ProjectError(sorted_problems(errors))
    return _project(folder, sources, assembled, server)


def load_assistant(
    folder: Path, *, environment: Mapping[str, str], mock: Path | None = None
) -> Project:
    """The project, as `check` and `talk` need it: what only a server asks for is a warning.

    Raises:
        ProjectError: something keeps it from being loaded; with all problems, also the lesser.
    """
    found = Findings()
    sources = read_sources(folder, found, mock=mock)
    _raise_if_unreadable(folder, found)
    assembled = assemble_sources(sources, environment, found)
    asked = Findings()
    server = _server(sources, folder, assembled, asked, environment=environment)
    if found.errors():
        everything = (*found.problems, *found.faults, *_faults(asked), *asked.warnings())
        raise ProjectError(sorted_problems(everything))
    project = _project(folder, sources, assembled, server)
    needed = (
        replace(problem, severity=Severity.WARNING)
        for problem in asked.errors()
        if problem.code in ONLY_A_SERVER_NEEDS
    )
    return replace(
        project,
        faults=sorted_problems((*project.faults, *_faults(asked))),
        warnings=sorted_problems((*project.warnings, *asked.warnings(), *needed)),
    )


def _raise_if_unreadable(folder: Path, found: Findings) -> None:
    """Where nothing could be read, what the files lack is no news."""
    if not folder.is_dir():
        raise ProjectError(found.errors())


def _faults(asked: Findings) -> tuple[Problem, ...]:
    return tuple(p for p in asked.errors() if p.code not in ONLY_A_SERVER_NEEDS)


def _server(
    sources: Sources,
    folder: Path,
    assembled: Assembled,
    found: Findings,
    *,
    environment: Mapping[str, str],
    description: str | None = None,
) -> A2AServer:
    """What `endpoints.yml` says, and what else a server asks of a project (CFG-5, CFG-6)."""
    file = Path(next(iter(sources.endpoints), folder / "endpoints.yml"))
    root = next((parse(name, text, found) for name, text in sources.endpoints.items()), None)
    server = read_a2a_server(root, file, environment, description, found)
    domain = assembled.domain
    if not is_session_kept(domain):
        place = domain.session_place or Location(next(iter(sources.domain), str(folder)), 1)
        text = "session_config.start_session_after_expiry is not false, which it must be for A2A"
        found.error(place, f"{CODE}.incompatible_session_config", text, SESSION_MEND)
    workers = environment.get("SANIC_WORKERS", "1")
    if workers.isdecimal() and int(workers) > 1:
        text = f"SANIC_WORKERS is {workers}, but conversations are kept in memory"
        mend = "unset it, or set it to 1"
        found.error(Location(str(file), 1), f"{CODE}.incompatible_sanic_workers", text, mend)
    return server


def _project(folder: Path, sources: Sources, assembled: Assembled, server: A2AServer) -> Project:
    return Project(
        folder=folder,
        assistant=assembled.assistant,
        stubs=assembled.mock.stubs,
        server=server,
        content_hash=_content_hash(sources, folder),
        model_file=assembled.mock.model_file,
        model_id=assembled.mock.model_id,
        initial_faults=assembled.mock.faults,
        faults=assembled.faults,
        warnings=assembled.warnings,
    )


def content_hash(folder: Path, *, endpoints: Path | None = None, mock: Path | None = None) -> str:
    """That of the project as its files are now, whether they can be loaded or not."""
    return _content_hash(read_sources(folder, Findings(), endpoints=endpoints, mock=mock), folder)


def _content_hash(sources: Sources, folder: Path) -> str:
    """A hash of names and texts, the same wherever the folder lies."""
    texts = {
        **sources.domain, **sources.flows, **sources.config, **sources.endpoints, **sources.mock,
        **sources.code,
    }  # fmt: skip
    digest = hashlib.sha256()
    for name, text in sorted(texts.items()):
        for part in (os.path.relpath(name, folder), text):
            digest.update(part.encode())
            digest.update(b"\0")
    return digest.hexdigest()[:32]
