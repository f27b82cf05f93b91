"""Why no notification came, and what to try (inspector.md PUSHRX-3)."""

from dataclasses import dataclass

from inspector.wire.tree import Json, at
from inspector.wire.urls import is_loopback


@dataclass(frozen=True, slots=True)
class Silence:
    """The likely cause, and the next thing to do."""

    cause: str
    hint: str


_TUNNEL = "--public-url URL, with a tunnel from there to this port"


def explain_silence(card: Json, agent_url: str, callback_url: str) -> Silence:
    """Why an agent with `card` did not post to `callback_url`, or refused to."""
    if at(card, "capabilities", "pushNotifications") is not True:
        return Silence(
            "the card says that the agent sends no push notifications",
            "turn them on at the agent; a2a-mock: push_notifications_enabled in endpoints.yml",
        )
    if is_loopback(callback_url) and not is_loopback(agent_url):
        return Silence(
            f"{callback_url} leads the agent to its own machine, not to this one", _TUNNEL
        )
    if is_loopback(callback_url):
        return Silence(
            "patched servers refuse callbacks to loopback addresses, as Rasa's does",
            f"a2a-mock serve --allow-local-push, or {_TUNNEL}",
        )
    return Silence(
        "the agent cannot reach it, or its rules for callbacks forbid the host",
        f"from the agent's machine: curl -i -d '{{}}' {callback_url}, which answers 400 or 401",
    )
