"""What is known of a connected mock: its flows, its faults, and why its turns went as they did."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus

from inspector.core.decoding import read_sent
from inspector.core.entries import (
    ASIDE,
    Channel,
    Entry,
    Failed,
    FrameReceived,
    Purpose,
    RequestSent,
    ResponseEnded,
    ResponseStarted,
)
from inspector.views.persistent import Index
from inspector.wire import mock_admin
from inspector.wire.json_values import Json, parse_json
from inspector.wire.mock_admin import (
    ArmedFault,
    FaultHit,
    FaultKind,
    Model,
    Reload,
    Trace,
    read_trace,
)
from inspector.wire.sse import parse_event
from inspector.wire.urls import parts_of

_TURNS = frozenset({Purpose.SEND, Purpose.STREAM})
# A hit is reported while its request is under way, or shortly after; older turns are left out.
_RECENT = 20


@dataclass(frozen=True, slots=True)
class FaultMark:
    """A fault that was armed when a turn went out; `has_hit` once the mock says it struck."""

    fault: ArmedFault
    has_hit: bool = False


@dataclass(frozen=True, slots=True)
class AdminCall:
    """A request to the mock's admin API under way."""

    method: str
    path: str
    status: int | None = None


@dataclass(frozen=True, slots=True)
class MockView:
    """`model` is None while no mock is known; the mappings are by exchange and by trace id.

    `is_listening` says whether its events are followed, since the entry `heard_seq` (0: they never
    were). `reload` is the last save that the mock reported, `complaint` why it refused the last
    request. A turn under way has its trace's id in `untold`: there is none before its end.
    """

    model: Model | None = None
    is_listening: bool = False
    heard_seq: int = 0
    reload: Reload | None = None
    reloads: int = 0
    armed: tuple[ArmedFault, ...] = ()
    offer: tuple[FaultKind, ...] = ()
    complaint: str = ""
    marks: Index[int, tuple[FaultMark, ...]] = field(
        default_factory=Index[int, tuple[FaultMark, ...]]
    )
    trace_ids: Index[int, str] = field(default_factory=Index[int, str])
    untold: Mapping[int, str] = field(default_factory=dict[int, str])
    traces: Mapping[str, Trace] = field(default_factory=dict[str, Trace])
    lost_traces: frozenset[str] = frozenset()
    recent: tuple[RequestSent, ...] = ()
    asked: Mapping[int, AdminCall] = field(default_factory=dict[int, AdminCall])

    @property
    def live_faults(self) -> tuple[ArmedFault, ...]:
        """Those that can still hit."""
        return tuple(fault for fault in self.armed if not fault.is_spent)


EMPTY = MockView()


def step(view: MockView, entry: Entry) -> MockView:
    """Add what the admin API answered, and what a turn's answer says of its trace."""
    match entry:
        case RequestSent(purpose=Purpose.ADMIN):
            asked = AdminCall(entry.method, parts_of(entry.url).path)
            return replace(view, asked={**view.asked, entry.exchange: asked})
        case RequestSent():
            return view if entry.purpose in ASIDE else _send(view, entry)
        case ResponseStarted():
            return _start(view, entry)
        case FrameReceived() if entry.exchange in view.asked:
            return _receive(view, view.asked[entry.exchange], entry)
        case ResponseEnded() | Failed() if entry.exchange in view.asked:
            return _end(view, view.asked[entry.exchange], entry)
        case ResponseEnded() | Failed() if entry.exchange in view.untold:
            return _end_turn(view, entry.exchange)
        case _:
            return view


def _send(view: MockView, request: RequestSent) -> MockView:
    if view.model is None:
        return view
    recent = (*view.recent, request)[-_RECENT:]
    faults = view.live_faults
    if not faults or request.purpose not in _TURNS:
        return replace(view, recent=recent)
    marks = tuple(FaultMark(fault) for fault in faults)
    return replace(view, recent=recent, marks=view.marks.set(request.exchange, marks))


def _start(view: MockView, started: ResponseStarted) -> MockView:
    asked = view.asked.get(started.exchange)
    if asked is not None:
        asked = replace(asked, status=started.status)
        view = replace(view, asked={**view.asked, started.exchange: asked})
        is_stream = asked.path == mock_admin.EVENTS and started.status == HTTPStatus.OK
        return _listen(view, started) if is_stream else view
    named = [value for name, value in started.headers if name.lower() == mock_admin.TRACE_ID]
    if not named:
        return view
    return replace(view, untold={**view.untold, started.exchange: named[-1]})


def _listen(view: MockView, started: ResponseStarted) -> MockView:
    """Begin a stream of events: what still does not load is reported again in it."""
    is_broken = view.reload is not None and bool(view.reload.problems)
    reload = None if is_broken else view.reload
    return replace(view, is_listening=True, heard_seq=started.seq, reload=reload)


def _receive(view: MockView, asked: AdminCall, frame: FrameReceived) -> MockView:
    if frame.channel is Channel.SSE:
        event = parse_event(frame.raw)
        if event.data is None:
            return view
        return _happen(view, event.event, parse_json(event.data).value)
    value = parse_json(frame.raw).value
    is_refused = asked.status is None or asked.status >= HTTPStatus.BAD_REQUEST
    trace_id = asked.path.removeprefix(f"{mock_admin.TRACES}/")
    if is_refused and trace_id != asked.path:
        return replace(view, lost_traces=view.lost_traces | {trace_id})
    if is_refused and asked.path != mock_admin.MODEL:
        return replace(view, complaint=mock_admin.read_complaint(value))
    return view if is_refused else _learn(view, asked, value)


def _learn(view: MockView, asked: AdminCall, value: Json) -> MockView:
    """What a successful answer says."""
    match asked.path:
        case mock_admin.MODEL:
            return replace(view, model=mock_admin.read_model(value) or view.model)
        case mock_admin.DESCRIPTION:
            return replace(view, offer=mock_admin.read_offer(value))
        case path if path.startswith(mock_admin.TRACES):
            if (trace := read_trace(value)) is None:
                return view
            return replace(view, traces={**view.traces, trace.id: trace})
        case path if path.startswith(mock_admin.FAULTS):
            faults = mock_admin.read_faults(value)
            if faults is None:
                return view
            kept: tuple[ArmedFault, ...] = ()
            if asked.method == "POST":
                ids = {fault.id for fault in faults}
                kept = tuple(fault for fault in view.armed if fault.id not in ids)
            return replace(view, armed=(*kept, *faults), complaint="")
        case _:
            return view


def _happen(view: MockView, kind: str, value: Json) -> MockView:
    """What the event stream reports."""
    match kind:
        case "reload":
            reload = mock_admin.read_reload(value)
            if reload is None:
                return view
            model = view.model
            if model is not None and reload.flows is not None:
                model = replace(model, flows=reload.flows)
            return replace(view, reload=reload, reloads=view.reloads + 1, model=model)
        case "faults":
            faults = mock_admin.read_faults(value)
            return view if faults is None else replace(view, armed=faults)
        case "fault":
            hit = mock_admin.read_hit(value)
            return view if hit is None else _strike(view, hit)
        case _:
            return view


def _strike(view: MockView, hit: FaultHit) -> MockView:
    """Count the hit, and mark the turn that it struck."""
    armed = tuple(_counted(one) if one.id == hit.fault_id else one for one in view.armed)
    struck = next((fault for fault in view.armed if fault.id == hit.fault_id), None)
    view = replace(view, armed=armed)
    request = next((one for one in reversed(view.recent) if _is_struck(one, hit)), None)
    if request is None or struck is None:
        return view
    others = tuple(
        mark for mark in view.marks.get(request.exchange, ()) if mark.fault.id != struck.id
    )
    marks = (*others, FaultMark(struck, has_hit=True))
    return replace(view, marks=view.marks.set(request.exchange, marks))


def _counted(fault: ArmedFault) -> ArmedFault:
    remaining = None if fault.remaining is None else max(0, fault.remaining - 1)
    return replace(fault, fired=fault.fired + 1, remaining=remaining)


def _is_struck(request: RequestSent, hit: FaultHit) -> bool:
    """A notification belongs to the turns of its context, the first of which named none yet."""
    sent = read_sent(request)
    context_id = sent.ask.message.context_id if sent.ask.message is not None else None
    if hit.method is None:
        return request.purpose in _TURNS and context_id in (None, hit.context_id)
    is_of_turn = request.purpose in _TURNS
    return sent.method == hit.method and (context_id == hit.context_id or not is_of_turn)


def _end_turn(view: MockView, exchange: int) -> MockView:
    others = {key: one for key, one in view.untold.items() if key != exchange}
    trace_ids = view.trace_ids.set(exchange, view.untold[exchange])
    return replace(view, untold=others, trace_ids=trace_ids)


def _end(view: MockView, asked: AdminCall, entry: ResponseEnded | Failed) -> MockView:
    others = {key: one for key, one in view.asked.items() if key != entry.exchange}
    view = replace(view, asked=others)
    is_deaf = view.is_listening and asked.path == mock_admin.EVENTS
    return replace(view, is_listening=False, heard_seq=entry.seq) if is_deaf else view
