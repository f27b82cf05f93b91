"""The files of a project, by their role, from its folder or an archive (flows.md §1)."""

import os
import shutil
import tarfile
import zlib
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from mock_server.errors import Location, Problem, ProjectError
from mock_server.project.findings import Findings

SUFFIXES = frozenset({".yml", ".yaml"})
CODE = frozenset({".py"})
WATCHED = SUFFIXES | CODE
# Flows of a large bank are a megabyte; reading takes half a minute for each ten.
MAX_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Sources:
    """A project's texts by their role; keys are the names that messages use.

    `code` are the Python files of its actions, read only to see which names occur there.
    """

    domain: Mapping[str, str] = field(default_factory=dict[str, str])
    flows: Mapping[str, str] = field(default_factory=dict[str, str])
    config: Mapping[str, str] = field(default_factory=dict[str, str])
    endpoints: Mapping[str, str] = field(default_factory=dict[str, str])
    mock: Mapping[str, str] = field(default_factory=dict[str, str])
    agents: Mapping[str, str] = field(default_factory=dict[str, str])
    code: Mapping[str, str] = field(default_factory=dict[str, str])

    def all(self) -> Mapping[str, str]:
        """Every text by its name."""
        return {
            **self.domain, **self.flows, **self.config, **self.endpoints, **self.mock,
            **self.agents, **self.code,
        }  # fmt: skip


def sources_of(texts: Mapping[str, str]) -> Sources:
    """The `texts` of a project, by their path in its folder, by their role."""

    def role(holds: Callable[[str], bool]) -> Mapping[str, str]:
        return {file: text for file, text in sorted(texts.items()) if holds(file)}

    return Sources(
        domain=role(lambda file: file == "domain.yml" or file.startswith("domain/")),
        flows=role(lambda file: file.startswith("data/")),
        config=role(lambda file: file in {"config.yml", "config/config.yml"}),
        endpoints=role(lambda file: file == "endpoints.yml"),
        mock=role(lambda file: file == "mock.yml"),
        agents=role(lambda file: file.startswith("sub_agents/")),
        code=role(lambda file: file.endswith(".py")),
    )


def read_sources(
    folder: Path, found: Findings, *, endpoints: Path | None = None, mock: Path | None = None
) -> Sources:
    """All texts of the project; `endpoints` and `mock` may lie elsewhere.

    Files are named as they were reached from `folder`, so a message's place can be opened.
    """
    closed = why_unreadable(folder)
    if closed:
        found.error(Location(str(folder)), "project.folder", closed, "name an assistant's folder")
        return Sources()
    known = len(found.problems)
    domain = _texts([folder / "domain.yml", folder / "domain.yaml", folder / "domain"], found)
    if not domain and len(found.problems) == known:
        text = "the project has no domain.yml and no YAML file in domain/"
        found.error(Location(str(folder)), "project.no_domain", text, "create one: a2a-mock new")
    known = len(found.problems)
    flows = _texts([folder / "data"], found)
    if not flows and len(found.problems) == known:
        text = "the project has no YAML file in data/, so no flow"
        found.error(Location(str(folder)), "project.no_flows", text, "write data/flows.yml")
    return Sources(
        domain=domain,
        flows=flows,
        config=_one([folder / "config.yml", folder / "config" / "config.yml"], found),
        endpoints=_chosen(endpoints, folder / "endpoints.yml", found),
        mock=_chosen(mock, folder / "mock.yml", found),
        agents=_texts(
            [place / "config.yml" for place in _folders(folder / "sub_agents", found)], found
        ),
        code=_texts([folder / "actions.py", folder / "actions"], found, CODE),
    )


def why_unreadable(folder: Path) -> str:
    """Why `folder` cannot be read; empty if it can."""
    try:
        os.scandir(folder).close()
        os.stat(os.path.join(folder, "."))
        return ""
    except FileNotFoundError:
        return "there is no such folder"
    except NotADirectoryError:
        return "this is not a folder"
    except (OSError, ValueError) as error:
        return f"this folder cannot be read: {getattr(error, 'strerror', None) or error}"


def _chosen(path: Path | None, default: Path, found: Findings) -> Mapping[str, str]:
    """The file given, which must exist, or the project's own, which need not."""
    if path is not None and not os.path.exists(path):
        found.error(Location(str(path)), "project.no_file", "there is no such file")
    return _one([path or default], found)


def _one(places: list[Path], found: Findings) -> Mapping[str, str]:
    """The text of the first of the files that exists."""
    for place in places:
        if os.path.isdir(place):
            found.error(Location(str(place)), "project.no_file", "this is a folder, not a file")
        elif os.path.isfile(place):
            return _texts([place], found)
    return {}


def _texts(
    places: list[Path], found: Findings, suffixes: frozenset[str] = SUFFIXES
) -> Mapping[str, str]:
    """The texts of the files, and of those with such a suffix anywhere below the folders."""
    texts: dict[str, str] = {}
    for place in places:
        for file in _files(place, suffixes, found):
            text = read_text(file, found)
            if text is not None:
                texts[_name(file)] = text
    return texts


def _files(place: Path, suffixes: frozenset[str], found: Findings) -> list[Path]:
    """`place` if it is a file, else those anywhere below it, without the hidden ones."""
    if os.path.isfile(place):
        return [place]

    def report(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError | NotADirectoryError):
            _unreadable(Path(str(error.filename)), error, found)

    files: list[Path] = []
    for folder, folders, names in os.walk(place, onerror=report):
        folders[:] = [name for name in folders if not name.startswith(".")]
        wanted = (name for name in names if Path(name).suffix in suffixes and name[0] != ".")
        paths = [Path(folder, name) for name in wanted]
        _warn_of_links([*paths, *(Path(folder, name) for name in folders)], found)
        files += (path for path in paths if os.path.isfile(path))
    return sorted(files)


def _warn_of_links(paths: Iterable[Path], found: Findings) -> None:
    """Links to folders may form cycles and are not followed; broken links are mistakes."""
    for path in paths:
        if not os.path.exists(path):
            text = "this is a link to a file that does not exist"
            found.warn(Location(_name(path)), "project.link", text, "remove it")
        elif os.path.islink(path) and os.path.isdir(path):
            text = "this is a link to a folder, whose content is not read"
            found.warn(Location(_name(path)), "project.link", text, "copy it")


def _folders(place: Path, found: Findings) -> list[Path]:
    """The folders in `place`, if it is a folder."""
    try:
        return sorted(Path(entry) for entry in os.scandir(place) if entry.is_dir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        _unreadable(place, error, found)
        return []


def _name(file: Path) -> str:
    """The path as messages name it: bytes that are not UTF-8 are spelled out."""
    return os.fsencode(file).decode("utf-8", "backslashreplace")


def _unreadable(file: Path, error: OSError, found: Findings) -> None:
    text = f"this cannot be read: {error.strerror}"
    found.error(Location(_name(file)), "project.unreadable", text, "check its permissions")


def read_text(file: Path, found: Findings) -> str | None:
    """The text of `file`; None if it cannot be read, which is reported."""
    try:
        size = file.stat().st_size
        if size > MAX_BYTES:
            text = f"this has {size} bytes; at most {MAX_BYTES} are allowed"
            found.error(Location(_name(file)), "project.size", text, "split it")
            return None
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        text = f"this is not UTF-8: {error.reason} at byte {error.start}"
        found.error(Location(_name(file), line), "project.encoding", text, "save it as UTF-8")
    except OSError as error:
        _unreadable(file, error, found)
    return None


MAX_FILES = 10_000
MAX_UNPACKED_BYTES = 64 * 1024 * 1024


@contextmanager
def unpacked(archive: Path) -> Generator[Path]:
    """The folder of the project in `archive`, for as long as the context lasts.

    Only YAML files are unpacked, and no links.

    Raises:
        ProjectError: it is not such an archive, is too large, or has no project in it.
    """
    if not os.path.isfile(archive):
        # To open a pipe would wait for whoever writes to it.
        is_there = os.path.lexists(archive)
        text = "this is neither a folder nor a file" if is_there else "there is no such file"
        raise _archive_error(archive, text)
    with TemporaryDirectory(prefix="a2a-mock-") as temporary:
        folder = Path(temporary)
        try:
            with tarfile.open(archive, "r:gz") as tar:
                _unpack(tar, folder, archive)
        except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
            raise _archive_error(archive, "this is not a readable .tar.gz archive") from error
        yield _project_in(folder, archive)


def _unpack(tar: tarfile.TarFile, folder: Path, archive: Path) -> None:
    size_bytes = files = 0
    for member in tar:
        files += 1
        if files > MAX_FILES:
            raise _archive_error(archive, f"it holds more than {MAX_FILES} files")
        if not member.isfile() or Path(member.name).suffix not in SUFFIXES:
            continue
        size_bytes += member.size
        if size_bytes > MAX_UNPACKED_BYTES:
            raise _archive_error(archive, f"its YAML files are larger than {MAX_BYTES} bytes")
        target = (folder / member.name).resolve()
        content = tar.extractfile(member)
        if content is None or not target.is_relative_to(folder.resolve()):
            raise _archive_error(archive, f"{member.name!r} lies outside the archive")
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("wb") as file:
            shutil.copyfileobj(content, file)


def _project_in(folder: Path, archive: Path) -> Path:
    """The archive's own folder, or the one folder in it, whichever has a domain."""
    for place in (folder, *sorted(folder.iterdir())):
        if (place / "domain.yml").is_file() or (place / "domain").is_dir():
            return place
    raise _archive_error(archive, "it holds no project: there is no domain")


def _archive_error(archive: Path, text: str) -> ProjectError:
    fix = "name an assistant's folder, or a .tar.gz of one"
    return ProjectError([Problem(Location(str(archive)), "project.archive", text, fix)])
