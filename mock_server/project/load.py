"""Loads a project's files as an assistant and its server's settings; reports all problems."""

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from mock_server.dialogue.actions import DEFAULT_ACTIONS
from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.model import Slot
from mock_server.dialogue.outside import ActionServer, action_of
from mock_server.errors import Location, Problem, ProjectError, Severity
from mock_server.project.agents import read_agents, with_agents
from mock_server.project.builtin import builtin
from mock_server.project.checks.flows import (
    check_code,
    check_duplicates,
    check_paths,
    check_usage,
    lint,
)
from mock_server.project.checks.names import check_mentions
from mock_server.project.domain import Domain, read_domain
from mock_server.project.endpoints import A2AServer, read_a2a_server, read_action_server
from mock_server.project.files import Sources, read_sources, sources_of, unpacked, why_unreadable
from mock_server.project.findings import Findings
from mock_server.project.flows import read_flows
from mock_server.project.mock_file import MockFile, ModelEntry, read_mock_file
from mock_server.project.nodes import MapNode, Node, as_text, fields_of, parse

UNREAD = frozenset(
    {
        "project.encoding", "project.no_domain", "project.no_flows", "project.unreadable",
        "yaml.depth", "yaml.size", "yaml.syntax",
    }
)  # fmt: skip
CLARIFY_VARIABLE = "CLARIFY_ON_MULTIPLE_START_FLOWS"
CODE = "validation.a2a_server"
INCOMPATIBLE_SESSION = f"{CODE}.incompatible_session_config"
SESSION_FIX = (
    'add to the domain "session_config: {start_session_after_expiry: false}", or start with --relax'
)
ONLY_A_SERVER_NEEDS = frozenset(
    {
        "config.unset_variable",
        f"{CODE}.missing_description",
        INCOMPATIBLE_SESSION,
        f"{CODE}.incompatible_sanic_workers",
    }
)


@dataclass(frozen=True, slots=True)
class Model:
    """The model that `/status` names: that of `mock.yml`, else the project's name and hash."""

    file: str
    id: str


@dataclass(frozen=True, slots=True)
class Project:
    """A project as it was at one moment; `content_hash` changes with any of its files.

    `code_hash` changes with the code of its actions. `faults` are what `a2a-mock check` reports
    beside the errors that keep a project from being loaded: the assistant runs, and goes wrong on
    the way.
    """

    folder: Path
    assistant: Assistant
    mock: MockFile
    server: A2AServer
    action_server: ActionServer
    content_hash: str
    code_hash: str
    faults: tuple[Problem, ...]
    warnings: tuple[Problem, ...]

    @property
    def model(self) -> Model:
        """The model that `/status` names."""
        return _model(self.folder, self.mock, self.content_hash)


@dataclass(frozen=True, slots=True)
class Assembled:
    """All files but `endpoints.yml`, read and put together."""

    assistant: Assistant
    domain: Domain
    mock: MockFile


@dataclass(frozen=True, slots=True)
class _Reading:
    """A project, with what is wrong with it, and what else a server asks of it."""

    project: Project
    found: Findings
    asked: Findings


def load_project(
    folder: Path,
    *,
    environment: Mapping[str, str],
    description: str | None = None,
    relax: bool = False,
    endpoints: Path | None = None,
    mock: Path | None = None,
) -> Project:
    """Load a project for a server.

    `description` supplies that of `a2a_server` alone; `relax` supplies a description and a
    session_config to a project that has none (server.md CFG-5a).

    Raises:
        ProjectError: with every problem that keeps it from being served.
    """
    read = _read(folder, environment, description=description, endpoints=endpoints, mock=mock)
    waived = {f"{CODE}.missing_description", INCOMPATIBLE_SESSION} if relax else set[str]()
    errors = (*read.found.errors(), *(p for p in read.asked.errors() if p.code not in waived))
    if errors:
        raise ProjectError(sorted_problems(errors))
    return read.project


def load_assistant(
    folder: Path, *, environment: Mapping[str, str], mock: Path | None = None
) -> Project:
    """Load a project for `check` and `talk`: what only a server needs is a warning.

    Raises:
        ProjectError: something keeps it from being loaded; with all problems, also the lesser.
    """
    read = _read(folder, environment, mock=mock)
    project, found, asked = read.project, read.found, read.asked
    needed = [p for p in asked.errors() if p.code in ONLY_A_SERVER_NEEDS]
    wrong = [p for p in asked.errors() if p.code not in ONLY_A_SERVER_NEEDS]
    if found.errors():
        raise ProjectError(
            sorted_problems((*found.problems, *found.faults, *wrong, *asked.warnings()))
        )
    lesser = (replace(problem, severity=Severity.WARNING) for problem in needed)
    return replace(
        project,
        faults=sorted_problems((*project.faults, *wrong)),
        warnings=sorted_problems((*project.warnings, *asked.warnings(), *lesser)),
    )


def _read(
    folder: Path,
    environment: Mapping[str, str],
    *,
    description: str | None = None,
    endpoints: Path | None = None,
    mock: Path | None = None,
) -> _Reading:
    found, asked = Findings(), Findings()
    sources = read_sources(folder, found, endpoints=endpoints, mock=mock)
    if why_unreadable(folder):
        # Without any file that could be read, do not report what the files lack.
        raise ProjectError(found.errors())
    assembled = assemble_sources(sources, environment, found)
    file = Path(next(iter(sources.endpoints), folder / "endpoints.yml"))
    root = _only(sources.endpoints, asked)
    # Nothing is missing from a file that is not YAML.
    met = Findings() if asked.count(UNREAD) else asked
    server = read_a2a_server(root, file, environment, description, met)
    _check_session(sources, assembled, asked)
    _check_workers(file, environment, asked)
    project = Project(
        folder=folder,
        assistant=assembled.assistant,
        mock=assembled.mock,
        server=server,
        action_server=read_action_server(
            assembled.mock.settings, root, file, folder, environment=environment, found=asked
        ),
        content_hash=_hash(sources.all(), folder),
        code_hash=_hash(sources.code, folder),
        faults=sorted_problems(found.faults),
        warnings=sorted_problems(found.warnings()),
    )
    return _Reading(project, found, asked)


def _check_workers(file: Path, environment: Mapping[str, str], found: Findings) -> None:
    """Report several workers (CFG-6): each would have conversations of its own."""
    workers = environment.get("SANIC_WORKERS", "1").strip()
    if workers.isdecimal() and int(workers) > 1:
        text = f"SANIC_WORKERS is {workers}, but conversations are kept in memory"
        fix = "unset it, or set it to 1"
        found.error(Location(str(file), 1), f"{CODE}.incompatible_sanic_workers", text, fix)


def load_model(path: Path, *, environment: Mapping[str, str], relax: bool = False) -> Model:
    """The model in a project's folder or in a `.tar.gz` of one; `endpoints.yml` is not read.

    Raises:
        ProjectError: with every problem that keeps it from being loaded.
    """
    if os.path.isdir(path):
        return _load_folder(path, environment, relax=relax)
    with unpacked(path) as folder:
        try:
            model = _load_folder(folder, environment, relax=relax)
        except ProjectError as error:
            raise _in_archive(error, folder, path) from error
    return replace(model, file=path.name)


def _load_folder(folder: Path, environment: Mapping[str, str], *, relax: bool) -> Model:
    found = Findings()
    sources = read_sources(folder, found)
    assembled = assemble_sources(sources, environment, found)
    if not relax:
        _check_session(sources, assembled, found)
    _raise_errors(found)
    return _model(folder, assembled.mock, _hash(sources.all(), folder))


def _raise_errors(found: Findings) -> None:
    if found.errors():
        raise ProjectError(sorted_problems(found.errors()))


def _in_archive(error: ProjectError, folder: Path, archive: Path) -> ProjectError:
    """The same problems with their places in the archive."""

    def placed(location: Location) -> Location:
        inside = os.path.relpath(location.file, folder)
        return replace(location, file=f"{archive}/{inside}")

    return ProjectError([replace(p, location=placed(p.location)) for p in error.problems])


def _check_session(sources: Sources, assembled: Assembled, found: Findings) -> None:
    """Report a session that expires (CFG-5); a missing domain is reported elsewhere."""
    if sources.domain and not assembled.domain.keeps_session:
        place = assembled.domain.session_place or Location(next(iter(sources.domain)), 1)
        text = "session_config.start_session_after_expiry is not false, which it must be for A2A"
        found.error(place, INCOMPATIBLE_SESSION, text, SESSION_FIX)


def _model(folder: Path, mock: MockFile, content_hash: str) -> Model:
    named = mock.settings.model or ModelEntry()
    return Model(named.file or folder.resolve().name, named.id or content_hash)


def _hash(texts: Mapping[str, str], folder: Path) -> str:
    """A hash of names and texts that does not depend on where the folder is."""
    digest = hashlib.sha256()
    for name, text in sorted(texts.items()):
        for part in (os.path.relpath(name, folder), text):
            digest.update(part.encode())
            digest.update(b"\0")
    return digest.hexdigest()[:32]


def content_hash(folder: Path, *, endpoints: Path | None = None, mock: Path | None = None) -> str:
    """The hash of the project's files as they are now, whether they can be loaded or not."""
    sources = read_sources(folder, Findings(), endpoints=endpoints, mock=mock)
    return _hash(sources.all(), folder)


def assemble(texts: Mapping[str, str]) -> Assistant:
    """The assistant of a project whose files are `texts`, by their path in its folder.

    Raises:
        ProjectError: with every problem that keeps it from being loaded.
    """
    found = Findings()
    assembled = assemble_sources(sources_of(texts), {}, found)
    _raise_errors(found)
    return assembled.assistant


def assemble_sources(
    sources: Sources, environment: Mapping[str, str], found: Findings
) -> Assembled:
    """Read all texts but `endpoints`; what keeps the project from being loaded is in `found`."""
    mock = read_mock_file(_only(sources.mock, found), environment, found)
    base = builtin(mock.settings.patterns_profile)
    domain = read_domain(_parsed(sources.domain, found), found)
    slots: Mapping[str, Slot] = {**base.slots, **_declared(domain, base.slots)}
    files = read_flows(_parsed(sources.flows, found), slots, found)
    agents = read_agents(_parsed(sources.agents, found).values(), found)
    configured = read_config(_only(sources.config, found), found)
    stubbed = {action_of(name): stub.location for name, stub in mock.stubs.by_action.items()}
    assistant = replace(
        configured,
        flows=with_agents({**base.flows, **files.flows}, agents, mock.scripts, found),
        slots=slots,
        responses={**base.responses, **domain.responses},
        actions=frozenset((*domain.actions, *(stubbed.keys() & DEFAULT_ACTIONS.keys()))),
        actions_every_turn=_every_turn(slots.values()),
        rejected_scope=mock.settings.rejected_scope,
        understand=mock.understand,
        tools=mock.tools,
        carries_slots=domain.carries_slots,
        clarify_on_multiple_starts=_is_true(environment.get(CLARIFY_VARIABLE)),
    )
    mentions = found.take_mentions()
    check_paths(files.resolved(), found)
    check_duplicates(files.flows.values(), found)
    if not found.count(UNREAD):  # all that an unread file defines would be called unknown
        check_mentions(assistant, mentions, {*agents, *mock.scripts}, found)
        lint(assistant, files.flows, mentions, stubbed, found)
    if not found.errors():  # a misspelled name would be reported as an unused one, too
        check_usage(assistant, domain, mentions, sources, found)
        check_code(sources.code, assistant.slots, found)
    return Assembled(assistant, domain, mock)


def sorted_problems(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    return tuple(sorted(set(problems), key=lambda p: (p.location, p.code, p.text)))


def _declared(domain: Domain, builtin_slots: Mapping[str, Slot]) -> Mapping[str, Slot]:
    """The domain's slots; a built-in slot that it declares again stays built-in."""
    return {
        name: replace(slot, is_builtin=name in builtin_slots) for name, slot in domain.slots.items()
    }


def _every_turn(slots: Iterable[Slot]) -> tuple[str, ...]:
    actions = (slot.action_every_turn for slot in slots)
    return tuple(dict.fromkeys(action for action in actions if action is not None))


def _is_true(value: str | None) -> bool:
    return value is not None and value.strip().lower() in {"true", "1"}


def _parsed(texts: Mapping[str, str], found: Findings) -> Mapping[str, Node | None]:
    return {file: parse(file, text, found) for file, text in texts.items()}


def _only(texts: Mapping[str, str], found: Findings) -> Node | None:
    return next(iter(_parsed(texts, found).values()), None)


POLICIES = frozenset({"FlowPolicy", "EnterpriseSearchPolicy"})


def read_config(root: Node | None, found: Findings) -> Assistant:
    """An assistant with its id and languages, and how long a message its generator admits."""
    file = fields_of(root, found, "config.yml")
    if file is None:
        return Assistant()
    for key, ignored in (("pipeline", _is_ignored_component), ("policies", _is_ignored_policy)):
        for item in file.items(key):
            _warn_ignored(item, key, ignored, found)
    limits = (
        component.below("user_input", "user_input").number("max_characters")
        for component in file.each("pipeline", "a component of the pipeline")
    )
    limit = next((limit for limit in limits if limit is not None), None)
    return Assistant(
        assistant_id=file.text("assistant_id"),
        language=file.text("language") or "en",
        additional_languages=file.texts("additional_languages"),
        max_characters=None if limit is None else int(limit),
    )


def _is_ignored_component(name: str) -> bool:
    """Whether a component neither generates commands nor is a class of the project's own."""
    is_own = "." in name
    return not (is_own or name.endswith(("CommandGenerator", "CommandPreProcessor")))


def _is_ignored_policy(name: str) -> bool:
    return "." not in name and name not in POLICIES


def _warn_ignored(item: Node, key: str, is_ignored: Callable[[str], bool], found: Findings) -> None:
    named = item.entries.get("name") if isinstance(item, MapNode) else item
    name = as_text(named, found, f"name of an item of {key}")
    if name is None or not is_ignored(name):
        return
    if name.endswith("Router"):
        text = f"{name} is ignored: there is one system only, so nothing is routed"
        found.warn(item.location, "ignored.coexistence", text)
    else:
        text = f"{name} of the {key} is ignored: the mock runs flows, and no NLU model"
        found.warn(item.location, "ignored.nlu", text)
