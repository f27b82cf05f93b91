"""A project folder into an assistant and the settings of its server: the edge of the loader."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from mock_server.dialogue.action_server import ActionServer
from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.language_model import LanguageModel
from mock_server.dialogue.stubs import Stubs
from mock_server.errors import Location, Problem, ProjectError, Severity
from mock_server.faults.fault import Fault
from mock_server.project.action_server import complete
from mock_server.project.assemble import (
    UNREAD,
    Assembled,
    Sources,
    assemble_sources,
    sorted_problems,
)
from mock_server.project.endpoints import A2AServer, read_a2a_server
from mock_server.project.files import read_sources, why_closed
from mock_server.project.findings import Findings
from mock_server.project.model import INCOMPATIBLE_SESSION, Model, check_session, hash_of, model_of
from mock_server.project.nodes import parse

CODE = "validation.a2a_server"
ONLY_A_SERVER_NEEDS = frozenset(
    {
        "config.unset_variable",
        f"{CODE}.missing_description",
        INCOMPATIBLE_SESSION,
        f"{CODE}.incompatible_sanic_workers",
    }
)


@dataclass(frozen=True, slots=True)
class Project:
    """A project as it was at one moment; `content_hash` changes with any of its files.

    `code_hash` changes with the code of its actions.

    `faults` are what `a2a-mock check` reports beside the errors that keep a project from being
    loaded: the assistant runs, and goes wrong on the way. `initial_faults` are what `mock.yml`
    arms against those who call.
    """

    folder: Path
    assistant: Assistant
    stubs: Stubs
    server: A2AServer
    content_hash: str
    code_hash: str = ""
    action_server: ActionServer = field(default_factory=ActionServer)
    language_model: LanguageModel | None = None
    model_file: str | None = None
    model_id: str | None = None
    initial_faults: tuple[Fault, ...] = ()
    faults: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()

    @property
    def model(self) -> Model:
        """What `/status` shows of it."""
        return model_of(self.folder, self.model_file, self.model_id, self.content_hash)


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
    served = _served(
        sources, folder, assembled, asked, environment=environment, description=description
    )
    waived = {f"{CODE}.missing_description", INCOMPATIBLE_SESSION}
    errors = (*found.errors(), *(p for p in asked.errors() if not relax or p.code not in waived))
    if errors:
        raise ProjectError(sorted_problems(errors))
    return _project(folder, sources, assembled, served)


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
    served = _served(sources, folder, assembled, asked, environment=environment)
    if found.errors():
        everything = (*found.problems, *found.faults, *_faults(asked), *asked.warnings())
        raise ProjectError(sorted_problems(everything))
    project = _project(folder, sources, assembled, served)
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
    if why_closed(folder):
        raise ProjectError(found.errors())


def _faults(asked: Findings) -> tuple[Problem, ...]:
    return tuple(p for p in asked.errors() if p.code not in ONLY_A_SERVER_NEEDS)


@dataclass(frozen=True, slots=True)
class _Served:
    server: A2AServer
    action_server: ActionServer


def _served(
    sources: Sources,
    folder: Path,
    assembled: Assembled,
    found: Findings,
    *,
    environment: Mapping[str, str],
    description: str | None = None,
) -> _Served:
    """What `endpoints.yml` says, and what else a server asks of a project (CFG-5, CFG-6)."""
    file = Path(next(iter(sources.endpoints), folder / "endpoints.yml"))
    root = next((parse(name, text, found) for name, text in sources.endpoints.items()), None)
    # What a file that is no YAML lacks is no news.
    met = Findings() if found.count(UNREAD) else found
    server = read_a2a_server(root, file, environment, description, met)
    check_session(sources, assembled, found)
    workers = environment.get("SANIC_WORKERS", "1").strip()
    if workers.isdecimal() and int(workers) > 1:
        text = f"SANIC_WORKERS is {workers}, but conversations are kept in memory"
        mend = "unset it, or set it to 1"
        found.error(Location(str(file), 1), f"{CODE}.incompatible_sanic_workers", text, mend)
    choice = assembled.mock.action_server
    return _Served(
        server, complete(choice, root, file, folder, environment=environment, found=found)
    )


def _project(folder: Path, sources: Sources, assembled: Assembled, served: _Served) -> Project:
    return Project(
        folder=folder,
        assistant=assembled.assistant,
        stubs=assembled.mock.stubs,
        server=served.server,
        content_hash=hash_of(sources, folder),
        code_hash=hash_of(Sources(code=sources.code), folder),
        action_server=served.action_server,
        language_model=assembled.mock.language_model,
        model_file=assembled.mock.model_file,
        model_id=assembled.mock.model_id,
        initial_faults=assembled.mock.faults,
        faults=assembled.faults,
        warnings=assembled.warnings,
    )


def content_hash(folder: Path, *, endpoints: Path | None = None, mock: Path | None = None) -> str:
    """That of the project as its files are now, whether they can be loaded or not."""
    return hash_of(read_sources(folder, Findings(), endpoints=endpoints, mock=mock), folder)
