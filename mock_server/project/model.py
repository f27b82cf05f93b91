"""A project as a model: what names it, and what a server asks of it whenever it is loaded."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from mock_server.errors import Location, ProjectError
from mock_server.project.archive import unpacked
from mock_server.project.assemble import Assembled, Sources, assemble_sources, sorted_problems
from mock_server.project.domain import is_session_kept
from mock_server.project.files import read_sources
from mock_server.project.findings import Findings

INCOMPATIBLE_SESSION = "validation.a2a_server.incompatible_session_config"
SESSION_MEND = (
    'add to the domain "session_config: {start_session_after_expiry: false}", or start with --relax'
)


@dataclass(frozen=True, slots=True)
class Model:
    """What `/status` shows of a project: that of `mock.yml`, else its name and its hash."""

    file: str
    id: str


def load_model(path: Path, *, environment: Mapping[str, str], relax: bool = False) -> Model:
    """The model in a project's folder or in a `.tar.gz` of one; `endpoints.yml` is not read.

    Raises:
        ProjectError: with every problem that keeps it from being loaded.
    """
    if path.is_dir():
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
        check_session(sources, assembled, found)
    if found.errors():
        raise ProjectError(sorted_problems(found.errors()))
    mock = assembled.mock
    return model_of(folder, mock.model_file, mock.model_id, hash_of(sources, folder))


def _in_archive(error: ProjectError, folder: Path, archive: Path) -> ProjectError:
    """The same problems, placed where the archive has them."""

    def placed(location: Location) -> Location:
        inside = os.path.relpath(location.file, folder)
        return replace(location, file=f"{archive}/{inside}")

    return ProjectError([replace(p, location=placed(p.location)) for p in error.problems])


def check_session(sources: Sources, assembled: Assembled, found: Findings) -> None:
    """CFG-5: a conversation must not begin anew after a while; no domain is a fault by itself."""
    if sources.domain and not is_session_kept(assembled.domain):
        place = assembled.domain.session_place or Location(next(iter(sources.domain)), 1)
        text = "session_config.start_session_after_expiry is not false, which it must be for A2A"
        found.error(place, INCOMPATIBLE_SESSION, text, SESSION_MEND)


def model_of(folder: Path, file: str | None, id: str | None, content_hash: str) -> Model:
    """The model of the project in `folder`; `file` and `id` as `mock.yml` gives them."""
    return Model(file or folder.resolve().name, id or content_hash)


def hash_of(sources: Sources, folder: Path) -> str:
    """A hash of names and texts, the same wherever the folder lies."""
    texts = {
        **sources.domain, **sources.flows, **sources.config, **sources.endpoints, **sources.mock,
        **sources.agents, **sources.code,
    }  # fmt: skip
    digest = hashlib.sha256()
    for name, text in sorted(texts.items()):
        for part in (os.path.relpath(name, folder), text):
            digest.update(part.encode())
            digest.update(b"\0")
    return digest.hexdigest()[:32]
