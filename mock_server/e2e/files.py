"""The test files of a project: found, read into cases, and checked (flows.md §11)."""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import assert_never

from mock_server.dialogue.actions import DEFAULT_ACTIONS
from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.model import Json, coerce
from mock_server.dialogue.outside import Stub, action_of, case_of, stubs_for_case
from mock_server.e2e.assertions import LISTEN, UNKNOWN_KEY, read_assertions, read_slots
from mock_server.e2e.model import (
    ActionRuns,
    Assertion,
    BotSays,
    Case,
    CaseFile,
    ClarificationOffers,
    Expectation,
    FlowEnds,
    FlowStarts,
    JudgeNeeded,
    Named,
    SlotIsSet,
    UserStep,
    Values,
)
from mock_server.errors import InvalidSlotValue, Location
from mock_server.project.checks.conditions import check_condition
from mock_server.project.checks.names import check_payload, check_value
from mock_server.project.files import SUFFIXES, read_text
from mock_server.project.findings import Findings, Mention, MentionKind, suggestion
from mock_server.project.mock_file import read_test_stubs
from mock_server.project.nodes import (
    Fields,
    ListNode,
    MapNode,
    Node,
    as_items,
    as_map,
    as_text,
    fields_of,
    mistyped,
    parse,
    plain,
)

FOLDERS = ("tests", "e2e_tests")
CONFTEST = "conftest.yml"
CASE_SEPARATOR = "::"
CASES = "test_cases"
STUBS = "stub_custom_actions"
FILE_KEYS = (CASES, "fixtures", "metadata", STUBS)
CONFTEST_KEYS = ("fixtures", "llm_judge", "metadata")
CASE_KEYS = ("test_case", "steps", "fixtures", "metadata")
USER_KEYS = ("user", "metadata", "assertions", "assertion_order_enabled")
CHECK_KEYS = ("bot", "utter", "slot_was_set", "slot_was_not_set")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file or folder of tests; `case` is the one case of it that is wanted, or None for all."""

    path: Path
    case: str | None = None


def wanted_of(project: Path, paths: Sequence[str]) -> tuple[Wanted, ...]:
    """The tests named on the command line, else all; `file.yml::case name` is one case."""
    if not paths:
        folders = (project / name for name in FOLDERS)
        return tuple(Wanted(folder) for folder in folders if folder.is_dir())
    return tuple(_wanted(path) for path in paths)


def read_case_files(
    project: Path, wanted: Sequence[Wanted], assistant: Assistant, found: Findings
) -> tuple[CaseFile, ...]:
    """The wanted cases, file by file, in the order of their paths."""
    files: list[CaseFile] = []
    for one in wanted:
        top = _top(project, one.path)
        read = [_read(path, path == one.path, top, found) for path in _files(one.path, found)]
        for file in filter(None, read):
            check_names(file, assistant, found)
            files.append(_only(file, one.case))
        if one.case is not None and not any(
            case.name == one.case for file in filter(None, read) for case in file.cases
        ):
            text = f"there is no test case {one.case!r}"
            found.error(Location(str(one.path)), "e2e.no_such_case", text)
    return tuple(files)


def _wanted(path: str) -> Wanted:
    file, separator, case = path.partition(CASE_SEPARATOR)
    return Wanted(Path(file), case if separator else None)


def _only(file: CaseFile, case: str | None) -> CaseFile:
    if case is None:
        return file
    return CaseFile(tuple(c for c in file.cases if c.name == case), file.mentions)


def _files(path: Path, found: Findings) -> Iterator[Path]:
    if path.is_file():
        yield path
    elif path.is_dir():
        for file in sorted(path.rglob("*")):
            if file.suffix in SUFFIXES and file.name != CONFTEST and file.is_file():
                yield file
    else:
        found.error(Location(str(path)), "e2e.no_file", "there is no such file or folder")


def _read(path: Path, is_named: bool, top: Path, found: Findings) -> CaseFile | None:
    root = _root(path, found)
    # Other YAML may lie beside test files.
    if not isinstance(root, MapNode) or CASES not in root.entries:
        if is_named and root is not None:
            text = "this file has no `test_cases`"
            found.error(Location(str(path), 1), "e2e.no_cases", text)
        return None
    return read_case_file(root, _fixtures(path.parent, top, found), found)


def _top(project: Path, path: Path) -> Path:
    """The folder up to which conftest files count: the project's, or the one that was named."""
    folder = (path if path.is_dir() else path.parent).resolve()
    top = project.resolve()
    return top if folder.is_relative_to(top) else folder


def _fixtures(folder: Path, top: Path, found: Findings) -> Named:
    """The fixtures of the conftest files from `top` down; the nearest win."""
    place = folder.resolve()
    above = [place, *place.parents]
    named: dict[str, Values] = {}
    for nearer in reversed(above[: above.index(top) + 1]):
        file = nearer / CONFTEST
        if file.is_file():
            shown = file if folder.is_absolute() else Path(os.path.relpath(file))
            named |= read_conftest(_root(shown, found), found)
    return named


def _root(path: Path, found: Findings) -> Node | None:
    text = read_text(path, found)
    return None if text is None else parse(str(path), text, found)


def read_conftest(root: Node | None, found: Findings) -> Named:
    """The fixtures that a `conftest.yml` gives to the tests of its folder and below."""
    file = fields_of(root, found, CONFTEST)
    if file is None:
        return {}
    file.warn_unknown(CONFTEST_KEYS)
    return _named(file, "fixtures")


def read_case_file(root: Node, inherited: Named, found: Findings) -> CaseFile:
    """A test file; `inherited` are the fixtures of the conftest files above it."""
    file = fields_of(root, found, "a test file")
    if file is None:
        return CaseFile()
    file.warn_unknown(FILE_KEYS)
    found.take_mentions()
    stubs = read_test_stubs(file.node, found)
    reader = _CaseReader({**inherited, **_named(file, "fixtures")}, _named(file, "metadata"), found)
    cases = [case for item in file.items(CASES) if (case := reader.case(item))]
    _refuse_twins(cases, found)
    _mention_stubbed(stubs, cases, found)
    stubbed = (replace(case, stubs=stubs_for_case(case.name, stubs)) for case in cases)
    return CaseFile(tuple(stubbed), found.take_mentions())


def _mention_stubbed(stubs: Mapping[str, Stub], cases: list[Case], found: Findings) -> None:
    """The actions that the file stubs; a stub for a case that it lacks stands for nothing."""
    names = {case.name for case in cases}
    for name, stub in stubs.items():
        found.mention(MentionKind.ACTION, action_of(name), stub.location, STUBS)
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


def _named(file: Fields, key: str) -> Named:
    """Fixtures or metadata: a list of `name: values`, where the values are a map or pairs."""
    named: dict[str, Values] = {}
    node = file.get(key)
    for item in [node] if isinstance(node, MapNode) else as_items(node, file.found, key):
        group = as_map(item, file.found, f"an entry of {key}")
        for name, values in group.entries.items() if group else ():
            if name in named:
                text = f"{key}: {name!r} occurs twice"
                file.found.error(item.location, "e2e.duplicate_name", text, "remove one of the two")
            named[name] = dict(_pairs(values, f"{key} {name!r}", file.found))
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
        fields = fields_of(item, self._found, "a test case")
        name = fields.text("test_case") if fields else None
        if fields is None or name is None:
            text = "a test case needs a name"
            self._found.error(item.location, "e2e.no_name", text, "write `test_case: …`")
            return None
        case = Fields(fields.node, f"test case {name!r}", self._found)
        case.refuse_unknown(CASE_KEYS, UNKNOWN_KEY)
        steps, place = case.items("steps"), case.node.location
        if not steps:
            text = f"{case.what} has no steps"
            self._found.error(place, "e2e.no_steps", text, "write `steps: [{user: …}]`")
        metadata = self._one(case.get("metadata"), self._metadata, "metadata")
        opening, said = self._steps(steps, metadata)
        return Case(name, place, said, opening, self._slots(case))

    def _slots(self, case: Fields) -> tuple[tuple[str, Json], ...]:
        slots: dict[str, Json] = {}
        for item in case.items("fixtures"):
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
        """What is expected before the user speaks, and the user's steps, each with its own."""
        opening: tuple[Expectation, ...] = ()
        said: list[UserStep] = []
        for item in items:
            step = fields_of(item, self._found, "a step")
            if step is None:
                continue
            if "user" in step:
                said.append(self._user_step(step, metadata))
                continue
            checks = tuple(self._checks(step.node))
            if said:
                said[-1] = replace(said[-1], expectations=said[-1].expectations + checks)
            else:
                opening += checks
        return opening, tuple(said)

    def _user_step(self, step: Fields, metadata: Values) -> UserStep:
        user = Fields(step.node, "a user step", self._found)
        user.refuse_unknown(USER_KEYS, UNKNOWN_KEY)
        text = user.text("user")
        if text is None:
            mistyped(self._found, step.node.entries["user"], "user", "a text")
        own = self._one(user.get("metadata"), self._metadata, "metadata")
        return UserStep(
            text or "",
            user.at("user"),
            read_assertions(user.get("assertions"), self._found),
            user.flag("assertion_order_enabled", default=False),
            {**metadata, **own},
        )

    def _checks(self, node: MapNode) -> Iterator[Expectation]:
        """The expectations of a step that is not the user's."""
        known = [key for key in node.entries if key in CHECK_KEYS]
        if len(known) != 1 or len(node.entries) != 1:
            text = f"a step has {', '.join(node.entries) or 'nothing'}"
            fix = f"expected one of {', '.join(('user', *CHECK_KEYS))}"
            self._found.error(node.location, "e2e.step", text, fix)
            return
        (key,) = known
        value, place = node.entries[key], node.place(key)
        if key in ("bot", "utter"):
            text = as_text(value, self._found, key) or ""
            said = BotSays(text=text) if key == "bot" else BotSays(response=text)
            yield Expectation(said, place)
        else:
            yield from read_slots(value, self._found, key)


def check_names(file: CaseFile, assistant: Assistant, found: Findings) -> None:
    """Warn of what only the test file knows, and of values that slots do not take."""
    known = _known(assistant)
    for mention in (*file.mentions, *_mentions(file)):
        match mention.kind:
            case MentionKind.CONDITION:
                check_condition(mention, assistant.slots, found)
            case MentionKind.PAYLOAD:
                check_payload(mention, assistant, found)
            case MentionKind.VALUE:
                check_value(mention, assistant.slots, found)
            case kind:
                _check_name(mention, known.get(kind, (mention.name,)), found)
    for case in file.cases:
        _check_fixtures(case, assistant, found)


def _check_name(mention: Mention, known: Collection[str], found: Findings) -> None:
    if mention.name not in known:
        text = f"{mention.by} names {mention.kind} {mention.name!r}, which the project lacks"
        fix = suggestion(mention.name, known)
        found.warn(mention.location, f"e2e.unknown_{mention.kind}", text, fix)


def _check_fixtures(case: Case, assistant: Assistant, found: Findings) -> None:
    for name, value in case.slots:
        try:
            if name in assistant.slots:
                coerce(assistant.slots[name], value)
        except InvalidSlotValue as error:
            text = f"a fixture of test case {case.name!r}: {error}"
            found.warn(case.location, "e2e.fixture_value", text)


def _known(assistant: Assistant) -> dict[MentionKind, Collection[str]]:
    flows = assistant.flows.values()
    return {
        MentionKind.SLOT: assistant.slots,
        MentionKind.RESPONSE: assistant.responses,
        MentionKind.ACTION: {*assistant.actions, *assistant.responses, *DEFAULT_ACTIONS, LISTEN},
        MentionKind.FLOW: {*assistant.flows, *(flow.name for flow in flows)},
    }


def _mentions(file: CaseFile) -> Iterator[Mention]:
    for case in file.cases:
        by = f"test case {case.name!r}"
        for name, _ in case.slots:
            yield Mention(MentionKind.SLOT, name, case.location, f"a fixture of {by}")
        expected = (*case.opening, *(e for step in case.steps for e in step.expectations))
        for expectation in expected:
            for kind, name in _names_of(expectation.assertion):
                yield Mention(kind, name, expectation.location, by)


def _names_of(assertion: Assertion) -> Iterator[tuple[MentionKind, str]]:
    match assertion:
        case BotSays(response=response):
            if response is not None:
                yield MentionKind.RESPONSE, response
        case SlotIsSet(name=name):
            yield MentionKind.SLOT, name
        case FlowStarts(flow_ids=flow_ids) | ClarificationOffers(flows=flow_ids):
            for flow_id in flow_ids:
                yield MentionKind.FLOW, flow_id
        case FlowEnds(flow_id=flow_id):
            yield MentionKind.FLOW, flow_id
        case ActionRuns(name=name):
            yield MentionKind.ACTION, name
        case JudgeNeeded():
            pass
        case _:
            assert_never(assertion)
