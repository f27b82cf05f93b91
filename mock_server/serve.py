"""`a2a-mock serve`: a project as an A2A sub agent over HTTP."""

import argparse
import asyncio
import gc
import os
import socket
import sys
from collections.abc import Iterator
from functools import partial

from structlog.stdlib import get_logger

from mock_server.actions.runner import run_stub
from mock_server.errors import ProjectError
from mock_server.logs import configure_logging
from mock_server.project.endpoints import A2AServer
from mock_server.project.load import Project, load_project
from mock_server.push.opening import open_notifier
from mock_server.service.brain import Brain
from mock_server.service.service import Service, ServiceSettings
from mock_server.service.world import real_world
from mock_server.settings import Settings, local_url, read_settings
from mock_server.tasks.card import CardSettings, agent_card
from mock_server.web.app import Site, create_app
from mock_server.web.listener import bind, port_of
from mock_server.web.server import Server, serve_until_signal

EXIT_CONFIGURATION = 2
# Finished tasks are kept as bytes, so there is little garbage to look for.
COLLECT_AFTER_ALLOCATIONS = 50_000
RELAXED = (
    "taking start_session_after_expiry as false and a description as given where the "
    "project says neither; a real server refuses to start on it"
)

logger = get_logger("a2a_server")


def run(arguments: argparse.Namespace) -> int:
    """Serve until a signal comes: 0; 2 if the project or the port cannot be had."""
    settings = read_settings(arguments)
    configure_logging(sys.stderr, settings.log_format)
    try:
        project = _load(settings)
    except ProjectError as error:
        sys.stderr.writelines(f"{problem}\n" for problem in error.problems)
        return EXIT_CONFIGURATION
    try:
        listener = bind(settings.interface, settings.port)
    except OSError as error:
        sys.stderr.write(_unbound(settings, error))
        return EXIT_CONFIGURATION
    with listener:
        asyncio.run(_serve(settings, project, listener))
    return 0


def _load(settings: Settings) -> Project:
    if settings.relax:
        logger.warning("a2a_mock.relax", flag="--relax", text=RELAXED)
    project = load_project(
        settings.project,
        environment=os.environ,
        description=settings.description,
        relax=settings.relax,
        endpoints=settings.endpoints,
        mock=settings.mock,
    )
    problems = len(project.faults) + len(project.warnings)
    if problems:
        logger.warning("a2a_mock.project.problems", count=problems, listed_by="a2a-mock check")
    for warning in _unserved(project.server):
        logger.warning("a2a_mock.project.not_served", text=warning)
    return project


def _unserved(server: A2AServer) -> Iterator[str]:
    """What the project asks of its server and does not get."""
    if server.agent_card_path:
        yield "a2a_server.agent_card_path is not read: the card is made from the flows"


def _unbound(settings: Settings, error: OSError) -> str:
    return (
        f"port {settings.port} on {settings.interface} cannot be had: {error.strerror}; "
        "choose another with --port\n"
    )


async def _serve(settings: Settings, project: Project, listener: socket.socket) -> None:
    server = project.server
    here = local_url(settings.interface, port_of(listener))
    world = real_world(settings.seed)
    brain = Brain(
        project.assistant, partial(run_stub, project.stubs), server.include_conversation_repair
    )
    service_settings = ServiceSettings(
        replay_seconds=server.a2a_message_cache_ttl_seconds,
        timeout_seconds=server.task_timeout_seconds,
        max_contexts=server.max_contexts,
        profile=settings.profile,
    )
    flows = sum(not flow.is_pattern for flow in project.assistant.flows.values())
    ready = f"ready: {here} profile={settings.profile.name} flows={flows}\n"
    async with (
        open_notifier(
            server,
            opens_loopback=settings.allow_local_push,
            sends_authorization=settings.push_authorization,
        ) as notifier,
        Service(brain, world, service_settings, notifier) as service,
    ):
        app = create_app(service, _site(settings, project, here), world.now)
        _settle_garbage()
        await serve_until_signal(Server(app, partial(_announce, ready)), service, listener)


def _site(settings: Settings, project: Project, here: str) -> Site:
    server = project.server
    card = agent_card(
        project.assistant,
        CardSettings(
            url=settings.url or server.url or here,
            description=server.description,
            offers_repair=server.include_conversation_repair,
            offers_push=server.push_notifications_enabled,
            model_file=project.model_file,
            model_id=project.model_id,
        ),
    )
    return Site(
        card=card,
        model_file=project.model_file or project.folder.resolve().name,
        model_id=project.model_id or project.content_hash,
        max_body_bytes=settings.max_body_bytes,
        auth=server.auth,
    )


def _settle_garbage() -> None:
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER_ALLOCATIONS, 50, 100)


def _announce(line: str) -> None:
    sys.stdout.write(line)
    sys.stdout.flush()
