"""`a2a-mock serve`: a project as an A2A sub agent over HTTP."""

import argparse
import os
import socket
import ssl
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from pathlib import Path

from structlog.stdlib import get_logger

from mock_server.actions.runner import Actions, open_actions
from mock_server.card import card_of, placeholder
from mock_server.dialogue.outside import Generate
from mock_server.errors import ActionServerFailed, ProjectError, StartError
from mock_server.llm import open_language_model
from mock_server.logs import configure_logging
from mock_server.printing import complain, print_lines
from mock_server.project.load import Project, content_hash, load_model, load_project
from mock_server.push.notifier import open_notifier
from mock_server.service.conversation import AgentVersion
from mock_server.service.events import EventBus
from mock_server.service.runtime import real_runtime
from mock_server.service.service import Service, ServiceSettings
from mock_server.settings import Settings, local_url, read_settings
from mock_server.stage import Stage
from mock_server.web.admin_handlers import ModelSwitch
from mock_server.web.app import App, Page, Site, arm_faults, status, with_backstage
from mock_server.web.http_server import (
    Server,
    bind,
    port_of,
    run_on_loop,
    serve_until_signal,
    tls_context,
    tune_gc,
)

EXIT_CONFIGURATION = 2
RELAXED = (
    "taking start_session_after_expiry as false and a description as given where the "
    "project says neither; a real server refuses to start on it"
)

logger = get_logger("a2a_server")


def run(arguments: argparse.Namespace) -> int:
    """Serve until a signal comes: 0; 2 if the project or the port cannot be had."""
    try:
        settings = read_settings(arguments, os.environ)
        configure_logging(sys.stderr, settings.log_format)
        project, tls = _load(settings)
        listener = bind(settings.interface, settings.port)
    except StartError as error:
        complain(*error.problems)
        return EXIT_CONFIGURATION
    try:
        with listener:
            run_on_loop(_serve(settings, project, listener, tls))
    except ActionServerFailed as error:
        complain(error)
        return EXIT_CONFIGURATION
    return 0


def _load(settings: Settings) -> tuple[Project, ssl.SSLContext | None]:
    """All that is read at the start.

    Raises:
        StartError: with the problems of the project and of the certificate (CFG-7).
    """
    problems: list[str] = []
    project = tls = None
    try:
        project = _load_project(settings)
    except ProjectError as error:
        problems += map(str, error.problems)
    try:
        tls = _tls(settings)
    except StartError as error:
        problems += error.problems
    if project is None or problems:
        raise StartError(problems)
    return project, tls


def _tls(settings: Settings) -> ssl.SSLContext | None:
    if settings.ssl_certificate is None:
        return None
    return tls_context(settings.ssl_certificate, settings.ssl_keyfile, settings.ssl_password)


def _load_project(settings: Settings) -> Project:
    if settings.relax:
        logger.warning("a2a_mock.relax", flag="--relax", text=RELAXED)
    project = _read(settings)
    problems = len(project.faults) + len(project.warnings)
    if problems:
        logger.warning("a2a_mock.project.problems", count=problems, listed_by="a2a-mock check")
    return project


def _read(settings: Settings) -> Project:
    return load_project(
        settings.project,
        environment=os.environ,
        description=settings.description,
        relax=settings.relax,
        endpoints=settings.endpoints,
        mock=settings.mock,
    )


async def _serve(
    settings: Settings, project: Project, listener: socket.socket, tls: ssl.SSLContext | None
) -> None:
    async with (
        open_actions(project.action_server) as actions,
        open_language_model(project.language_model) as generate,
    ):
        await _serve_with(settings, project, listener, tls, actions=actions, generate=generate)


async def _serve_with(
    settings: Settings,
    project: Project,
    listener: socket.socket,
    tls: ssl.SSLContext | None,
    *,
    actions: Actions,
    generate: Generate | None,
) -> None:
    server = project.server
    here = local_url(settings.interface, port_of(listener), is_encrypted=tls is not None)
    url = settings.url or server.url or here
    runtime = real_runtime(settings.seed)
    run_action = actions.run_with(project.assistant, project.stubs)
    agent = AgentVersion(
        project.assistant,
        run_action,
        server.include_conversation_repair,
        generate,
        keeps_stories=actions.wants_story,
    )
    service_settings = ServiceSettings(
        replay_seconds=server.a2a_message_cache_ttl_seconds,
        timeout_seconds=server.task_timeout_seconds,
        max_contexts=server.max_contexts,
        profile=settings.profile,
    )
    is_late = settings.load_delay_seconds > 0
    flows = 0 if is_late else sum(not f.is_pattern for f in project.assistant.flows.values())
    site = _site(settings, project, url)
    ready = f"ready: {here} profile={settings.profile.name} flows={flows}"
    events = EventBus()
    faults = arm_faults(project.initial_faults, settings.seed, events)
    async with (
        open_notifier(
            server,
            opens_loopback=settings.allow_local_push,
            sends_authorization=settings.push_authorization,
            tamper=faults.tamper,
        ) as notifier,
        Service(agent, runtime, service_settings, notifier, events) as service,
    ):
        stage = Stage(service, site.card, site.status, card_of(project, url), project.model)
        app = with_backstage(
            App(service, site, runtime.now),
            service,
            runtime,
            faults,
            ModelSwitch(stage.load, stage.unload),
            max_body_bytes=site.max_body_bytes,
            token=settings.admin_token,
        )

        def renew(saved: Project) -> None:
            faults.renew(saved.initial_faults)
            if settings.watch_card:
                stage.renew_card(card_of(saved, url))

        tune_gc()
        async with (
            stage.loading(settings.load_delay_seconds),
            _reloading(settings, project, service, actions, renew),
        ):
            await serve_until_signal(
                Server(app, partial(print_lines, ready), tls), service, listener
            )


def _reloading(
    settings: Settings,
    project: Project,
    service: Service,
    actions: Actions,
    on_loaded: Callable[[Project], None],
) -> AbstractAsyncContextManager[None]:
    if not settings.watch:
        return nullcontext()
    # watchfiles is worth its import only to those who watch.
    from mock_server.reload import reloading

    elsewhere = {"endpoints": settings.endpoints, "mock": settings.mock}
    return reloading(
        project,
        partial(_read, settings),
        partial(content_hash, settings.project, **elsewhere),
        service,
        actions,
        also_watched=filter(None, elsewhere.values()),
        reports_changes=settings.reports_changes,
        on_loaded=on_loaded,
    )


def _site(settings: Settings, project: Project, url: str) -> Site:
    shown = Page(status(None))

    def put_model(path: str) -> None:
        model = load_model(Path(path), environment=os.environ, relax=settings.relax)
        shown.show(status(model))

    return Site(
        card=Page(placeholder(project, url)),
        status=shown,
        max_body_bytes=settings.max_body_bytes,
        auth=project.server.auth,
        token=settings.auth_token,
        put_model=put_model,
    )
