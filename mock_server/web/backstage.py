"""Puts the journal, the faults and the admin API around the mock."""

import random
from collections.abc import Iterable
from importlib.metadata import version

from starlette.types import ASGIApp
from structlog.stdlib import get_logger

from mock_server.dialogue.model import Json
from mock_server.faults.armed import ArmedFaults, Draw, Fired, Subject
from mock_server.faults.fault import Fault
from mock_server.faults.matcher import Delivery
from mock_server.service.feed import Feed
from mock_server.service.service import Service
from mock_server.service.world import World
from mock_server.web.admin import Backstage, admin_app
from mock_server.web.admin_model import ModelSwitch
from mock_server.web.edge import Edge
from mock_server.web.journal import Journal

logger = get_logger("a2a_server")


def arm_faults(initial: Iterable[Fault], seed: int | None, feed: Feed) -> ArmedFaults:
    """The faults of a server; with `seed` they hit the same requests in every run."""

    def make_draw(fault_id: str) -> Draw:
        return random.Random(None if seed is None else f"{seed} {fault_id}").random

    def tell(fired: Fired, subject: Subject) -> None:
        logger.info("a2a_mock.fault.fired", fault=fired.fault_id, effect=fired.effect.kind)
        feed.publish("fault", lambda: _told(fired, subject))

    return ArmedFaults(initial, make_draw, tell)


def with_backstage(
    app: ASGIApp,
    service: Service,
    world: World,
    faults: ArmedFaults,
    model: ModelSwitch,
    *,
    max_body_bytes: int,
    token: str | None = None,
) -> ASGIApp:
    """`app` with the admin API beside it, every request to it in the journal, and `faults`."""
    journal = Journal(world.now, world.elapsed_seconds)
    backstage = Backstage(service, model, journal, faults, version("a2a-inspect"), token)
    return Edge(
        app,
        admin_app(backstage),
        journal,
        faults,
        has_trace=service.traces.__contains__,
        sleep=world.sleep,
        max_body_bytes=max_body_bytes,
    )


def _told(fired: Fired, subject: Subject) -> dict[str, Json]:
    told: dict[str, Json] = {
        "fault": fired.fault_id,
        "effect": fired.effect.kind,
        "context": subject.context_id,
        "task": subject.task_id,
    }
    match subject:
        case Delivery(state=state):
            return {**told, "state": state.value}
        case _:
            return {**told, "verb": subject.verb, "path": subject.path, "method": subject.method}
