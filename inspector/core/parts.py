"""Parts of a message made from files and from JSON."""

import base64
import mimetypes
from pathlib import Path

from inspector.core.user_files import read_user_file
from inspector.errors import UsageError
from inspector.wire.tree import Json, parse_json


def read_part(source: str) -> Json:
    """The part in `source`: JSON text, a JSON file that holds a part, or any file as a FilePart.

    Raises:
        UsageError: JSON that is no part, or a file that cannot be read.
    """
    if source.lstrip().startswith("{"):
        return _part_of(source)
    path = Path(source).expanduser()
    content = read_user_file(path, str(path))
    if path.suffix == ".json" and is_part(part := parse_json(content).value):
        return part
    media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    encoded = base64.b64encode(content).decode()
    return {"kind": "file", "file": {"name": path.name, "mimeType": media_type, "bytes": encoded}}


def is_part(value: Json) -> bool:
    return isinstance(value, dict) and "kind" in value


def _part_of(text: str) -> Json:
    parsed = parse_json(text.encode(errors="replace"))
    if not is_part(parsed.value):
        found = parsed.problem or "an object without `kind`"
        raise UsageError(
            f"expected a part as JSON; {found}", """write it as {"kind": "data", "data": {…}}"""
        )
    return parsed.value
