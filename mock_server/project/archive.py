"""Projects in a `.tar.gz`, as models of Rasa come."""

import shutil
import tarfile
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from mock_server.errors import Location, Problem, ProjectError
from mock_server.project.files import SUFFIXES

MAX_FILES = 10_000
MAX_BYTES = 64 * 1024 * 1024


@contextmanager
def unpacked(archive: Path) -> Generator[Path]:
    """The folder of the project in `archive`, for as long as the context lasts.

    Only YAML files are unpacked, and no links.

    Raises:
        ProjectError: it is no such archive, is too large, or holds no project.
    """
    with TemporaryDirectory(prefix="a2a-mock-") as temporary:
        folder = Path(temporary)
        try:
            with tarfile.open(archive, "r:gz") as tar:
                _unpack(tar, folder, archive)
        except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
            raise _unreadable(archive, "this is no .tar.gz archive that can be read") from error
        yield _project_in(folder, archive)


def _unpack(tar: tarfile.TarFile, folder: Path, archive: Path) -> None:
    size_bytes = files = 0
    for member in tar:
        files += 1
        if files > MAX_FILES:
            raise _unreadable(archive, f"it holds more than {MAX_FILES} files")
        if not member.isfile() or Path(member.name).suffix not in SUFFIXES:
            continue
        size_bytes += member.size
        if size_bytes > MAX_BYTES:
            raise _unreadable(archive, f"its YAML files are larger than {MAX_BYTES} bytes")
        target = (folder / member.name).resolve()
        content = tar.extractfile(member)
        if content is None or not target.is_relative_to(folder.resolve()):
            raise _unreadable(archive, f"{member.name!r} lies outside the archive")
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("wb") as file:
            shutil.copyfileobj(content, file)


def _project_in(folder: Path, archive: Path) -> Path:
    """The archive's own folder, or the one folder in it, whichever has a domain."""
    for place in (folder, *sorted(folder.iterdir())):
        if (place / "domain.yml").is_file() or (place / "domain").is_dir():
            return place
    raise _unreadable(archive, "it holds no project: there is no domain")


def _unreadable(archive: Path, text: str) -> ProjectError:
    return ProjectError([Problem(Location(str(archive)), "project.archive", text)])
