"""`/__admin/model` and `/__admin/reset`: the mock's state as a whole."""

from collections.abc import Callable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from mock_server.faults.armed import ArmedFaults
from mock_server.service.service import Service
from mock_server.web.admin_answers import answer
from mock_server.web.journal import Journal


@dataclass(frozen=True, slots=True)
class ModelSwitch:
    """`load` brings back what `unload` took away; either may be called twice."""

    load: Callable[[], None]
    unload: Callable[[], None]


@dataclass(frozen=True, slots=True)
class ModelView:
    """`flows` counts the project's own, those of the version that serves now."""

    is_loaded: bool
    flows: int


@dataclass(frozen=True, slots=True)
class ResetView:
    """What is there after a reset: the faults of `mock.yml` and a loaded model."""

    faults: tuple[str, ...]
    is_loaded: bool


class ModelDesk:
    """The routes `reset` and those below `model`."""

    def __init__(
        self, service: Service, model: ModelSwitch, journal: Journal, faults: ArmedFaults
    ) -> None:
        self._service = service
        self._model = model
        self._journal = journal
        self._faults = faults

    async def show(self, _: Request) -> Response:
        return answer(self._view())

    async def load(self, _: Request) -> Response:
        return self._switch(is_loaded=True)

    async def unload(self, _: Request) -> Response:
        return self._switch(is_loaded=False)

    async def reset(self, _: Request) -> Response:
        self._service.reset()
        self._journal.clear()
        self._faults.reset()
        self._model.load()
        self._service.feed.publish("reset", lambda: {})
        return answer(ResetView(tuple(self._faults.by_id), is_loaded=True))

    def _switch(self, *, is_loaded: bool) -> Response:
        (self._model.load if is_loaded else self._model.unload)()
        self._service.feed.publish("model", lambda: {"is_loaded": is_loaded})
        return answer(self._view())

    def _view(self) -> ModelView:
        flows = self._service.assistant.flows.values()
        return ModelView(self._service.is_loaded, sum(not flow.is_pattern for flow in flows))
