"""The agents that the user talks to: those saved by name, then those of the newest sessions."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from inspector.core.saved.session_files import read_header
from inspector.core.saved.sessions import session_paths
from inspector.core.saved.targets import Targets
from inspector.errors import UsageError

MOST_READ = 40


@dataclass(frozen=True, slots=True)
class KnownTarget:
    """`target` is what a command takes; `name` is "" for one that is not saved."""

    target: str
    name: str = ""


def known_targets(targets: Targets, sessions: Path, most: int) -> tuple[KnownTarget, ...]:
    """At most so many targets, each once; a saved one goes by its name."""
    saved = [KnownTarget(one.target, name) for name, one in sorted(targets.saved.items())]
    addresses = {one.target for one in saved}
    recent = (KnownTarget(target) for target in _recent(sessions) if target not in addresses)
    return tuple(islice((*saved, *recent), most))


def _recent(sessions: Path) -> Iterator[str]:
    """The targets of the newest sessions, each once."""
    seen: set[str] = set()
    for path in session_paths(sessions)[:MOST_READ]:
        try:
            target = read_header(path).target
        except UsageError:
            continue
        if target not in seen:
            seen.add(target)
            yield target
