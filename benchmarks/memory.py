"""What a finished task of the mock weighs: the growth of the process over many of them."""

from dataclasses import dataclass

from benchmarks.load import drive
from benchmarks.servers import Candidate, run

CONNECTIONS = 32
# What grows once, whatever comes: free lists, buffers, the allocator's first arenas.
SETTLING_SHARE = 5
LIMIT_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Growth:
    """Each task was of a context of its own, so its conversation is counted with it."""

    tasks: int
    bytes_per_task: float


def growth(candidate: Candidate, tasks: int) -> Growth:
    """Let `candidate` finish `tasks` and look how much it has grown."""
    with run(candidate, core=None) as server:
        _finish(server.url, candidate.text, tasks // SETTLING_SHARE, "settle")
        before = server.resident_bytes
        finished = _finish(server.url, candidate.text, tasks, "measure")
        return Growth(finished, (server.resident_bytes - before) / finished)


def _finish(url: str, text: str, tasks: int, prefix: str) -> int:
    sample = drive(url, text, prefix, connections=CONNECTIONS, seconds=LIMIT_SECONDS, turns=tasks)
    return sample.turns
