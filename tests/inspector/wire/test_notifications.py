"""What tells one task's callback from another's."""

import pytest

from inspector.wire.notifications import callback_name, callback_of
from inspector.wire.tree import Json
from inspector.wire.urls import below


@pytest.mark.req("PUSHRX-1")
@pytest.mark.parametrize(
    ("url", "callback"),
    [
        ("http://127.0.0.1:4040/", "http://127.0.0.1:4040/ab12"),
        ("https://tunnel.test", "https://tunnel.test/ab12"),
        ("https://tunnel.test/a2a", "https://tunnel.test/a2a/ab12"),
        ("https://tunnel.test/a2a/?key=/1", "https://tunnel.test/a2a/ab12?key=/1"),
    ],
)
def test_a_callback_is_known_by_its_last_segment(url: str, callback: str) -> None:
    assert below(url, "ab12") == callback
    assert callback_name(callback) == "ab12"
    params: Json = {"configuration": {"pushNotificationConfig": {"url": callback}}}
    assert callback_of(params) == "ab12"


@pytest.mark.parametrize("params", [None, {}, {"configuration": {"pushNotificationConfig": 1}}])
def test_without_a_callback_there_is_none(params: Json) -> None:
    assert callback_of(params) == ""
