"""The wire view: every exchange with its raw request, frames and times."""

from dataclasses import dataclass

from inspector.core.entries import Failed, FrameReceived, RequestSent, ResponseStarted
from inspector.wire.findings import Finding


@dataclass(frozen=True, slots=True)
class Exchange:
    """`rpc_method` is None for a card; times are ms since the request was sent, None until then."""

    id: int
    request: RequestSent
    rpc_method: str | None
    response: ResponseStarted | None
    frames: tuple[FrameReceived, ...]
    failure: Failed | None
    first_byte_ms: float | None
    total_ms: float | None
    size_bytes: int
    findings: tuple[Finding, ...] = ()
