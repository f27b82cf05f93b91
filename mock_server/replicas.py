"""`a2a-mock replicas`: several servers of one project behind HAProxy (server.md STICKY-1)."""

import asyncio
import os
import shutil
import signal
import socket
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncGenerator, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from urllib.parse import urlsplit

from jinja2 import Environment, StrictUndefined

from mock_server.errors import StartError
from mock_server.options import ReplicasOptions, example, local_url
from mock_server.printing import complain, print_lines
from mock_server.web.access import host_of
from mock_server.web.http_server import bind, port_of

TEMPLATE = Path(__file__).with_name("haproxy.cfg.jinja")
# Debian installs it where only root looks.
SYSTEM_FOLDERS = ("/usr/local/sbin", "/usr/sbin", "/sbin")
MISSING = (
    "{} was not found: the replicas need HAProxy 2.6 or later in front of them; "
    "install the package haproxy (apt-get install haproxy), or name it with --haproxy"
)
NOT_ROUTING = (
    "{} ended with status {} before it routed anything: the replicas need HAProxy 2.6 or later; "
    "haproxy -v shows which one it is"
)
EXIT_FAILED = 1
EXIT_CONFIGURATION = 2
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)
# A replica gives its turns five seconds, and its pushes five more.
STOP_SECONDS = 15
# Replicas listen on ports that they find themselves, for the router alone.
REPLICA = (sys.executable, "-m", "mock_server", "serve", "--interface", "127.0.0.1", "--port", "0")
HANDED_ON = ("profile", "endpoints", "mock", "description", "log_format")
HANDED_ON_SWITCHES = ("relax", "allow_local_push")


class Routing(StrEnum):
    STICKY = "sticky"
    ROUND_ROBIN = "round-robin"


@dataclass(frozen=True, slots=True)
class Replica:
    """A running `a2a-mock serve`; `number` counts from 1."""

    number: int
    url: str
    process: Process


def run(options: ReplicasOptions) -> int:
    """Route until a signal comes: 0; 2 if router, port or project is unavailable; else 1."""
    try:
        haproxy = find_haproxy(options.haproxy)
        listener = bind(options.interface, options.port)
    except StartError as error:
        complain(*error.problems)
        return EXIT_CONFIGURATION
    with listener:
        return asyncio.run(_until_signal(_serve(options, haproxy, listener)))


async def _until_signal(work: Coroutine[None, None, int]) -> int:
    """The status of `work`, or 0 if a signal ends it first."""
    task = asyncio.create_task(work)
    loop = asyncio.get_running_loop()
    for number in STOP_SIGNALS:
        loop.add_signal_handler(number, task.cancel)
    await asyncio.wait([task])
    return 0 if task.cancelled() else task.result()


async def _serve(options: ReplicasOptions, haproxy: str, listener: socket.socket) -> int:
    url = local_url(options.interface, port_of(listener))
    line = [*REPLICA, *_handed_on(options), "--url", options.url or url]
    for name in filter(None, (host_of(url), *options.allow_host)):
        line += ["--allow-host", name]
    # On leaving, the replicas end first: their last answers still find the router.
    async with _children() as routers, _children() as processes:
        try:
            replicas = await _start(options.replicas, line, processes)
            text = configuration(
                Routing(options.routing), listener.fileno(), [replica.url for replica in replicas]
            )
            router = await _start_router(haproxy, text, listener, routers)
        except StartError as error:
            complain(*error.problems)
            return EXIT_CONFIGURATION
        _announce(url, options.routing, replicas)
        return await _watch(replicas, router)


def _handed_on(options: ReplicasOptions) -> Iterator[str]:
    yield str(options.project or example("bank"))
    given = asdict(options)
    for name in HANDED_ON:
        if given[name] is not None:
            yield from (f"--{name.replace('_', '-')}", str(given[name]))
    for name in HANDED_ON_SWITCHES:
        if given[name]:
            yield f"--{name.replace('_', '-')}"


async def _start(count: int, line: Sequence[str], processes: list[Process]) -> list[Replica]:
    """Start the first alone, so that problems of the project are reported once."""
    first = [await _start_replica(1, line, processes)]
    others = (_start_replica(number, line, processes) for number in range(2, count + 1))
    return first + await asyncio.gather(*others)


async def _start_replica(number: int, line: Sequence[str], processes: list[Process]) -> Replica:
    # A session of its own: a Ctrl-C is for us, who end the replicas in order.
    process = await asyncio.create_subprocess_exec(*line, stdout=PIPE, start_new_session=True)
    processes.append(process)
    assert process.stdout
    ready = await process.stdout.readline()
    if not ready:
        status = await process.wait()
        raise StartError([f"replica {number} did not start: status {status}"])
    return Replica(number, ready.decode().split()[1], process)


async def _start_router(
    haproxy: str, text: str, listener: socket.socket, processes: list[Process]
) -> Process:
    """HAProxy, configured by `text`, once it answers at `listener`, which it takes over."""
    host, port = listener.getsockname()[:2]
    with listener:
        # Whoever connects from here on waits for the router.
        listener.listen()
        try:
            router = await asyncio.create_subprocess_exec(
                *(haproxy, "-db", "-q", "-f", "/dev/stdin"),
                stdin=PIPE,
                stdout=DEVNULL,
                pass_fds=[listener.fileno()],
                start_new_session=True,
            )
        except OSError as error:
            raise StartError([f"{haproxy} cannot be run: {error.strerror}"]) from error
    processes.append(router)
    assert router.stdin
    router.stdin.write(text.encode())
    router.stdin.close()
    if not await _answers(host, port):
        raise StartError([NOT_ROUTING.format(haproxy, await router.wait())])
    return router


async def _answers(host: str, port: int) -> bool:
    """Whether an HTTP server accepts connections there; it may still be starting."""
    try:
        reader, writer = await asyncio.open_connection(host, port)
    except ConnectionError:
        return False
    writer.write(b"GET /status HTTP/1.0\r\nHost: localhost\r\n\r\n")
    try:
        return (await reader.readline()).startswith(b"HTTP/")
    except ConnectionError:
        return False
    finally:
        writer.close()


def _announce(url: str, routing: str, replicas: Sequence[Replica]) -> None:
    print_lines(
        f"ready: {url} routing={routing} replicas={len(replicas)}",
        *(f"replica {r.number}: {r.url} pid={r.process.pid}" for r in replicas),
    )


async def _watch(replicas: Sequence[Replica], router: Process) -> int:
    """Report each replica that ends; return once the router or the last replica has."""
    routed = asyncio.create_task(router.wait())
    served = {asyncio.create_task(replica.process.wait()): replica for replica in replicas}
    while served and not routed.done():
        await asyncio.wait([routed, *served], return_when=asyncio.FIRST_COMPLETED)
        for ended in [task for task in served if task.done()]:
            replica = served.pop(ended)
            complain(f"replica {replica.number} at {replica.url} ended: status {ended.result()}")
    if routed.done():
        complain(f"the router ended: status {routed.result()}")
    else:
        complain("no replica is left")
    return EXIT_FAILED


@asynccontextmanager
async def _children() -> AsyncGenerator[list[Process]]:
    """A list of processes that are ended when the block is left."""
    processes: list[Process] = []
    try:
        yield processes
    finally:
        running = [process for process in processes if process.returncode is None]
        for process in running:
            process.terminate()
        await _end(running)


async def _end(processes: Sequence[Process]) -> None:
    try:
        async with asyncio.timeout(STOP_SECONDS):
            await asyncio.gather(*(process.wait() for process in processes))
    finally:
        for late in [process for process in processes if process.returncode is None]:
            late.kill()


def find_haproxy(program: Path | None = None) -> str:
    """The path of HAProxy: `program`, or the one that is installed.

    Raises:
        StartError: it was not found.
    """
    folders = os.pathsep.join([os.environ.get("PATH", os.defpath), *SYSTEM_FOLDERS])
    found = shutil.which(str(program or "haproxy"), path=folders)
    if found is None:
        raise StartError([MISSING.format(program or "haproxy")])
    return found


def configuration(routing: Routing, descriptor: int, replica_urls: Sequence[str]) -> str:
    """What HAProxy reads: listen on the inherited `descriptor` and route to `replica_urls`."""
    environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    servers = [
        {"name": f"replica-{number}", "address": urlsplit(url).netloc}
        for number, url in enumerate(replica_urls, start=1)
    ]
    return environment.from_string(TEMPLATE.read_text()).render(
        is_sticky=routing is Routing.STICKY, descriptor=descriptor, servers=servers
    )
