"""A test file's nodes into its cases; every problem as `file:line` (flows.md §11)."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from mock_server.dialogue.model import Json
from mock_server.dialogue.stubs import Stub, action_of, case_of, stubs_for_case
from mock_server.e2e.assertions import UNKNOWN_KEY, read_assertions, read_slot_changes
from mock_server.e2e.model import (
    BotSays,
    Case,
    CaseFile,
    Expectation,
    Named,
    Saying,
    SlotIsNotSet,
    SlotIsSet,
    UserStep,
    Values,
)
from mock_server.project.findings import Findings, Mention, MentionKind, suggestion
from mock_server.project.nodes import ListNode, MapNode, Node, plain
from mock_server.project.reading import (
    as_bool,
    as_items,
    as_map,
    as_text,
    mistyped,
    refuse_unknown_keys,
    warn_unknown_keys,
)
from mock_server.project.stubs import read_stubs

CASES = "test_cases"
STUBS = "stub_custom_actions"
FILE_KEYS = (CASES, "fixtures", "metadata", STUBS)
CONFTEST_KEYS = ("fixtures", "llm_judge", "metadata")
CASE_KEYS = ("test_case", "steps", "fixtures", "metadata")
USER_KEYS = ("user", "metadata", "assertions", "assertion_order_enabled")
CHECK_KEYS = ("bot", "utter", "slot_was_set", "slot_was_not_set")


def is_test_file(root: Node | None) -> bool:
    """Whether the file claims to hold test cases; other YAML may lie beside them."""
    return isinstance(root, MapNode) and CASES in root.entries


def read_conftest(root: Node | None, found: Findings) -> Named:
    """The fixtures that a `conftest.yml` gives to the tests of its folder and below."""
    node = as_map(root, found, "conftest.yml")
    if node is None:
        return {}
    warn_unknown_keys(node, CONFTEST_KEYS, found, "conftest.yml")
    return _named(node.entries.get("fixtures"), "fixtures", found)


def read_case_file(root: Node, inherited: Named, found: Findings) -> CaseFile:
    """A test file; `inherited` are the fixtures of the conftest files above it."""
    node = as_map(root, found, "a test file")
    if node is None:
        return CaseFile()
    warn_unknown_keys(node, FILE_KEYS, found, "a test file")
    get = node.entries.get
    fixtures = {**inherited, **_named(get("fixtures"), "fixtures", found)}
    metadata = _named(get("metadata"), "metadata", found)
    mentions: list[Mention] = []
    stubs = read_stubs(get(STUBS), mentions, found)
    reader = _CaseReader(fixtures, metadata, found)
    cases = [case for item in as_items(get(CASES), found, CASES) if (case := reader.case(item))]
    _refuse_twins(cases, found)
    mentions += _stubbed(stubs, cases, found)
    stubbed = (replace(case, stubs=stubs_for_case(case.name, stubs)) for case in cases)
    return CaseFile(tuple(stubbed), tuple(mentions))


def _stubbed(stubs: Mapping[str, Stub], cases: list[Case], found: Findings) -> Iterator[Mention]:
    """The actions that the file stubs; a stub for a case that it lacks stands for nothing."""
    names = {case.name for case in cases}
    for name, stub in stubs.items():
        yield Mention(MentionKind.ACTION, action_of(name), stub.location, STUBS)
        case = case_of(name)
        if case is not None and case not in names:
            text = f"{STUBS} names test case {case!r}, which this file lacks"
            found.warn(stub.location, "e2e.unknown_case", text, suggestion(case, names))


def _refuse_twins(cases: list[Case], found: Findings) -> None:
    first: dict[str, Case] = {}
    for case in cases:
        twin = first.setdefault(case.name, case)
        if twin is not case:
            text = f"test case {case.name!r} occurs twice; first at {twin.location}"
            found.error(case.location, "e2e.duplicate_case", text, "give each its own name")


def _named(node: Node | None, what: str, found: Findings) -> Named:
    """Fixtures or metadata: a list of `name: values`, where the values are a map or pairs."""
    named: dict[str, Values] = {}
    entries = [node] if isinstance(node, MapNode) else as_items(node, found, what)
    for item in entries:
        group = as_map(item, found, f"an entry of {what}")
        if group is None:
            continue
        for name, values in group.entries.items():
            if name in named:
                text = f"{what}: {name!r} occurs twice"
                found.error(item.location, "e2e.duplicate_name", text, "remove one of the two")
            named[name] = dict(_pairs(values, f"{what} {name!r}", found))
    return named


def _pairs(node: Node, what: str, found: Findings) -> Iterator[tuple[str, Json]]:
    for item in node.items if isinstance(node, ListNode) else (node,):
        pairs = as_map(item, found, what)
        if pairs is not None:
            yield from ((name, plain(value)) for name, value in pairs.entries.items())


class _CaseReader:
    """Reads the cases of one file; knows its fixtures and metadata by name."""

    def __init__(self, fixtures: Named, metadata: Named, found: Findings) -> None:
        self._fixtures = fixtures
        self._metadata = metadata
        self._found = found

    def case(self, item: Node) -> Case | None:
        node = as_map(item, self._found, "a test case")
        name = as_text(node.entries.get("test_case"), self._found, "test_case") if node else None
        if node is None or name is None:
            text = "a test case needs a name"
            self._found.error(item.location, "e2e.no_name", text, "write `test_case: …`")
            return None
        refuse_unknown_keys(node, CASE_KEYS, self._found, f"test case {name!r}", UNKNOWN_KEY)
        get = node.entries.get
        steps = as_items(get("steps"), self._found, f"steps of {name!r}")
        if not steps:
            text = f"test case {name!r} has no steps"
            self._found.error(node.location, "e2e.no_steps", text, "write `steps: [{user: …}]`")
        metadata = self._one(get("metadata"), self._metadata, "metadata")
        opening, said = self._steps(steps, metadata)
        return Case(name, node.location, said, opening, self._slots(get("fixtures")))

    def _slots(self, node: Node | None) -> tuple[tuple[str, Json], ...]:
        slots: dict[str, Json] = {}
        for item in as_items(node, self._found, "fixtures"):
            slots |= self._one(item, self._fixtures, "fixture")
        return tuple(slots.items())

    def _one(self, node: Node | None, known: Named, what: str) -> Values:
        name = as_text(node, self._found, what)
        if node is None or name is None:
            return {}
        if name not in known:
            text = f"there is no {what} {name!r}"
            self._found.error(node.location, "e2e.unknown_name", text, suggestion(name, known))
        return known.get(name, {})

    def _steps(
        self, items: tuple[Node, ...], metadata: Values
    ) -> tuple[tuple[Expectation, ...], tuple[UserStep, ...]]:
        """What is due before the user speaks, and the user's steps with what is due after each."""
        opening: tuple[Expectation, ...] = ()
        said: list[UserStep] = []
        for item in items:
            node = as_map(item, self._found, "a step")
            if node is None:
                continue
            if "user" in node.entries:
                said.append(self._user_step(node, metadata))
                continue
            checks = tuple(self._checks(node))
            if said:
                said[-1] = replace(said[-1], expectations=said[-1].expectations + checks)
            else:
                opening += checks
        return opening, tuple(said)

    def _user_step(self, node: MapNode, metadata: Values) -> UserStep:
        refuse_unknown_keys(node, USER_KEYS, self._found, "a user step", UNKNOWN_KEY)
        get = node.entries.get
        text = as_text(get("user"), self._found, "user")
        if text is None:
            mistyped(self._found, node.entries["user"], "user", "a text")
        own = self._one(get("metadata"), self._metadata, "metadata")
        what = "assertion_order_enabled"
        return UserStep(
            text or "",
            node.place("user"),
            read_assertions(get("assertions"), self._found),
            as_bool(get(what), self._found, what, default=False),
            {**metadata, **own},
        )

    def _checks(self, node: MapNode) -> Iterator[Expectation]:
        """What a step that is not the user's expects."""
        known = [key for key in node.entries if key in CHECK_KEYS]
        if len(known) != 1 or len(node.entries) != 1:
            text = f"a step has {', '.join(node.entries) or 'nothing'}"
            mend = f"expected one of {', '.join(('user', *CHECK_KEYS))}"
            self._found.error(node.location, "e2e.step", text, mend)
            return
        (key,) = known
        value, place = node.entries[key], node.place(key)
        match key:
            case "bot":
                text = as_text(value, self._found, "bot")
                yield Expectation(BotSays(Saying(text=text or "")), place)
            case "utter":
                name = as_text(value, self._found, "utter")
                yield Expectation(BotSays(Saying(response=name or "")), place)
            case "slot_was_set":
                for location, change in read_slot_changes(value, self._found, key):
                    yield Expectation(SlotIsSet(change), location)
            case _:
                for location, change in read_slot_changes(value, self._found, key):
                    yield Expectation(SlotIsNotSet(change), location)
