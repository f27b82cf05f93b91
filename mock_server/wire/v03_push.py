"""Push configurations on the 0.3 wire: keys as a2a-sdk 0.3.26 orders them, no nulls."""

from collections.abc import Iterable

from a2a.compat.v0_3 import types

from mock_server.dialogue.model import Json
from mock_server.tasks.json_text import encode_json
from mock_server.tasks.push_config import PushAuthentication, PushConfig


def decode_push_config(config: types.PushNotificationConfig) -> PushConfig:
    authentication = config.authentication
    return PushConfig(
        url=config.url,
        id=config.id,
        token=config.token,
        authentication=authentication
        and PushAuthentication(tuple(authentication.schemes), authentication.credentials),
    )


def encode_push_config(task_id: str, config: PushConfig) -> bytes:
    return encode_json(_registered(task_id, config))


def encode_push_configs(task_id: str, configs: Iterable[PushConfig]) -> bytes:
    return encode_json([_registered(task_id, config) for config in configs])


def _registered(task_id: str, config: PushConfig) -> Json:
    authentication = config.authentication
    fields: dict[str, Json] = {
        "authentication": authentication and _authentication(authentication),
        "id": config.id,
        "token": config.token,
        "url": config.url,
    }
    return {"pushNotificationConfig": _without_nulls(fields), "taskId": task_id}


def _authentication(authentication: PushAuthentication) -> Json:
    return _without_nulls(
        {"credentials": authentication.credentials, "schemes": [*authentication.schemes]}
    )


def _without_nulls(fields: dict[str, Json]) -> dict[str, Json]:
    return {key: value for key, value in fields.items() if value is not None}
