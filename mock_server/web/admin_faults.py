"""`/__admin/faults`: what is armed, and how often it hit."""

from dataclasses import asdict, dataclass

from pydantic import JsonValue
from starlette.requests import Request
from starlette.responses import Response

from mock_server.dialogue.model import Json
from mock_server.faults.armed import Armed, ArmedFaults
from mock_server.faults.fault import Fault, FaultProblem, read_fault
from mock_server.service.feed import Feed
from mock_server.web.admin_answers import (
    NOT_FOUND,
    UNPROCESSABLE,
    Problem,
    Refused,
    answer,
    read_json,
)

CREATED = 201


@dataclass(frozen=True, slots=True)
class ArmedView:
    """A fault, how often it `fired`, and how often it still may; null is without end."""

    id: str
    match: dict[str, JsonValue]
    effect: dict[str, JsonValue]
    probability: float
    count: int | None
    fired: int
    remaining: int | None


@dataclass(frozen=True, slots=True)
class ArmedList:
    """In the order in which they take effect."""

    faults: tuple[ArmedView, ...]


class FaultDesk:
    """The routes below `faults`; whoever follows `feed` hears what is armed after each change."""

    def __init__(self, faults: ArmedFaults, feed: Feed) -> None:
        self._faults = faults
        self._feed = feed

    async def list(self, _: Request) -> Response:
        return answer(ArmedList(tuple(_view(armed) for armed in self._faults.by_id.values())))

    async def show(self, request: Request) -> Response:
        armed = self._faults.by_id.get(request.path_params["id"])
        if armed is None:
            raise _unknown(request)
        return answer(_view(armed))

    async def arm(self, request: Request) -> Response:
        """Arm a fault, or all of a list of them or none."""
        sent = await read_json(request)
        faults = _read(sent)
        armed = tuple(_view(self._faults.arm(fault)) for fault in faults)
        self._tell()
        return answer(ArmedList(armed), CREATED)

    async def disarm(self, request: Request) -> Response:
        if not self._faults.disarm(request.path_params["id"]):
            raise _unknown(request)
        self._tell()
        return await self.list(request)

    async def clear(self, request: Request) -> Response:
        self._faults.clear()
        self._tell()
        return await self.list(request)

    def _tell(self) -> None:
        views = map(_view, self._faults.by_id.values())
        self._feed.publish("faults", lambda: {"faults": [asdict(view) for view in views]})


def _unknown(request: Request) -> Refused:
    return Refused(NOT_FOUND, f"no fault {request.path_params['id']!r} is armed")


def _read(sent: Json) -> tuple[Fault, ...]:
    items = sent if isinstance(sent, list) else [sent]
    faults: list[Fault] = []
    problems: list[Problem] = []
    for index, item in enumerate(items):
        found = read_fault(item)
        if isinstance(found, Fault):
            faults.append(found)
        else:
            problems += (_problem(p, index if isinstance(sent, list) else None) for p in found)
    if problems:
        raise Refused(UNPROCESSABLE, "this is no fault", tuple(problems))
    return tuple(faults)


def _problem(problem: FaultProblem, index: int | None) -> Problem:
    path = problem.path if index is None else (index, *problem.path)
    return Problem(".".join(map(str, path)), problem.text)


def _view(armed: Armed) -> ArmedView:
    fault = armed.fault
    dumped = fault.model_dump(mode="json", exclude_none=True)
    return ArmedView(
        id=armed.id,
        match={name: value for name, value in dumped["match"].items() if value},
        effect=dumped["effect"],
        probability=fault.probability,
        count=fault.count,
        fired=armed.fired,
        remaining=None if fault.count is None else fault.count - armed.fired,
    )
