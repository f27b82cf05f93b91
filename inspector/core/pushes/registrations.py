"""Which notifications are expected: a secret token for each turn, and the task it turned out to be.

The judgement of a notification is here; nothing of it depends on when or how it came.
"""

import hmac
from collections.abc import Callable
from dataclasses import dataclass, field

from inspector.core.entries import PushReceived, PushVerdict
from inspector.wire.notifications import read_notification
from inspector.wire.tree import Json

TOKEN_HEADER = "X-A2A-Notification-Token"
MAX_REGISTRATIONS = 1000
MAX_STRANGE_BYTES = 64 * 1024


@dataclass(slots=True)
class Registration:
    """What an agent is given to post to: PushNotificationConfig of A2A 0.3 §6.8.

    It is for the first task that it is used for, or for any where `is_for_any` says so.
    """

    url: str
    token: str = field(repr=False)
    watch: Callable[[PushReceived], None]
    is_for_any: bool = False
    task_id: str | None = None

    @property
    def config(self) -> dict[str, Json]:
        return {"url": self.url, "token": self.token}


@dataclass(frozen=True, slots=True)
class Judgement:
    """`registration` is that of the token, where a known one came."""

    verdict: PushVerdict
    reason: str = ""
    registration: Registration | None = None


class Registrations:
    """The newest thousand."""

    def __init__(self) -> None:
        self._by_age: list[Registration] = []

    def add(self, registration: Registration) -> None:
        self._by_age.append(registration)
        del self._by_age[:-MAX_REGISTRATIONS]

    def judge(self, token: str | None, body: bytes) -> Judgement:
        """What to make of a notification that came with `token`.

        A wrong token is forged whatever the body; none at all is forged for a task that is known,
        and a stranger's otherwise.
        """
        registration = self._find(token) if token is not None else None
        if token is not None and registration is None:
            return Judgement(PushVerdict.FORGED, f"{TOKEN_HEADER} is not the one registered")
        # a stranger's megabytes are not worth the time of reading them
        notification = read_notification(body if registration else body[:MAX_STRANGE_BYTES])
        result = notification.result
        if result is None or result.task_id is None:
            return Judgement(PushVerdict.BAD_BODY, notification.problem, registration)
        if registration is None:
            if any(one.is_for_any or one.task_id == result.task_id for one in self._by_age):
                return Judgement(PushVerdict.FORGED, f"there is no {TOKEN_HEADER}")
            return Judgement(PushVerdict.UNKNOWN_TASK, "nobody asked for news of this task")
        if not registration.is_for_any and registration.task_id not in (None, result.task_id):
            reason = "the token belongs to another task"
            return Judgement(PushVerdict.UNKNOWN_TASK, reason, registration)
        return Judgement(PushVerdict.ACCEPTED, registration=registration)

    def _find(self, token: str) -> Registration | None:
        """The registration of `token`; every one is compared, each in constant time."""
        given = token.encode(errors="replace")
        found = None
        for one in self._by_age:
            if hmac.compare_digest(one.token.encode(), given):
                found = one
        return found
