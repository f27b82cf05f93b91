"""Where a client wants to be told of a task's progress."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class PushAuthentication:
    """How the callback knows us; the first of `schemes` is used."""

    schemes: tuple[str, ...]
    credentials: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class PushConfig:
    """`id` is None until it is registered; a URL may hold a secret, so none of it is shown."""

    url: str = field(repr=False)
    id: str | None = None
    token: str | None = field(default=None, repr=False)
    authentication: PushAuthentication | None = None
