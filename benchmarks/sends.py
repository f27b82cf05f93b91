"""Turns a second: the mock beside a bare route and the servers of two versions of a2a-sdk.

All servers run at once, idle but for the one that is measured; a round asks each in turn, so that
what else the machine does hits them alike. What is compared are medians of the ratios of a round.
"""

import argparse
import json
import os
import statistics
import sys
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass

from benchmarks.load import LoadFailed, Sample, drive
from benchmarks.memory import Growth, growth
from benchmarks.servers import ROOT, Candidate, Running, Unavailable, mock, peer, run

CONNECTIONS = 32
WARM_UP_SECONDS = 0.5
MEASURED_TASKS = 20_000
BARE = "bare Starlette route"
MOCK = "a2a-mock, one flow"
SDK_0326 = "a2a-sdk 0.3.26"
CANDIDATES = (
    peer(BARE, "bare"),
    mock(MOCK, ROOT / "benchmarks" / "one_flow", "when are you open"),
    mock("a2a-mock, the bank", ROOT / "examples" / "bank", "balance of my checking account"),
    peer(SDK_0326, "echo_0326", sdk="a2a-sdk==0.3.26"),
    peer("a2a-sdk 0.3.26, no telemetry", "echo_0326", sdk="a2a-sdk==0.3.26", is_traced=False),
    peer("a2a-sdk 1.3.0", "echo_130"),
)
HEADINGS = (
    "server",
    "turns/s",
    "p50 ms",
    "p99 ms",
    "of bare",
    "p99 of bare",
    "per CPU s",
    "of bare",
)


@dataclass(frozen=True, slots=True)
class Row:
    """One server's medians over the rounds; the ratios are to the bare route's same round.

    What a server does in a second of its own CPU time tells more than what it does in a second
    where other work shares its core.
    """

    server: str
    turns_per_second: float
    p50_ms: float
    p99_ms: float
    share_of_bare: float
    p99_of_bare: float
    turns_per_cpu_second: float
    cpu_share_of_bare: float


@dataclass(frozen=True, slots=True)
class Measured:
    """What one server did in one round, and what its process spent on it."""

    sample: Sample
    cpu_seconds: float

    @property
    def cpu_rate(self) -> float:
        return self.sample.turns / self.cpu_seconds


Round = dict[str, Measured]


def measure(
    candidates: Sequence[Candidate], rounds: int, seconds: float
) -> tuple[list[Round], list[str]]:
    """The rounds, and why a peer is missing from them."""
    server_core, load_core = _cores()
    if load_core is not None:
        os.sched_setaffinity(0, {load_core})
    missing: list[str] = []
    with ExitStack() as stack:
        running: list[tuple[Candidate, Running]] = []
        for candidate in candidates:
            try:
                server = stack.enter_context(run(candidate, server_core))
            except Unavailable as reason:
                missing.append(str(reason))
                continue
            _drive(candidate, server, "warm-up", WARM_UP_SECONDS)
            running.append((candidate, server))
        done = [
            {
                c.name: _measured(c, server, f"round-{n}", seconds)
                for c, server in _turned(running, n)
            }
            for n in range(rounds)
        ]
    return done, missing


def _turned(
    running: list[tuple[Candidate, Running]], number: int
) -> Iterable[tuple[Candidate, Running]]:
    """The servers, another one first in each round."""
    first = number % len(running)
    return running[first:] + running[:first]


def _measured(candidate: Candidate, server: Running, prefix: str, seconds: float) -> Measured:
    spent = server.cpu_seconds
    sample = _drive(candidate, server, prefix, seconds)
    if len(sample.task_ids) != sample.turns:
        raise LoadFailed(f"{candidate.name}: {sample.turns} turns, {len(sample.task_ids)} tasks")
    return Measured(sample, server.cpu_seconds - spent)


def _drive(candidate: Candidate, server: Running, prefix: str, seconds: float) -> Sample:
    return drive(server.url, candidate.text, prefix, connections=CONNECTIONS, seconds=seconds)


def _cores() -> tuple[int | None, int | None]:
    """The server's core and the load's; none where there is only one to share."""
    cores = sorted(os.sched_getaffinity(0))
    return (cores[0], cores[1]) if len(cores) > 1 else (None, None)


def summary(rounds: Sequence[Round]) -> list[Row]:
    return [_row(name, rounds) for name in [c.name for c in CANDIDATES] if name in rounds[0]]


def _row(name: str, rounds: Sequence[Round]) -> Row:
    mine = [done[name] for done in rounds]
    bare = [done[BARE] for done in rounds]
    samples = [measured.sample for measured in mine]
    median = statistics.median
    return Row(
        server=name,
        turns_per_second=median(s.rate for s in samples),
        p50_ms=median(s.percentile(0.50) for s in samples) * 1000,
        p99_ms=median(s.percentile(0.99) for s in samples) * 1000,
        share_of_bare=median(
            m.sample.rate / b.sample.rate for m, b in zip(mine, bare, strict=True)
        ),
        p99_of_bare=median(
            m.sample.percentile(0.99) / b.sample.percentile(0.99)
            for m, b in zip(mine, bare, strict=True)
        ),
        turns_per_cpu_second=median(m.cpu_rate for m in mine),
        cpu_share_of_bare=median(m.cpu_rate / b.cpu_rate for m, b in zip(mine, bare, strict=True)),
    )


def ratio(rounds: Sequence[Round], over: str, under: str) -> float | None:
    """Median of `over`'s rate by `under`'s in the same round; None where one is missing."""
    if not {over, under} <= rounds[0].keys():
        return None
    return statistics.median(done[over].sample.rate / done[under].sample.rate for done in rounds)


def table(rows: Sequence[Row]) -> str:
    lines = [HEADINGS]
    lines += [
        (
            row.server,
            f"{row.turns_per_second:.0f}",
            f"{row.p50_ms:.1f}",
            f"{row.p99_ms:.1f}",
            f"{row.share_of_bare:.2f}",
            f"{row.p99_of_bare:.1f}",
            f"{row.turns_per_cpu_second:.0f}",
            f"{row.cpu_share_of_bare:.2f}",
        )
        for row in rows
    ]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])])
        for line in lines
    )


def aims(rows: Sequence[Row], against_sdk: float | None, kept: Growth) -> list[str]:
    """Each aim with what was measured."""
    ours = next(row for row in rows if row.server == MOCK)
    stated = [
        _aim("turns/s of the bare route's", ours.share_of_bare, ">=", 0.4),
        _aim("p99 of the bare route's", ours.p99_of_bare, "<", 3),
        _aim("bytes per finished task", kept.bytes_per_task, "<=", 3072),
    ]
    if against_sdk is not None:
        stated.insert(1, _aim(f"turns/s of {SDK_0326}'s", against_sdk, ">=", 4))
    return stated


def _aim(what: str, value: float, relation: str, bound: float) -> str:
    is_met = {">=": value >= bound, "<": value < bound, "<=": value <= bound}[relation]
    shown = f"{value:.0f}" if bound > 100 else f"{value:.2f}"
    return f"{'met   ' if is_met else 'missed'} {what}: {shown} (aim {relation} {bound})"


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="how often each server is asked")
    parser.add_argument("--seconds", type=float, default=1.5, help="how long in each round")
    parser.add_argument("--tasks", type=int, default=MEASURED_TASKS, help="to measure memory with")
    parser.add_argument("--only", help="servers whose name has this in it, and the bare route")
    parser.add_argument("--json", action="store_true", help="print one object")
    arguments = parser.parse_args()
    chosen = [c for c in CANDIDATES if c.name in {BARE, MOCK} or (arguments.only or "") in c.name]
    try:
        rounds, missing = measure(chosen, arguments.rounds, arguments.seconds)
        kept = growth(CANDIDATES[1], arguments.tasks)
    except LoadFailed as error:
        sys.stderr.write(f"{error}\n")
        return 1
    rows = summary(rounds)
    against_sdk = ratio(rounds, MOCK, SDK_0326)
    if arguments.json:
        report = {
            "rows": [asdict(row) for row in rows],
            "mock_by_sdk_0326": against_sdk,
            "memory": asdict(kept),
            "missing": missing,
        }
        print(json.dumps(report, indent=2))
    else:
        print(table(rows), *missing, "", *aims(rows, against_sdk, kept), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
