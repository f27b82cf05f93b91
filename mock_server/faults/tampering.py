"""What effects do: to a turn, a push notification, a JSON document and a stream of events."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from mock_server.dialogue.model import Json
from mock_server.faults.effects import (
    ConnectionReset,
    ContextEvicted,
    DuplicateEvents,
    Effect,
    ForcedState,
    LyingCard,
    MalformedJson,
    NoFinalEvent,
    PushDuplicated,
    PushLate,
    PushLost,
    PushReordered,
    PushWrongToken,
    ReorderedEvents,
    StuckWorking,
    TruncatedStream,
    WrongContextId,
    WrongId,
)
from mock_server.faults.matching import OutgoingPush
from mock_server.tasks.json_text import encode_json, parse_json
from mock_server.tasks.task import TaskState


@dataclass(frozen=True, slots=True)
class Handling:
    """`trace_id`: keep the turn's trace under it. The others are effects of faults."""

    trace_id: str | None = None
    forced_state: TaskState | None = None
    is_stuck: bool = False
    forgets_context: bool = False


AS_USUAL = Handling()


def handling(trace_id: str | None, effects: Iterable[Effect]) -> Handling:
    """What `effects` do to a turn; of two forced states the later one counts."""
    known = tuple(effects)
    forced = [effect.state for effect in known if isinstance(effect, ForcedState)]
    return Handling(
        trace_id=trace_id,
        forced_state=forced[-1] if forced else None,
        is_stuck=any(isinstance(effect, StuckWorking) for effect in known),
        forgets_context=any(isinstance(effect, ContextEvicted) for effect in known),
    )


@dataclass(frozen=True, slots=True)
class Tampering:
    """What is done to one push notification.

    It `is_lost`, or goes out `delay_seconds` late, `copies` times, with `token` (if given) instead
    of the one registered. One that `is_held` goes out after the task's next, or as the last.
    """

    is_lost: bool = False
    delay_seconds: float = 0.0
    copies: int = 1
    token: str | None = None
    is_held: bool = False


UNTAMPERED = Tampering()

PushHook: TypeAlias = Callable[[OutgoingPush], Tampering]


def untouched(_: OutgoingPush) -> Tampering:
    """The hook of a server without faults."""
    return UNTAMPERED


def tampered(tampering: Tampering, effect: Effect, chance: float) -> Tampering:
    """`tampering` with `effect` on top; `chance` is from 0 up to 1."""
    match effect:
        case PushLost():
            return replace(tampering, is_lost=True)
        case PushLate():
            late = effect.seconds + effect.jitter_seconds * chance
            return replace(tampering, delay_seconds=tampering.delay_seconds + late)
        case PushDuplicated():
            return replace(tampering, copies=max(tampering.copies, effect.times))
        case PushReordered():
            return replace(tampering, is_held=True)
        case PushWrongToken():
            return replace(tampering, token=effect.token)
        case _:
            return tampering


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
    """The JSON object that `document` is; None for all else, as after another fault."""
    try:
        parsed = parse_json(document)
    except ValueError:
        return None
    return parsed if isinstance(parsed, dict) else None


DATA = b"data: "
END = b"\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Cut:
    """The connection ends here: `reset`, `cut` without the last chunk, or `clean` with it."""

    how: str


class StreamTampering:
    """One stream under `effects`; feed it frames as they come, then call `end`."""

    def __init__(self, effects: tuple[Effect, ...]) -> None:
        self._effects = effects
        self._drops_final = any(isinstance(effect, NoFinalEvent) for effect in effects)
        self._times = max((e.times for e in effects if isinstance(e, DuplicateEvents)), default=1)
        self._swaps = any(isinstance(effect, ReorderedEvents) for effect in effects)
        self._held: bytes | None = None
        self._sent = 0
        self._is_cut = False

    def frame(self, frame: bytes) -> Iterator[bytes | Cut]:
        """What is sent for `frame`; a comment is sent as it is."""
        if self._is_cut:
            return
        if not frame.startswith(DATA):
            yield frame
            return
        document = frame.removeprefix(DATA).removesuffix(END)
        if self._drops_final and _is_final(document):
            return
        event = DATA + tampered_document(document, self._effects) + END
        if not self._swaps:
            yield from self._send(event)
        elif self._held is None:
            self._held = event
        else:
            held, self._held = self._held, None
            yield from self._send(event)
            yield from self._send(held)

    def end(self) -> Iterator[bytes | Cut]:
        """What is sent once there are no more frames."""
        if self._held is not None and not self._is_cut:
            yield from self._send(self._held)

    def _send(self, event: bytes) -> Iterator[bytes | Cut]:
        for _ in range(self._times):
            if self._is_cut:
                return
            yield from self._once(event)

    def _once(self, event: bytes) -> Iterator[bytes | Cut]:
        for effect in self._effects:
            match effect:
                case TruncatedStream(after_events=limit, ending=ending) if self._sent >= limit:
                    yield event[: len(event) // 2]
                    yield from self._cut(ending)
                    return
                case ConnectionReset(when="during") if self._sent >= 1:
                    yield from self._cut("reset")
                    return
                case _:
                    pass
        self._sent += 1
        yield event

    def _cut(self, how: str) -> Iterator[bytes | Cut]:
        self._is_cut = True
        yield Cut(how)


def _is_final(document: bytes) -> bool:
    match parse_json(document):
        case {"result": {"final": True}}:
            return True
        case _:
            return False
