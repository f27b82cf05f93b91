"""The headers of a push notification."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_server.errors import PushRefused
from mock_server.push.headers import push_headers
from mock_server.tasks.push_config import PushAuthentication, PushConfig

JSON_ONLY = {"Content-Type": "application/json"}


def config(token: str | None = None, *schemes: str, credentials: str | None = None) -> PushConfig:
    return PushConfig("http://x/", None, token, PushAuthentication(schemes, credentials))


@pytest.mark.req("PUSH-2")
def test_token_and_credentials_are_sent() -> None:
    wanted = config("tok", "Bearer", "Basic", credentials="a b")
    assert push_headers(wanted, sends_authorization=True) == {
        **JSON_ONLY,
        "X-A2A-Notification-Token": "tok",
        "Authorization": "Bearer a b",
    }


@pytest.mark.req("PUSH-2")
def test_authorization_can_be_left_out_as_the_sdk_does() -> None:
    wanted = config("tok", "not a scheme", credentials="\n")
    headers = push_headers(wanted, sends_authorization=False)
    assert headers == {**JSON_ONLY, "X-A2A-Notification-Token": "tok"}


@pytest.mark.req("PUSH-2")
@pytest.mark.parametrize(
    "bare", [PushConfig("http://x/"), config(""), config(None, "Bearer"), config()]
)
def test_what_was_not_given_is_not_sent(bare: PushConfig) -> None:
    assert push_headers(bare, sends_authorization=True) == JSON_ONLY


@pytest.mark.req("PUSH-2", "HTTP-5")
@pytest.mark.parametrize(
    ("wanted", "named"),
    [
        (config("a\r\nX-Evil: 1"), "token"),
        (config("\x00"), "token"),
        (config(" a"), "token"),
        (config("a "), "token"),
        (config("ü"), "token"),
        (config("a" * 8193), "token"),
        (config(None, "Bearer", credentials="a\nb"), "authentication.credentials"),
        (config(None, "Bea rer", credentials="a"), "authentication.schemes"),
        (config(None, "", credentials="a"), "authentication.schemes"),
        (config(None, credentials="a"), "authentication.schemes"),
    ],
)
def test_what_no_header_can_hold_is_refused(wanted: PushConfig, named: str) -> None:
    with pytest.raises(PushRefused, match=named) as caught:
        push_headers(wanted, sends_authorization=True)
    assert caught.value.reason.startswith(named)


@given(st.text(max_size=20), st.text(max_size=20), st.text(max_size=20))
def test_headers_are_writable_or_refused(token: str, scheme: str, credentials: str) -> None:
    try:
        headers = push_headers(
            config(token, scheme, credentials=credentials), sends_authorization=True
        )
    except PushRefused:
        return
    assert all(value.isascii() and value.isprintable() for value in headers.values())


def test_configuration_shows_no_secret() -> None:
    shown = repr(config("secret", "Bearer", credentials="secret"))
    assert "secret" not in shown
    assert "http" not in shown
