"""`--watch`: saved versions of the project take over while conversations go on (RELOAD-1)."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

from structlog.stdlib import get_logger

from mock_server.actions.runner import Actions
from mock_server.dialogue.model import Json
from mock_server.errors import ActionServerFailed, Problem
from mock_server.project.load import Project
from mock_server.project.watch import Broken, Version, versions, watching
from mock_server.service.service import Service

logger = get_logger("a2a_server")


@asynccontextmanager
async def reloading(
    project: Project,
    load: Callable[[], Project],
    content_hash: Callable[[], str],
    service: Service,
    actions: Actions,
    *,
    also_watched: Iterable[Path] = (),
    reports_changes: bool = False,
    on_loaded: Callable[[Project], None] | None = None,
) -> AsyncGenerator[None]:
    """Let what is saved after `project` was loaded take over from it.

    `load` and `content_hash` read the files as they are; `also_watched` lie outside the folder.
    `on_loaded` hears of each version that serves.
    """
    async with watching(project.folder, also_watched) as changes, asyncio.TaskGroup() as group:
        saved = versions(load, content_hash, changes, seen=project.content_hash)
        following = group.create_task(
            _follow(
                saved,
                service,
                actions,
                project,
                reports_changes=reports_changes,
                on_loaded=on_loaded,
            )
        )
        yield
        following.cancel()


async def _follow(
    saved: AsyncIterator[Version],
    service: Service,
    actions: Actions,
    started_with: Project,
    *,
    reports_changes: bool,
    on_loaded: Callable[[Project], None] | None,
) -> None:
    """Serve each version that loads; of the others, say why they do not."""
    code_hash = started_with.code_hash
    async for version in saved:
        if isinstance(version, Broken):
            _tell_problems(version, service)
        else:
            if version.code_hash != code_hash:
                code_hash = version.code_hash
                await _renew_actions(actions)
            service.renew(
                version.assistant,
                actions.run_with(version.assistant, version.stubs),
                reports_changes=reports_changes,
            )
            if on_loaded:
                on_loaded(version)
            _tell_version(version, service, started_with)


async def _renew_actions(actions: Actions) -> None:
    try:
        await actions.renew()
    except ActionServerFailed as error:
        logger.warning("a2a_mock.reload.action_server_failed", text=str(error))


def _tell_version(project: Project, service: Service, started_with: Project) -> None:
    flows = sum(not flow.is_pattern for flow in project.assistant.flows.values())
    problems = len(project.faults) + len(project.warnings)
    logger.info("a2a_mock.reload.done", flows=flows, problems=problems)
    for section in _read_at_the_start_only(project, started_with):
        logger.warning("a2a_mock.reload.restart_needed", text=f"{section} has changed")
    service.events.publish(
        "reload",
        lambda: {"outcome": "reloaded", "flows": flows, "model_id": project.content_hash},
    )


def _read_at_the_start_only(project: Project, started_with: Project) -> Iterator[str]:
    """The sections that have changed since, and are not followed."""
    if project.server != started_with.server:
        yield "a2a_server of endpoints.yml"
    if project.action_server != started_with.action_server:
        yield "action_server of mock.yml, or action_endpoint of endpoints.yml,"
    if project.language_model != started_with.language_model:
        yield "llm of mock.yml"


def _tell_problems(broken: Broken, service: Service) -> None:
    for problem in broken.problems:
        logger.warning("a2a_mock.reload.failed", problem=str(problem))
    service.events.publish(
        "reload",
        lambda: {"outcome": "failed", "problems": [*map(_as_json, broken.problems)]},
    )


def _as_json(problem: Problem) -> Json:
    return {
        "file": problem.location.file,
        "line": problem.location.line,
        "code": problem.code,
        "text": problem.text,
        "mend": problem.fix,
    }
