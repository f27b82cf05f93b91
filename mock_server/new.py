"""`a2a-mock new`: a small project to begin with, copied from the examples."""

import re
import shutil
from pathlib import Path

from mock_server.options import NewOptions
from mock_server.printing import complain, print_lines
from mock_server.project import mock_schema

EXIT_NOT_EMPTY = 1
# In a wheel the examples are inside the package, in a checkout beside it.
EXAMPLES = (Path(__file__).parent / "examples", Path(__file__).parents[1] / "examples")
# It describes the example in its place, not the copy.
LEFT_OUT = ("README.md",)
SCHEMA = "mock.schema.json"
SCHEMA_PLACE = re.compile(r"\$schema=\S+")


def run(options: NewOptions) -> int:
    """Copy the template; 1: the directory is not empty or cannot be written."""
    folder: Path = options.directory
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        complain(f"{folder}: this is not an empty directory; name one that is empty or new")
        return EXIT_NOT_EMPTY
    try:
        shutil.copytree(
            template(options.template),
            folder,
            ignore=shutil.ignore_patterns(*LEFT_OUT),
            dirs_exist_ok=True,
        )
        _bring_schema(folder)
    except OSError as error:
        complain(f"{folder}: this cannot be written: {error.strerror or error}")
        return EXIT_NOT_EMPTY
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    next_steps = f"next: a2a-mock check {folder}, a2a-mock test {folder}"
    print_lines(*map(str, files), next_steps)
    return 0


def _bring_schema(folder: Path) -> None:
    """The schema of mock.yml, where the copy has one: in the examples it is elsewhere."""
    mock = folder / "mock.yml"
    if mock.is_file():
        (folder / SCHEMA).write_text(mock_schema.text(), encoding="utf-8")
        written = mock.read_text(encoding="utf-8")
        mock.write_text(SCHEMA_PLACE.sub(f"$schema={SCHEMA}", written), encoding="utf-8")


def template(name: str) -> Path:
    """The folder of the example `name`."""
    places = [folder / name for folder in EXAMPLES]
    return next((place for place in places if place.is_dir()), places[0])
