"""`mock.yml` as a JSON Schema, so that editors complete and check it while it is written.

What only the whole project can tell, e.g. whether a slot exists, `a2a-mock check` says.
"""

import json
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from mock_server.dialogue.outside import ACTION_TIMEOUT_SECONDS, MODEL_TIMEOUT_SECONDS
from mock_server.faults.fault import Fault

TITLE = "mock.yml of a2a-mock"
DIALECT = "https://json-schema.org/draft/2020-12/schema"

Seconds: TypeAlias = Annotated[float, Field(ge=0)]
Condition: TypeAlias = Annotated[
    str, Field(description="a predicate over slots, e.g. `slots.amount > 1000`")
]

Standing: TypeAlias = Annotated[
    str,
    Field(description="a predicate, e.g. `slots.amount > 1000 and context.active_flow = 'pay'`"),
]


class Entry(BaseModel):
    """A mapping of the file; keys that it does not have are mistakes."""

    model_config = ConfigDict(extra="forbid")


class Rule(Entry):
    """Text that `match` finds, or that is like one of `examples`, means `commands`."""

    match: str | None = Field(default=None, description="regular expression; its groups fill holes")
    examples: list[str] | None = Field(default=None, description="texts that count by likeness")
    threshold: float = Field(default=0.85, gt=0, le=1, description="least likeness to an example")
    when: Standing | None = None
    commands: list[str] = Field(description="e.g. `StartFlow(pay)`, `SetSlot(amount, {amount})`")


class SlotEvent(Entry):
    """Sets a slot; other events of Rasa are ignored."""

    event: str = Field(description="`slot`")
    name: str | None = None
    value: JsonValue = None


class Button(Entry):
    model_config = ConfigDict(extra="allow")
    title: str
    payload: str | None = None


class Utterance(Entry):
    """What an action says: a text of its own, or a response of the domain; other keys fill it."""

    model_config = ConfigDict(extra="allow")
    text: str | None = None
    response: str | None = Field(default=None, description="name of a response of the domain")
    buttons: list[Button] | None = None
    image: str | None = None
    custom: JsonValue = None


class Failure(Entry):
    status: int | None = Field(default=None, description="for the reader; only the name goes out")
    error: str | None = Field(default=None, description="for the reader; only the name goes out")


class StubBranch(Entry):
    """One way an action may go."""

    when: Standing | None = None
    match: str | None = Field(
        default=None, description="regular expression found in the user's message"
    )
    events: list[SlotEvent] | None = None
    responses: list[Utterance] | None = None
    delay_seconds: Seconds = 0
    stream: list[str] | None = Field(default=None, description="texts sent one after the other")
    chunk_delay_seconds: Seconds = Field(default=0, description="between two texts of `stream`")
    fail: Failure | None = Field(default=None, description="the action fails, and its flow with it")


class AgentTurn(Entry):
    """What a sub agent does at a time; the next turn follows unless it waits or ends."""

    say: str | None = Field(default=None, description="text; `{slot}` is filled")
    set: dict[str, JsonValue] | None = Field(default=None, description="slots and their values")
    wait: bool = Field(default=False, description="until the user has said something")
    complete: bool = Field(default=False, description="the flow goes on")
    fail: bool = Field(default=False, description="an internal error; the flow is cancelled")


class ToolBranch(Entry):
    """What a tool of an MCP server returns."""

    when: Condition | None = None
    result: JsonValue = Field(default=None, description="what `result` is in the flow's mapping")
    fail: bool = False


class Server(Entry):
    kind: Literal["stubs", "endpoint", "child"] = "stubs"
    python: str | None = Field(
        default=None, description="interpreter of the child; default: the project's .venv"
    )
    module: str | None = Field(default=None, description="package of the actions")
    timeout_seconds: float = Field(default=ACTION_TIMEOUT_SECONDS, gt=0)


class LanguageModel(Entry):
    """An OpenAI-compatible endpoint that turns messages into commands."""

    base_url: str = Field(description="e.g. `http://localhost:11434/v1`; `${NAME}` is replaced")
    model: str
    api_key: str | None = Field(default=None, description="write `${NAME}`, never the key itself")
    timeout_seconds: float = Field(default=MODEL_TIMEOUT_SECONDS, gt=0)


class Model(Entry):
    """What `/status` and the card show of a trained model."""

    file: str | None = None
    id: str | None = None


class MockYml(Entry):
    """What a deployment gets from a model, an action server and sub agents."""

    patterns_profile: Literal["3.14", "3.16"] = Field(
        default="3.16", description="the version of Rasa whose default patterns run"
    )
    understand: list[Rule] | None = Field(default=None, description="tried in order, first wins")
    llm: LanguageModel | None = None
    actions: dict[str, StubBranch | list[StubBranch] | None] | None = Field(
        default=None, description="stubs by action; of several branches the first that holds"
    )
    unstubbed_actions: Literal["noop", "fail"] = "noop"
    action_server: Literal["stubs", "endpoint", "child"] | Server = "stubs"
    sub_agents: dict[str, list[AgentTurn]] | None = Field(
        default=None, description="scripts by sub agent"
    )
    tools: dict[str, ToolBranch | list[ToolBranch]] | None = Field(
        default=None, description="results by tool; of several branches the first that holds"
    )
    rejected_scope: Literal["only_without_user_flow", "always"] = "only_without_user_flow"
    model: Model | None = None
    faults: list[Fault] | None = Field(default=None, description="armed at the start")
    agents: list[JsonValue] | None = Field(
        default=None, max_length=0, description="not supported by this version"
    )


def schema() -> dict[str, JsonValue]:
    """The JSON Schema; an effect of a fault may be written as its kind alone."""
    made: dict[str, JsonValue] = MockYml.model_json_schema()
    definitions = made["$defs"]
    assert isinstance(definitions, dict)
    fault = definitions["Fault"]
    assert isinstance(fault, dict)
    properties = fault["properties"]
    assert isinstance(properties, dict)
    properties["effect"] = {"anyOf": [properties["effect"], {"type": "string"}]}
    return {"$schema": DIALECT, **made, "title": TITLE}


def text() -> str:
    """`docs/reference/mock.schema.json`, which `scripts/reference` writes."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"
