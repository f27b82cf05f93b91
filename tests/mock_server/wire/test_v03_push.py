"""Push configurations on the 0.3 wire."""

from a2a.compat.v0_3 import types
from hypothesis import given
from hypothesis import strategies as st

from mock_server.tasks.push_config import PushAuthentication, PushConfig
from mock_server.wire.v03_push import (
    decode_push_config,
    encode_push_config,
    encode_push_configs,
)

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
OPTIONAL = st.none() | TEXTS
AUTHENTICATIONS = st.builds(PushAuthentication, st.lists(TEXTS, max_size=2).map(tuple), OPTIONAL)
CONFIGS = st.builds(PushConfig, TEXTS, OPTIONAL, OPTIONAL, st.none() | AUTHENTICATIONS)


@given(TEXTS, CONFIGS)
def test_configuration_survives_the_wire(task_id: str, config: PushConfig) -> None:
    encoded = encode_push_config(task_id, config)
    read = types.TaskPushNotificationConfig.model_validate_json(encoded)
    assert read.task_id == task_id
    assert decode_push_config(read.push_notification_config) == config
    assert encode_push_configs(task_id, [config, config]) == b"[%b,%b]" % (encoded, encoded)


def test_keys_are_ordered_and_nulls_left_out() -> None:
    full = PushConfig("http://x/", "p", "tok", PushAuthentication(("Bearer",), "c"))
    assert encode_push_config("t", full) == (
        b'{"pushNotificationConfig":{"authentication":{"credentials":"c","schemes":["Bearer"]},'
        b'"id":"p","token":"tok","url":"http://x/"},"taskId":"t"}'
    )
    assert encode_push_config("t", PushConfig("")) == (
        b'{"pushNotificationConfig":{"url":""},"taskId":"t"}'
    )
    assert encode_push_configs("t", ()) == b"[]"
