"""What faults make of a JSON document: an answer, a stream's event or the card."""

from collections.abc import Iterable, Mapping

from mock_server.dialogue.model import Json
from mock_server.faults.effects import Effect, LyingCard, MalformedJson, WrongContextId, WrongId
from mock_server.tasks.json_text import encode_json, parse_json

CONTEXT_KEYS = frozenset({"contextId", "context_id"})


def tampered_document(document: bytes, effects: Iterable[Effect]) -> bytes:
    """`document` after `effects`; those of other kinds leave it as it is."""
    for effect in effects:
        match effect:
            case MalformedJson():
                document = document[: len(document) // 2]
            case WrongId(id=wrong):
                document = _changed(document, {"id": wrong})
            case LyingCard(merge=patch):
                document = _changed(document, {**patch})
            case WrongContextId(context_id=wrong):
                document = _renamed(document, wrong)
            case _:
                pass
    return document


def merged(target: Json, patch: Json) -> Json:
    """`target` after the merge patch (RFC 7396 §2)."""
    if not isinstance(patch, dict):
        return patch
    result: dict[str, Json] = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def _changed(document: bytes, patch: Mapping[str, Json]) -> bytes:
    parsed = _parsed(document)
    return document if parsed is None else encode_json(merged(parsed, {**patch}))


def _renamed(document: bytes, context_id: str) -> bytes:
    parsed = _parsed(document)
    return document if parsed is None else encode_json(_with_context(parsed, context_id))


def _with_context(value: Json, context_id: str) -> Json:
    match value:
        case dict():
            return {
                key: context_id if key in CONTEXT_KEYS else _with_context(inner, context_id)
                for key, inner in value.items()
            }
        case list():
            return [_with_context(inner, context_id) for inner in value]
        case _:
            return value


def _parsed(document: bytes) -> dict[str, Json] | None:
    """The object that `document` is; None if it is none, as after another fault."""
    try:
        parsed = parse_json(document)
    except ValueError:
        return None
    return parsed if isinstance(parsed, dict) else None
