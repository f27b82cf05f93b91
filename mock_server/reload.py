"""`--watch`: saved versions of the project take over while conversations go on (RELOAD-1).

A version is loaded when the files have come to rest: editors write in steps, and some truncate a
file before they fill it. One that does not load gets a moment to become one that does, before it
is reported as broken.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from structlog.stdlib import get_logger
from watchfiles import (
    Change,
    DefaultFilter,
    awatch,  # pyright: ignore[reportUnknownVariableType]  # names trio, too
)

from mock_server.actions.runner import Actions
from mock_server.dialogue.model import Json
from mock_server.errors import NOWHERE, ActionServerFailed, Problem, ProjectError
from mock_server.project.files import WATCHED
from mock_server.project.load import Project
from mock_server.service.service import Service

FOLDERS = ("data", "domain", "config", "actions")
# Changes that follow each other faster than this are one.
QUIET_MILLISECONDS = 50
PATIENCE_SECONDS = 0.4


@dataclass(frozen=True, slots=True)
class Broken:
    """What keeps the files, as they are now, from being loaded."""

    problems: tuple[Problem, ...]


ProjectVersion: TypeAlias = Project | Broken

logger = get_logger("a2a_server")


@asynccontextmanager
async def reloading(
    project: Project,
    load: Callable[[], Project],
    content_hash: Callable[[], str],
    service: Service,
    actions: Actions,
    *,
    also_watched: Iterable[Path],
    reports_changes: bool,
    on_loaded: Callable[[Project], None],
) -> AsyncGenerator[None]:
    """Let what is saved after `project` was loaded take over from it.

    `load` and `content_hash` read the files as they are; `also_watched` lie outside the folder.
    `on_loaded` is called with each version that serves.
    """
    async with watching(project.folder, also_watched) as changes, asyncio.TaskGroup() as group:
        saved = versions(load, content_hash, changes, seen=project.content_hash)

        async def follow() -> None:
            """Serve each version that loads; of the others, say why they do not."""
            code_hash = project.code_hash
            async for version in saved:
                if isinstance(version, Broken):
                    _report_problems(version, service)
                    continue
                if version.code_hash != code_hash:
                    code_hash = version.code_hash
                    await _renew_actions(actions)
                run_action = actions.run_with(version.assistant, version.mock.stubs)
                service.renew(version.assistant, run_action, reports_changes=reports_changes)
                on_loaded(version)
                _report_version(version, service, project)

        following = group.create_task(follow())
        yield
        following.cancel()


async def _renew_actions(actions: Actions) -> None:
    try:
        await actions.renew()
    except ActionServerFailed as error:
        logger.warning("a2a_mock.reload.action_server_failed", text=str(error))


def _report_version(project: Project, service: Service, started_with: Project) -> None:
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
    if project.mock.language_model != started_with.mock.language_model:
        yield "llm of mock.yml"


def _report_problems(broken: Broken, service: Service) -> None:
    for problem in broken.problems:
        logger.warning("a2a_mock.reload.failed", problem=str(problem))
    service.events.publish(
        "reload",
        lambda: {"outcome": "failed", "problems": [*map(_as_json, broken.problems)]},
        stands=True,
    )


def _as_json(problem: Problem) -> Json:
    return {
        "file": problem.location.file,
        "line": problem.location.line,
        "code": problem.code,
        "text": problem.text,
        "mend": problem.fix,
    }


class Changes:
    """Notices that something was saved; several before the next look count as one."""

    def __init__(self) -> None:
        self._is_pending = asyncio.Event()

    def notice(self) -> None:
        self._is_pending.set()

    async def next(self) -> None:
        await self._is_pending.wait()
        self._is_pending.clear()

    async def come_within(self, seconds: float) -> bool:
        """Whether there are some by then; they are still to be looked at."""
        try:
            async with asyncio.timeout(seconds):
                await self._is_pending.wait()
        except TimeoutError:
            return False
        return True


async def versions(
    load: Callable[[], Project],
    content_hash: Callable[[], str],
    changes: Changes,
    *,
    seen: str,
    patience_seconds: float = PATIENCE_SECONDS,
) -> AsyncGenerator[ProjectVersion]:
    """Each version that differs from the one before; `seen` is the first one's hash."""
    while True:
        await changes.next()
        current = await asyncio.to_thread(content_hash)
        if current == seen:
            continue
        version = await asyncio.to_thread(_attempt, load)
        if _is_doubtful(version) and await changes.come_within(patience_seconds):
            continue
        seen = current
        yield version


def _is_doubtful(version: ProjectVersion) -> bool:
    """Whether it may be half written: it does not load, or a file is empty."""
    return isinstance(version, Broken) or all(
        flow.is_pattern for flow in version.assistant.flows.values()
    )


def _attempt(load: Callable[[], Project]) -> ProjectVersion:
    try:
        return load()
    except ProjectError as error:
        return Broken(error.problems)
    except Exception as error:
        # The server goes on with the version that it has, whatever makes the loader fail.
        logger.exception("a2a_mock.reload.error")
        text = f"the loader failed: {type(error).__name__}"
        return Broken((Problem(NOWHERE, "project.unforeseen", text, "see the log"),))


@asynccontextmanager
async def watching(folder: Path, also: Iterable[Path] = ()) -> AsyncGenerator[Changes]:
    """Notice what is saved in `folder` and in the files of `also`, from now on."""
    changes = Changes()
    watch = _Watch(folder, tuple(also), changes)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(watch.top()), group.create_task(watch.folders())]
        yield changes
        for task in tasks:
            task.cancel()


class _Watch:
    """Two watchers: one of single files, one of what lies below the project's folders.

    What was saved before a watch began has no event: each begins with a notice, which counts
    only once the watch is there.
    """

    def __init__(self, folder: Path, also: tuple[Path, ...], changes: Changes) -> None:
        self._folder = folder
        self._files = frozenset(str(file.absolute()) for file in also)
        self._parents = {folder, *(file.parent for file in also)}
        self._changes = changes
        self._folders_changed = asyncio.Event()

    async def top(self) -> None:
        places = [place for place in self._parents if place.is_dir()]
        self._changes.notice()
        async for changed in awatch(
            *places, recursive=False, watch_filter=self._matters, step=QUIET_MILLISECONDS
        ):
            if any(Path(path).name in FOLDERS for _, path in changed):
                self._folders_changed.set()
            self._changes.notice()

    async def folders(self) -> None:
        """Begin anew when one of the folders comes or goes: the old watch would see nothing."""
        while True:
            self._folders_changed.clear()
            places = [self._folder / name for name in FOLDERS if (self._folder / name).is_dir()]
            if not places:
                await self._folders_changed.wait()
                continue
            self._changes.notice()
            async for _ in awatch(
                *places,
                watch_filter=_ProjectFilter(),
                step=QUIET_MILLISECONDS,
                stop_event=self._folders_changed,
            ):
                self._changes.notice()

    def _matters(self, _: Change, path: str) -> bool:
        file = Path(path)
        is_ours = file.suffix in WATCHED or (file.name in FOLDERS and not file.suffix)
        return is_ours or str(file.absolute()) in self._files


class _ProjectFilter(DefaultFilter):
    """Lets through YAML files, code, and folders, which come and go with their content."""

    def __call__(self, change: Change, path: str) -> bool:
        return Path(path).suffix in {*WATCHED, ""} and super().__call__(change, path)
