"""Whatever is sent, the mock answers and goes on."""

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from tests.integration.conftest import Command


Values: TypeAlias = st.SearchStrategy[object]


def record(**fields: Values) -> Values:
    """An object with these fields; one that begins with `maybe_` may be absent."""
    optional = {name.removeprefix("maybe_"): f for name, f in fields.items() if "maybe_" in name}
    required = {name: value for name, value in fields.items() if "maybe_" not in name}
    return st.fixed_dictionaries(required, optional=optional)


def nested(leaves: Values, keys: st.SearchStrategy[str], size: int) -> Values:
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=size),
        max_leaves=10,
    )


any_text = st.text(alphabet=st.characters(), max_size=10)
numbers = st.none() | st.booleans() | st.integers() | st.floats()
json_values = nested(numbers | any_text, st.text(max_size=5), 3)
keys = st.sampled_from(
    ["jsonrpc", "id", "method", "params", "message", "parts", "kind", "text", "data", "slots",
     "messageId", "contextId", "taskId", "role", "metadata", "configuration", "historyLength"]
)  # fmt: skip
words = st.sampled_from(
    ["2.0", "message/send", "message/stream", "tasks/get", "tasks/cancel", "tasks/resubscribe",
     "tasks/pushNotificationConfig/get", "user", "text", "data", "send money", "/SetSlots(a=b)"]
)  # fmt: skip
almost_requests = nested(words | json_values, keys, 6)
parts = (
    record(kind=st.just("text"), text=any_text | words)
    | record(kind=st.just("data"), data=record(slots=json_values))
    | json_values
)
turns = record(
    jsonrpc=st.just("2.0"),
    id=st.integers(0, 9) | json_values,
    method=st.sampled_from(["message/send", "message/stream"]),
    params=record(
        message=record(
            messageId=st.text(max_size=5),
            role=st.just("user"),
            parts=st.lists(parts, max_size=3),
            maybe_metadata=json_values,
            maybe_contextId=st.text(max_size=2),
        ),
        maybe_configuration=json_values,
        maybe_metadata=json_values,
    ),
)
written = (almost_requests | turns).map(lambda value: json.dumps(value).encode())
bodies = st.binary(max_size=200) | written


@pytest.mark.req("HTTP-5")
def test_no_input_breaks_the_server(
    run_mock: Callable[[Path], AbstractContextManager["Command"]], project: Path
) -> None:
    with run_mock(project) as mock:

        @settings(max_examples=200)
        @given(bodies)
        def answers(body: bytes) -> None:
            response = mock.client.post("/", content=body)
            assert response.status_code in {200, 409}
            for frame in response.text.removesuffix("\r\n\r\n").split("\r\n\r\n"):
                envelope = json.loads(frame.removeprefix("data: "))
                assert envelope["jsonrpc"] == "2.0"
                assert ("result" in envelope) != ("error" in envelope)

        answers()
        assert mock.client.get("/status").status_code == 200
        status, log = mock.stop()
        assert status == 0
        assert "Traceback" not in log
