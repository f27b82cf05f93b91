"""The files of a project folder, by their role (flows.md §1)."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from mock_server.errors import Location
from mock_server.project.assemble import Sources
from mock_server.project.findings import Findings

SUFFIXES = frozenset({".yml", ".yaml"})
CODE = frozenset({".py"})
WATCHED = SUFFIXES | CODE


def read_sources(
    folder: Path, found: Findings, *, endpoints: Path | None = None, mock: Path | None = None
) -> Sources:
    """All texts of the project; `endpoints` and `mock` may lie elsewhere.

    Files are named as they were reached from `folder`, so a message's place can be opened.
    """
    if not folder.is_dir():
        text = "this is not a folder" if folder.exists() else "there is no such folder"
        found.error(Location(str(folder)), "project.folder", text, "name an assistant's folder")
        return Sources()
    domain = _texts([folder / "domain.yml", folder / "domain.yaml", folder / "domain"], found)
    if not domain:
        text = "the project has no domain.yml and no YAML file in domain/"
        found.error(Location(str(folder)), "project.no_domain", text)
    flows = _texts([folder / "data"], found)
    if not flows:
        text = "the project has no YAML file in data/, so no flow"
        found.error(Location(str(folder)), "project.no_flows", text)
    return Sources(
        domain=domain,
        flows=flows,
        config=_one([folder / "config.yml", folder / "config" / "config.yml"], found),
        endpoints=_chosen(endpoints, folder / "endpoints.yml", found),
        mock=_chosen(mock, folder / "mock.yml", found),
        agents=_texts([*sorted(folder.glob("sub_agents/*/config.yml"))], found),
        code=_texts([folder / "actions.py", folder / "actions"], found, CODE),
    )


def _chosen(path: Path | None, default: Path, found: Findings) -> Mapping[str, str]:
    """The file that was asked for, which must exist, or the one of the project, which may."""
    if path is not None and not path.exists():
        found.error(Location(str(path)), "project.no_file", "there is no such file")
    return _one([path or default], found)


def _one(places: list[Path], found: Findings) -> Mapping[str, str]:
    """The text of the first of the files that exists."""
    for place in places:
        if place.is_dir():
            found.error(Location(str(place)), "project.no_file", "this is a folder, not a file")
        elif place.is_file():
            return _texts([place], found)
    return {}


def _texts(
    places: list[Path], found: Findings, suffixes: frozenset[str] = SUFFIXES
) -> Mapping[str, str]:
    """The texts of the files, and of those with such a suffix anywhere below the folders."""
    texts: dict[str, str] = {}
    for place in places:
        for file in _files(place, suffixes):
            text = read_text(file, found)
            if text is not None:
                texts[str(file)] = text
    return texts


def _files(place: Path, suffixes: frozenset[str]) -> Iterator[Path]:
    if place.is_file():
        yield place
    elif place.is_dir():
        for file in sorted(place.rglob("*")):
            if file.suffix in suffixes and file.is_file():
                yield file


def read_text(file: Path, found: Findings) -> str | None:
    """The text of `file`; None if it cannot be read, which is then a finding."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        text = f"this is not UTF-8: {error.reason} at byte {error.start}"
        found.error(Location(str(file), line), "project.encoding", text)
    except OSError as error:
        text = f"this cannot be read: {error.strerror}"
        found.error(Location(str(file)), "project.unreadable", text)
    return None
