"""`mock.yml`: what stands in for a model and an action server (flows.md §13).

The models say what the file may hold: the loader, the JSON Schema and the reference page come
from them. What only the whole project can show, e.g. whether a slot exists, is checked later.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, Self, TypeAlias

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    PlainValidator,
    model_validator,
)
from pydantic_core import InitErrorDetails, ValidationError

from mock_server.dialogue.assistant import RejectedScope, ToolBranch, UnderstandRule
from mock_server.dialogue.commands import (
    HOLE,
    Clarify,
    CommandSyntaxError,
    SetSlot,
    StartFlow,
    parse_command,
)
from mock_server.dialogue.model import END, AgentTurnStep, Branch, Button, Flow, Json
from mock_server.dialogue.outside import (
    ACTION_TIMEOUT_SECONDS,
    MODEL_TIMEOUT_SECONDS,
    ActionServerKind,
    LanguageModel,
    Stub,
    StubBranch,
    Stubs,
    UnstubbedActions,
    Utterance,
)
from mock_server.dialogue.regular_expressions import compile_expression
from mock_server.errors import Location
from mock_server.faults.fault import Fault, read_fault
from mock_server.project.agents import agent_flow
from mock_server.project.builtin import LATEST
from mock_server.project.findings import Findings, MentionKind
from mock_server.project.nodes import MapNode, Node, ScalarNode, expand_keys, plain
from mock_server.project.validation import (
    PLAIN,
    AnyJson,
    AsWritten,
    Count,
    FileEntry,
    Flag,
    Items,
    Seconds,
    Share,
    Text,
    Timeout,
    one_or_more,
    refusal,
    validated,
)

FILE = "mock.yml"
EXPANDED = frozenset({"action_server", "llm", "model"})
SCHEMES = ("http://", "https://", "${")
FAULTS_REFERENCE = "see docs/reference/faults.md"
# Keys of rasa-sdk's messages that no channel of text shows.
IGNORED_UTTERANCE_KEYS = frozenset({"elements", "attachment", "quick_replies"})


def _regular_expression(text: str) -> str:
    try:
        compile_expression(text)
    except ValueError as error:
        raise refusal("mock.match", str(error)) from error
    return text


def _command(text: str) -> str:
    try:
        parse_command(text)
    except CommandSyntaxError as error:
        raise refusal("mock.command", str(error)) from error
    return text


def _address(text: str) -> str:
    if not text.startswith(SCHEMES):
        expected = "expected an address with http:// or https://"
        raise refusal("mock.llm", f"found {text!r}, {expected}")
    return text


def _unsupported(raw: object) -> object:
    if raw not in (None, [], {}):
        text = "this version does not support it"
        raise refusal("mock.not_supported", text, "remove it")
    return []


def _of_kind(raw: object) -> object:
    """A mapping with a kind, for which the kind may stand alone."""
    if isinstance(raw, ScalarNode):
        return MapNode(raw.location, {"kind": raw}, {})
    return raw


def _fault(raw: JsonValue) -> Fault:
    fault = read_fault(raw)
    if isinstance(fault, Fault):
        return fault
    problems = (
        InitErrorDetails(
            type=refusal("mock.fault", problem.text, FAULTS_REFERENCE),
            loc=problem.path,
            input=raw,
        )
        for problem in fault
    )
    raise ValidationError.from_exception_data("Fault", [*problems])


RegularExpression: TypeAlias = Annotated[Text, AfterValidator(_regular_expression)]
CONDITION = "a predicate over slots, e.g. `slots.amount > 1000`"
WHEN = "a predicate, e.g. `slots.amount > 1000 and context.active_flow = 'pay'`"


class MockEntry(FileEntry):
    """A mapping of `mock.yml`."""

    codes: ClassVar[Mapping[str, str]] = {
        "enum": "mock.choice",
        "extra_forbidden": "mock.unknown_key",
        "finite_number": "mock.seconds",
        "greater_than": "mock.seconds",
        "greater_than_equal": "mock.seconds",
        "literal_error": "mock.choice",
    }


class RuleEntry(MockEntry):
    """A message that `match` finds, or that resembles one of `examples`, means `commands`."""

    codes: ClassVar[Mapping[str, str]] = {
        **MockEntry.codes,
        "finite_number": "mock.threshold",
        "greater_than": "mock.threshold",
        "less_than_equal": "mock.threshold",
        "missing": "mock.rule",
    }
    match: RegularExpression | None = Field(
        default=None, description="regular expression; its groups fill holes"
    )
    examples: Items[Text] | None = Field(
        default=None, description="messages that are matched by similarity"
    )
    threshold: Share = Field(default=0.85, description="lowest similarity to an example")
    when: Text | None = Field(default=None, description=WHEN)
    commands: Items[Annotated[Text, AfterValidator(_command)]] = Field(
        description="e.g. `StartFlow(pay)`, `SetSlot(amount, {amount})`"
    )

    @model_validator(mode="after")
    def _counts_in_one_way(self) -> Self:
        if (self.match is None) == (not self.examples):
            raise refusal("mock.rule", "a rule needs `commands`, and either `match` or `examples`")
        return self


class SlotEventEntry(MockEntry):
    """Sets a slot; other events of Rasa are ignored."""

    model_config = ConfigDict(extra="ignore")
    codes: ClassVar[Mapping[str, str]] = {**MockEntry.codes, "missing": "mock.event"}
    event: Text = Field(description="`slot`")
    name: Text | None = None
    value: AnyJson = None

    @model_validator(mode="after")
    def _names_its_slot(self) -> Self:
        if self.event == "slot" and self.name is None:
            raise refusal("mock.event", "a slot event has no `name`")
        return self


class ButtonEntry(MockEntry):
    """A button; one without a payload sends its title."""

    model_config = ConfigDict(extra="allow")
    codes: ClassVar[Mapping[str, str]] = {**MockEntry.codes, "missing": "response.button"}
    title: Text
    payload: Text | None = None


class UtteranceEntry(MockEntry):
    """A message of an action: its own text, or a response of the domain that other keys fill."""

    model_config = ConfigDict(extra="allow")
    text: Text | None = None
    response: Text | None = Field(default=None, description="name of a response of the domain")
    template: Text | None = Field(default=None, description="older name of `response`")
    buttons: Items[ButtonEntry] | None = None
    image: Text | None = None
    custom: AnyJson = None


class FailureEntry(MockEntry):
    """For readers of the file: only the action's name is sent."""

    status: Count | None = Field(default=None, description="informational; it is not sent")
    error: Text | None = Field(default=None, description="informational; it is not sent")


class StubEntry(MockEntry):
    """One outcome of an action."""

    when: Text | None = Field(default=None, description=WHEN)
    match: RegularExpression | None = Field(
        default=None, description="regular expression found in the user's message"
    )
    events: Items[SlotEventEntry] | None = Field(
        default=None, description="`slot` events; the others of Rasa are ignored"
    )
    responses: Items[UtteranceEntry] | None = Field(
        default=None, description="messages, each a `text` or a `response` of the domain"
    )
    delay_seconds: Seconds = Field(default=0, description="how long the action takes")
    stream: Items[Text] | None = Field(default=None, description="texts sent one after the other")
    chunk_delay_seconds: Seconds = Field(default=0, description="between two texts of `stream`")
    fail: FailureEntry | None = Field(
        default=None, description="the action fails, and its flow with it"
    )


class AgentTurnEntry(MockEntry):
    """One turn of a sub agent; the next one follows unless it waits or ends."""

    say: Text | None = Field(default=None, description="text; `{slot}` is filled")
    set: dict[str, AnyJson] | None = Field(default=None, description="slots and their values")
    wait: Flag = Field(default=False, description="wait for the user's next message")
    complete: Flag = Field(default=False, description="the agent is done and the flow goes on")
    fail: Flag = Field(default=False, description="an internal error; the flow is cancelled")

    @model_validator(mode="after")
    def _ends_in_one_way(self) -> Self:
        if self.wait + self.complete + self.fail > 1:
            text = "a turn can do one of `wait`, `complete` and `fail`, not several"
            raise refusal("mock.agent_turn", text)
        return self


class ToolEntry(MockEntry):
    """One result of an MCP tool."""

    when: Text | None = Field(default=None, description=CONDITION)
    result: AnyJson = Field(default=None, description="what `result` is in the flow's mapping")
    fail: Flag = Field(default=False, description="an internal error")


class ActionServerEntry(MockEntry):
    """Where custom actions without a stub run."""

    kind: Annotated[ActionServerKind, AsWritten] = Field(
        default=ActionServerKind.STUBS, description="`stubs`, `endpoint` or `child`"
    )
    python: Text | None = Field(
        default=None,
        description=(
            "the child's interpreter, by name or by its path from the project's folder; "
            "if left out, the project's `.venv/bin/python`, else the mock's"
        ),
    )
    module: Text | None = Field(
        default=None,
        description=(
            "package of the actions; if left out, `action_endpoint.actions_module`, else `actions`"
        ),
    )
    timeout_seconds: Timeout = Field(
        default=ACTION_TIMEOUT_SECONDS, description="how long an action may take"
    )


class LanguageModelEntry(MockEntry):
    """An OpenAI-compatible endpoint that turns messages into commands."""

    codes: ClassVar[Mapping[str, str]] = {**MockEntry.codes, "missing": "mock.llm"}
    base_url: Annotated[Text, AfterValidator(_address)] = Field(
        description="e.g. `http://localhost:11434/v1`; `${NAME}` is replaced"
    )
    model: Text = Field(description="name of the model")
    api_key: Text | None = Field(
        default=None, description="write `${NAME}`, never the key itself", repr=False
    )
    timeout_seconds: Timeout = Field(
        default=MODEL_TIMEOUT_SECONDS, description="how long an answer may take"
    )


class ModelEntry(MockEntry):
    """The trained model that `/status` and the card name."""

    file: Text | None = None
    id: Text | None = None


StubEntries: TypeAlias = dict[
    str,
    Annotated[
        list[StubEntry],
        BeforeValidator(one_or_more, json_schema_input_type=StubEntry | list[StubEntry] | None),
    ],
]


class MockYml(MockEntry):
    """What stands in for a model, an action server and sub agents."""

    patterns_profile: Annotated[Literal["3.14", "3.16"], AsWritten] = Field(
        default=LATEST,
        description=(
            'the version of Rasa whose patterns run: `"3.16"` asks before it resumes a flow '
            'and when it is done, `"3.14"` only says so'
        ),
    )
    understand: Items[RuleEntry] | None = Field(
        default=None,
        description="rules that turn messages into commands; the first match counts",
    )
    llm: LanguageModelEntry | None = Field(
        default=None, description="a language model that generates commands"
    )
    actions: StubEntries | None = Field(
        default=None, description="stubs of custom actions, by name"
    )
    unstubbed_actions: Annotated[UnstubbedActions, AsWritten] = Field(
        default=UnstubbedActions.NOOP,
        description="`noop` or `fail`: what an action without a stub and a server does",
    )
    action_server: Annotated[
        ActionServerEntry | None,
        BeforeValidator(_of_kind, json_schema_input_type=ActionServerKind | ActionServerEntry),
    ] = Field(
        default=None,
        description="`stubs`, `endpoint`, `child`, or a mapping with `kind`; `stubs` if left out",
    )
    sub_agents: dict[str, Items[AgentTurnEntry]] | None = Field(
        default=None, description="scripts of the sub agents that flows call, by name"
    )
    tools: (
        dict[
            str,
            Annotated[
                list[ToolEntry],
                BeforeValidator(one_or_more, json_schema_input_type=ToolEntry | list[ToolEntry]),
            ],
        ]
        | None
    ) = Field(default=None, description="results of the MCP tools that flows call, by name")
    rejected_scope: Annotated[RejectedScope, AsWritten] = Field(
        default=RejectedScope.ONLY_WITHOUT_USER_FLOW,
        description=(
            "when a message that nothing understands is `rejected`: "
            "`only_without_user_flow` or `always`"
        ),
    )
    model: ModelEntry | None = Field(
        default=None,
        description=(
            "`file` and `id` that `/status` and the card show; if left out, the folder and a hash"
        ),
    )
    faults: (
        Items[Annotated[Fault, PlainValidator(_fault, json_schema_input_type=Fault), PLAIN]] | None
    ) = Field(default=None, description="faults armed at the start, see [faults](faults.md)")
    agents: (
        Annotated[list[JsonValue], BeforeValidator(_unsupported), PLAIN, Field(max_length=0)] | None
    ) = Field(default=None, description="not supported by this version")


class StubsOfTests(FileEntry):
    """The stubs of a test file, beside what else is in it."""

    model_config = ConfigDict(extra="ignore")
    stub_custom_actions: StubEntries | None = None


@dataclass(frozen=True, slots=True)
class MockFile:
    """`mock.yml`: its `settings` as they are written, and what the engine makes of some."""

    settings: MockYml
    understand: tuple[UnderstandRule, ...]
    stubs: Stubs
    language_model: LanguageModel | None
    scripts: Mapping[str, Flow]
    tools: Mapping[str, tuple[ToolBranch, ...]]


def read_mock_file(root: Node | None, environment: Mapping[str, str], found: Findings) -> MockFile:
    """`mock.yml`, with the defaults for the keys that it leaves out."""
    expanded = expand_keys(root, EXPANDED, environment, found)
    settings = validated(MockYml, expanded, found, FILE) or MockYml.model_construct()
    _check_ids(settings, found)
    reader, llm = _Reader(found), settings.llm
    return MockFile(
        settings=settings,
        understand=tuple(reader.rule(rule) for rule in settings.understand or ()),
        stubs=Stubs(
            reader.stubs(settings, "actions", settings.actions), settings.unstubbed_actions
        ),
        language_model=llm
        and LanguageModel(llm.base_url, llm.model, llm.api_key or "", llm.timeout_seconds),
        scripts=reader.scripts(settings),
        tools=reader.tools(settings),
    )


def read_test_stubs(root: MapNode, found: Findings) -> Mapping[str, Stub]:
    """The stubs of a test file, by the action's name."""
    entry = validated(StubsOfTests, root, found, "a test file")
    if entry is None:
        return {}
    return _Reader(found).stubs(entry, "stub_custom_actions", entry.stub_custom_actions)


def _check_ids(settings: MockYml, found: Findings) -> None:
    ids: set[str] = set()
    for index, fault in enumerate(settings.faults or ()):
        if fault.id in ids:
            text = f"a second fault has the id {fault.id!r}"
            fix = "give each an id of its own, or none"
            found.error(settings.at("faults", index), "mock.fault", text, fix)
        if fault.id is not None:
            ids.add(fault.id)


class _Reader:
    """Converts entries to the engine's types, and notes what they mention."""

    def __init__(self, found: Findings) -> None:
        self._found = found

    def _when(self, entry: RuleEntry | StubEntry | ToolEntry, by: str) -> str | None:
        if entry.when is not None:
            self._found.mention(MentionKind.CONDITION, entry.when, entry.at("when"), by)
        return entry.when

    def _slot(self, name: str, value: Json, at: Location, by: str) -> tuple[str, Json]:
        self._found.mention(MentionKind.SLOT, name, at, by)
        self._found.mention(MentionKind.VALUE, name, at, by, value=value)
        return name, value

    def rule(self, entry: RuleEntry) -> UnderstandRule:
        groups = compile_expression(entry.match or "").groupindex.keys()
        for index, command in enumerate(entry.commands):
            self._command(command, entry.at("commands", index), groups)
        return UnderstandRule(
            commands=tuple(entry.commands),
            match=entry.match,
            examples=tuple(entry.examples or ()),
            threshold=entry.threshold,
            when=self._when(entry, "a rule of understand"),
            location=entry.node.location,
        )

    def _command(self, source: str, at: Location, groups: Collection[str]) -> None:
        by = f"command {source!r}"
        for name in set(HOLE.findall(source)) - set(groups):
            text = f"{by} uses {{{name}}}, which `match` has no group for"
            self._found.error(at, "mock.command", text, f"name it there: (?P<{name}>…)")
        match parse_command(source):
            case StartFlow(flow_id=flow_id) if not HOLE.search(flow_id):
                self._found.mention(MentionKind.FLOW, flow_id, at, by)
            case Clarify(flow_ids=flow_ids):
                for flow_id in flow_ids:
                    self._found.mention(MentionKind.FLOW, flow_id, at, by)
            case SetSlot(name=name, value=value):
                self._found.mention(MentionKind.SLOT, name, at, by)
                if not HOLE.search(str(value)):
                    self._found.mention(MentionKind.VALUE, name, at, by, value=value)
            case _:
                pass

    def stubs(
        self, entry: MockYml | StubsOfTests, key: str, actions: StubEntries | None
    ) -> Mapping[str, Stub]:
        return {
            name: Stub(tuple(self._branches(name, branches)), entry.at(key, name))
            for name, branches in (actions or {}).items()
        }

    def _branches(self, name: str, entries: Sequence[StubEntry]) -> Iterator[StubBranch]:
        by = f"the stub of {name!r}"
        is_taken = False
        for entry in entries:
            if is_taken:
                text = f"a branch of {by} after one without `when` and `match` is never taken"
                self._found.warn(entry.node.location, "mock.unreachable_branch", text)
            is_taken = entry.when is None and entry.match is None
            yield self._branch(entry, by)

    def _branch(self, entry: StubEntry, by: str) -> StubBranch:
        return StubBranch(
            when=self._when(entry, by),
            match=entry.match,
            slots=tuple(self._events(entry.events or (), by)),
            utterances=tuple(self._utterance(said, by) for said in entry.responses or ()),
            delay_seconds=entry.delay_seconds,
            stream=tuple(entry.stream or ()),
            chunk_delay_seconds=entry.chunk_delay_seconds,
            fails=entry.fail is not None,
            location=entry.node.location,
        )

    def _events(self, entries: Iterable[SlotEventEntry], by: str) -> Iterator[tuple[str, Json]]:
        """The slots that are set; the other events of Rasa change nothing here."""
        for entry in entries:
            at = entry.node.location
            if entry.name is not None and entry.event == "slot":
                yield self._slot(entry.name, entry.value, at, by)
            else:
                text = f"{by} has a {entry.event!r} event, which is ignored; only `slot` counts"
                self._found.warn(at, "mock.event", text)

    def _utterance(self, entry: UtteranceEntry, by: str) -> Utterance:
        key = "response" if entry.has("response") else "template"
        response = entry.response if key == "response" else entry.template
        if response is not None:
            self._found.mention(MentionKind.RESPONSE, response, entry.at(key), by)
        known = IGNORED_UTTERANCE_KEYS | UtteranceEntry.model_fields.keys()
        return Utterance(
            text=entry.text or "",
            buttons=tuple(self._button(button) for button in entry.buttons or ()),
            response=response,
            arguments={k: plain(v) for k, v in entry.node.entries.items() if k not in known},
            image=entry.image,
            custom=entry.custom or None,
        )

    def _button(self, entry: ButtonEntry) -> Button:
        if entry.payload is None:
            return Button(entry.title, entry.title)
        by = f"button {entry.title!r}"
        self._found.mention(MentionKind.PAYLOAD, entry.payload, entry.at("payload"), by)
        return Button(entry.title, entry.payload)

    def scripts(self, entry: MockYml) -> Mapping[str, Flow]:
        """Each script of a sub agent as a flow that the engine runs, by the agent's name."""
        return {
            name: agent_flow(
                name,
                {f"turn_{i}": self._turn(name, i, turn) for i, turn in enumerate(turns)},
                entry.at("sub_agents", name),
            )
            for name, turns in (entry.sub_agents or {}).items()
        }

    def _turn(self, name: str, index: int, entry: AgentTurnEntry) -> AgentTurnStep:
        by = f"a turn of sub agent {name!r}"
        return AgentTurnStep(
            id=f"turn_{index}",
            next=(Branch(END),) if entry.complete else (),
            say=entry.say or "",
            slots=tuple(
                self._slot(slot, value, entry.at("set", slot), by)
                for slot, value in (entry.set or {}).items()
            ),
            waits=entry.wait,
            fails=entry.fail,
            location=entry.node.location,
        )

    def tools(self, entry: MockYml) -> Mapping[str, tuple[ToolBranch, ...]]:
        return {
            name: tuple(
                ToolBranch(self._when(branch, f"tool {name!r}"), branch.result, branch.fail)
                for branch in branches
            )
            for name, branches in (entry.tools or {}).items()
        }
