"""Why no notification came, from the card and the two addresses."""

import pytest

from inspector.views.channels import explain_silence
from inspector.wire.json_values import Json

PUSHES: Json = {"capabilities": {"pushNotifications": True}}
HERE, THERE = "http://127.0.0.1:4040/", "https://agent.test/"


@pytest.mark.req("PUSHRX-3", "CLI-5")
@pytest.mark.parametrize(
    ("card", "agent", "callback", "cause", "hint"),
    [
        (None, HERE, HERE, "the card says", "push_notifications_enabled"),
        ({"capabilities": {}}, THERE, THERE, "the card says", "push_notifications_enabled"),
        (PUSHES, THERE, HERE, "its own machine", "--public-url"),
        (PUSHES, "http://localhost:5005/", HERE, "refuse callbacks to loopback", "--allow-local"),
        (PUSHES, THERE, "https://tunnel.test/x", "cannot reach it", "curl -i -d '{}' https://tun"),
    ],
)
def test_the_likeliest_cause_is_named(
    card: Json, agent: str, callback: str, cause: str, hint: str
) -> None:
    silence = explain_silence(card, agent, callback)
    assert cause in silence.cause
    assert hint in silence.hint
