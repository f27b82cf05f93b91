"""`a2a-mock new`: a small project to start from, copied from the examples, with its schema."""

import json
import re
import shutil
from pathlib import Path

from pydantic import JsonValue

from mock_server.options import NewOptions, example
from mock_server.printing import complain, print_lines
from mock_server.project.mock_file import MockYml

EXIT_NOT_EMPTY = 1
# It describes the example in its place, not the copy.
LEFT_OUT = ("README.md",)
SCHEMA = "mock.schema.json"
SCHEMA_PLACE = re.compile(r"\$schema=\S+")
TITLE = "mock.yml of a2a-mock"
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def run(options: NewOptions) -> int:
    """Copy the template; 1: the directory is not empty or cannot be written."""
    folder = options.directory
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        complain(f"{folder}: this is not an empty directory; name one that is empty or new")
        return EXIT_NOT_EMPTY
    try:
        shutil.copytree(
            example(options.template),
            folder,
            ignore=shutil.ignore_patterns(*LEFT_OUT),
            dirs_exist_ok=True,
        )
        _add_schema(folder)
    except OSError as error:
        complain(f"{folder}: this cannot be written: {error.strerror or error}")
        return EXIT_NOT_EMPTY
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    next_steps = f"next: a2a-mock check {folder}, a2a-mock test {folder}"
    print_lines(*map(str, files), next_steps)
    return 0


def _add_schema(folder: Path) -> None:
    """Write the schema of mock.yml beside it; in the examples it is elsewhere."""
    mock = folder / "mock.yml"
    if mock.is_file():
        (folder / SCHEMA).write_text(schema_text(), encoding="utf-8")
        written = mock.read_text(encoding="utf-8")
        mock.write_text(SCHEMA_PLACE.sub(f"$schema={SCHEMA}", written), encoding="utf-8")


def schema() -> dict[str, JsonValue]:
    """The JSON Schema; an effect of a fault may be written as its kind alone."""
    made: dict[str, JsonValue] = MockYml.model_json_schema()
    definitions = made["$defs"]
    assert isinstance(definitions, dict)
    fault = definitions["Fault"]
    assert isinstance(fault, dict)
    properties = fault["properties"]
    assert isinstance(properties, dict)
    properties["effect"] = {"anyOf": [properties["effect"], {"type": "string"}]}
    return {"$schema": DIALECT, **made, "title": TITLE}


def schema_text() -> str:
    """`docs/reference/mock.schema.json`, which `scripts/reference` writes."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"
