"""Names in test cases that the assistant does not have: tests outlive what they test."""

from collections.abc import Collection, Iterator
from typing import assert_never

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.default_actions import DEFAULT_ACTIONS
from mock_server.dialogue.slots import coerce
from mock_server.e2e.matching import LISTEN
from mock_server.e2e.model import (
    ActionRuns,
    BotDoesNotSay,
    BotSays,
    Case,
    CaseFile,
    ClarificationOffers,
    Demand,
    FlowCompletes,
    FlowIsCancelled,
    FlowStarts,
    JudgeNeeded,
    SlotIsNotSet,
    SlotIsSet,
)
from mock_server.errors import InvalidSlotValue
from mock_server.project.condition_check import check_condition
from mock_server.project.findings import Findings, Mention, MentionKind, suggestion
from mock_server.project.payloads import check_payload
from mock_server.project.values import check_value


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
        mend = suggestion(mention.name, known)
        found.warn(mention.location, f"e2e.unknown_{mention.kind}", text, mend)


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
            for kind, name in _named(expectation.demand):
                yield Mention(kind, name, expectation.location, by)


def _named(demand: Demand) -> Iterator[tuple[MentionKind, str]]:
    match demand:
        case BotSays(saying=saying) | BotDoesNotSay(saying=saying):
            if saying.response is not None:
                yield MentionKind.RESPONSE, saying.response
        case SlotIsSet(change=change) | SlotIsNotSet(change=change):
            yield MentionKind.SLOT, change.name
        case FlowStarts(flow_ids=flow_ids) | ClarificationOffers(flows=flow_ids):
            for flow_id in flow_ids:
                yield MentionKind.FLOW, flow_id
        case FlowCompletes(flow_id=flow_id) | FlowIsCancelled(flow_id=flow_id):
            yield MentionKind.FLOW, flow_id
        case ActionRuns(name=name):
            yield MentionKind.ACTION, name
        case JudgeNeeded():
            pass
        case _:
            assert_never(demand)
