"""When what was saved counts as a version, and as a broken one."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from mock_server.errors import Location, Problem, ProjectError
from mock_server.project.load import Project, content_hash, load_project
from mock_server.reload import Broken, Changes, ProjectVersion, versions, watching

DOMAIN = """
session_config: {start_session_after_expiry: false}
responses: {utter_hello: [{text: Hello.}]}
"""
FLOWS = """
flows:
  greet:
    description: greet
    steps: [{action: utter_hello}]
"""
PROBLEM = Problem(Location("data/flows.yml", 2), "flow.step_kind", "a step has nothing")

pytestmark = [pytest.mark.anyio, pytest.mark.req("RELOAD-1")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "flows.yml").write_text(FLOWS)
    (tmp_path / "domain.yml").write_text(DOMAIN)
    (tmp_path / "endpoints.yml").write_text("a2a_server: {description: A greeter}")
    return tmp_path


@dataclass
class Saves:
    """A project whose loads the test decides: each does something and gives an outcome."""

    folder: Path
    loads: list[Callable[[], Project]]
    count: int = 0

    def load(self) -> Project:
        self.count += 1
        return self.loads.pop(0)()

    def hash(self) -> str:
        return str(self.count)

    def project(self) -> Project:
        return load_project(self.folder, environment={})


def broken() -> Project:
    raise ProjectError([PROBLEM])


async def following(saves: Saves, changes: Changes, patience_seconds: float) -> ProjectVersion:
    changes.notice()
    found = versions(
        saves.load, saves.hash, changes, seen="none", patience_seconds=patience_seconds
    )
    async with asyncio.timeout(60):
        return await anext(found)


async def test_version_that_loads_is_one_at_once(folder: Path) -> None:
    saves = Saves(folder, [])
    saves.loads = [saves.project]
    assert isinstance(await following(saves, Changes(), 1000), Project)


async def test_version_that_stays_broken_is_reported(folder: Path) -> None:
    saves = Saves(folder, [broken])
    assert await following(saves, Changes(), 0) == Broken((PROBLEM,))


async def test_file_that_is_half_written_is_not_an_error(folder: Path) -> None:
    changes, loop = Changes(), asyncio.get_running_loop()

    def half_written() -> Project:
        loop.call_soon_threadsafe(changes.notice)
        return broken()

    saves = Saves(folder, [])
    saves.loads = [half_written, saves.project]
    assert isinstance(await following(saves, changes, 1000), Project)


async def test_file_that_is_emptied_before_it_is_filled_is_waited_for(folder: Path) -> None:
    changes, loop = Changes(), asyncio.get_running_loop()
    flows = folder / "data" / "flows.yml"

    def emptied() -> Project:
        flows.write_text("")
        project = saves.project()
        flows.write_text(FLOWS)
        loop.call_soon_threadsafe(changes.notice)
        return project

    saves = Saves(folder, [])
    saves.loads = [emptied, saves.project]
    version = await following(saves, changes, 1000)
    assert isinstance(version, Project)
    assert "greet" in version.assistant.flows


async def test_defect_of_the_loader_is_reported_and_not_raised(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def stumble() -> Project:
        raise ZeroDivisionError

    version = await following(Saves(folder, [stumble]), Changes(), 0)
    assert isinstance(version, Broken)
    assert "ZeroDivisionError" in version.problems[0].text
    assert "a2a_mock.reload.error" in caplog.text


@asynccontextmanager
async def watched(folder: Path, *also: Path) -> AsyncGenerator[Changes]:
    async with asyncio.timeout(60), watching(folder, also) as changes:
        await changes.next()
        yield changes


@pytest.mark.parametrize("file", ["domain.yml", "data/flows.yml", "mock.yml", "data/new/more.yml"])
async def test_save_of_a_yaml_file_is_noticed(folder: Path, file: str) -> None:
    async with watched(folder) as changes:
        (folder / file).parent.mkdir(exist_ok=True)
        (folder / file).write_text("# saved\n")
        await changes.next()


async def test_file_elsewhere_is_noticed(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "settings.conf"
    async with watched(folder, elsewhere) as changes:
        elsewhere.write_text("# saved\n")
        await changes.next()


async def test_folder_that_is_made_is_watched(folder: Path) -> None:
    async with watched(folder) as changes:
        (folder / "domain").mkdir()
        await changes.next()
        while not await changes.come_within(0.2):
            (folder / "domain" / "more.yml").write_text("# saved\n")


def test_hash_follows_the_files_whether_they_load_or_not(folder: Path) -> None:
    first = content_hash(folder)
    assert first == load_project(folder, environment={}).content_hash
    (folder / "data" / "flows.yml").write_text("flows: {")
    assert content_hash(folder) != first
    (folder / "data" / "flows.yml").write_text(FLOWS)
    assert content_hash(folder) == first
