"""`a2a-mock serve`: a project as an A2A sub agent over HTTP."""

import asyncio
import os
import socket
import ssl
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from functools import partial
from pathlib import Path

from structlog.stdlib import get_logger

from mock_server.actions.runner import Actions, open_actions
from mock_server.card import card_of, placeholder
from mock_server.dialogue.model import Json
from mock_server.dialogue.outside import Generate
from mock_server.errors import ActionServerFailed, ProjectError, StartError
from mock_server.llm import open_language_model
from mock_server.logs import LogFormat, configure_logging, logging_in_background
from mock_server.options import Secrets, ServeOptions, local_url, read_secrets
from mock_server.printing import complain, print_lines
from mock_server.profiles import PROFILES
from mock_server.project.load import Model, Project, content_hash, load_model, load_project
from mock_server.push.notifier import Limits, open_notifier
from mock_server.service.conversation import AgentVersion
from mock_server.service.events import EventBus
from mock_server.service.runtime import real_runtime
from mock_server.service.service import Service, ServiceSettings
from mock_server.web.access import host_of
from mock_server.web.admin import ModelSwitch
from mock_server.web.app import App, Page, Site, arm_faults, status, with_admin
from mock_server.web.http_server import (
    ConnectionLimits,
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


def run(options: ServeOptions) -> int:
    """Serve until a signal comes: 0; 2 if the project or the port is unavailable."""
    try:
        secrets = read_secrets(options, os.environ)
        configure_logging(sys.stderr, LogFormat(options.log_format))
        project, tls = _load(options, secrets)
        listener = bind(options.interface, options.port)
    except StartError as error:
        complain(*error.problems)
        return EXIT_CONFIGURATION
    try:
        with listener, logging_in_background():
            run_on_loop(_serve(options, secrets, project, listener, tls))
    except ActionServerFailed as error:
        complain(error)
        return EXIT_CONFIGURATION
    return 0


def _load(options: ServeOptions, secrets: Secrets) -> tuple[Project, ssl.SSLContext | None]:
    """All that is read at the start.

    Raises:
        StartError: with the problems of the project and of the certificate (CFG-7).
    """
    problems: list[str] = []
    project = tls = None
    if options.relax:
        logger.warning("a2a_mock.relax", flag="--relax", text=RELAXED)
    try:
        project = _read(options)
    except ProjectError as error:
        problems += map(str, error.problems)
    else:
        if count := len(project.faults) + len(project.warnings):
            logger.warning("a2a_mock.project.problems", count=count, listed_by="a2a-mock check")
    try:
        if options.ssl_certificate:
            tls = tls_context(options.ssl_certificate, options.ssl_keyfile, secrets.ssl_password)
    except StartError as error:
        problems += error.problems
    if project is None or problems:
        raise StartError(problems)
    return project, tls


def _read(options: ServeOptions) -> Project:
    return load_project(
        options.folder,
        environment=os.environ,
        description=options.description,
        relax=options.relax,
        endpoints=options.endpoints,
        mock=options.mock,
    )


async def _serve(
    options: ServeOptions,
    secrets: Secrets,
    project: Project,
    listener: socket.socket,
    tls: ssl.SSLContext | None,
) -> None:
    here = local_url(options.interface, port_of(listener), is_encrypted=tls is not None)
    url = options.url or project.server.settings.url or here
    site = _site(options, secrets, project, url)
    runtime, events = real_runtime(options.seed), EventBus()
    faults = arm_faults(project.mock.settings.faults or (), options.seed, events)
    async with (
        open_actions(project.action_server) as actions,
        open_language_model(project.mock.language_model) as generate,
        open_notifier(
            project.server.settings,
            opens_loopback=options.allow_local_push,
            sends_authorization=options.push_authorization == "on",
            limits=Limits(pending_bytes=options.max_kept),
            tamper=faults.tamper,
        ) as notifier,
        Service(
            _agent(project, actions, generate),
            runtime,
            _service_settings(options, project),
            notifier,
            events,
        ) as service,
    ):
        served = ServedModel(service, site.card, site.status, card_of(project, url), project.model)
        app = with_admin(
            App(service, site, runtime.now),
            service,
            runtime,
            faults,
            ModelSwitch(served.load, served.unload),
            max_body_bytes=site.max_body_bytes,
            token=secrets.admin_token,
            hosts=(host_of(url), host_of(here), *options.allow_host),
        )

        def renew(saved: Project) -> None:
            faults.renew(saved.mock.settings.faults or ())
            if options.watch_card:
                served.renew_card(card_of(saved, url))

        tune_gc()
        announce = partial(print_lines, _ready_line(options, project, here))
        async with (
            served.loading(options.load_delay),
            _reloading(options, project, service, actions, renew),
        ):
            limits = ConnectionLimits(options.max_connections, options.request_timeout)
            await serve_until_signal(Server(app, announce, tls, limits), service, listener)


def _agent(project: Project, actions: Actions, generate: Generate | None) -> AgentVersion:
    return AgentVersion(
        project.assistant,
        actions.run_with(project.assistant, project.mock.stubs),
        project.server.settings.include_conversation_repair,
        generate,
        keeps_trackers=actions.wants_tracker,
    )


def _service_settings(options: ServeOptions, project: Project) -> ServiceSettings:
    server = project.server.settings
    return ServiceSettings(
        replay_seconds=server.replay_seconds,
        timeout_seconds=server.task_timeout_seconds,
        max_contexts=server.max_contexts,
        max_kept_bytes=options.max_kept,
        profile=PROFILES[options.profile],
    )


def _ready_line(options: ServeOptions, project: Project, url: str) -> str:
    """What scripts wait for; a model that is loaded late has no flows yet."""
    is_late = options.load_delay > 0
    flows = 0 if is_late else sum(not f.is_pattern for f in project.assistant.flows.values())
    return f"ready: {url} profile={options.profile} flows={flows}"


def _reloading(
    options: ServeOptions,
    project: Project,
    service: Service,
    actions: Actions,
    on_loaded: Callable[[Project], None],
) -> AbstractAsyncContextManager[None]:
    if not (options.watch or options.watch_card):
        return nullcontext()
    # watchfiles is worth its import only to those who watch.
    from mock_server.reload import reloading

    elsewhere = {"endpoints": options.endpoints, "mock": options.mock}
    return reloading(
        project,
        partial(_read, options),
        partial(content_hash, options.folder, **elsewhere),
        service,
        actions,
        also_watched=filter(None, elsewhere.values()),
        reports_changes=options.on_reload == "clean",
        on_loaded=on_loaded,
    )


def _site(options: ServeOptions, secrets: Secrets, project: Project, url: str) -> Site:
    shown = Page(status(None))

    def put_model(path: str) -> None:
        model = load_model(Path(path), environment=os.environ, relax=options.relax)
        shown.show(status(model))

    return Site(
        card=Page(placeholder(project, url)),
        status=shown,
        max_body_bytes=options.max_body,
        auth=project.server.auth,
        token=secrets.auth_token,
        put_model=put_model,
    )


class ServedModel:
    """Until `load` is called there is no model: `card_page` shows what it was made with (CARD-7).

    Without a model the card stays, as in the real server, and `status_page` names none.
    """

    def __init__(
        self, service: Service, card_page: Page, status_page: Page, card: Json, model: Model
    ) -> None:
        self._service = service
        self._card_page = card_page
        self._status_page = status_page
        self._card = card
        self._model = model
        self._has_loaded = False
        service.unload()

    def load(self) -> None:
        self._has_loaded = True
        self._service.load()
        self._card_page.show(self._card)
        self._status_page.show(status(self._model))

    def unload(self) -> None:
        self._service.unload()
        self._status_page.show(status(None))

    def renew_card(self, card: Json) -> None:
        """Show `card` from now on, or from when a model is loaded first."""
        self._card = card
        if self._has_loaded:
            self._card_page.show(card)

    @asynccontextmanager
    async def loading(self, delay_seconds: float) -> AsyncGenerator[None]:
        """Load the model now, or while the context lasts."""
        if delay_seconds == 0:
            self.load()
            yield
            return
        async with asyncio.TaskGroup() as group:
            late = group.create_task(self._load_after(delay_seconds))
            yield
            late.cancel()

    async def _load_after(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        self.load()
