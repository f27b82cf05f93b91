"""What messages mean in their situation."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_server.dialogue.assistant import Assistant, FlowIndex
from mock_server.dialogue.commands import (
    CancelFlow,
    CannotHandle,
    ChitChat,
    Clarify,
    Command,
    HumanHandoff,
    RepeatLastBotMessages,
    ReportError,
    SetSlot,
    SkipQuestion,
    StartFlow,
)
from mock_server.dialogue.lexicon import content_words
from mock_server.dialogue.model import END, Button, Flow, Json, Slot, SlotType
from mock_server.dialogue.state import (
    BotUttered,
    DialogueState,
    Event,
    Frame,
    FramePushed,
    SlotSet,
    SlotSource,
    UserUttered,
    apply,
    initial_state,
)
from mock_server.dialogue.understanding import (
    FlowMatch,
    answer,
    best,
    free_text,
    numbers_in,
    rank,
    spellings_of,
    understand,
    yes_or_no,
)
from mock_server.project.load import assemble

DOMAIN = """
slots:
  account: {type: text}
  payee: {type: text}
  handle: {type: text}
  amount: {type: float}
  timing: {type: categorical, values: [now, future]}
  colour: {type: categorical, values: [red, stop]}
  confirm: {type: bool}
  agreed: {type: categorical, values: ["Yes", "No"]}
  secret: {type: float, mappings: [{type: controlled}]}
responses:
  utter_x: [{text: x}]
"""
FLOWS = """
flows:
  transfer_money:
    description: Send money to friends and family.
    steps:
      - collect: account
      - collect: payee
      - collect: handle
      - collect: amount
      - collect: timing
      - collect: agreed
      - collect: secret
      - collect: confirm
  list_payees:
    description: Display the authorised payees.
    steps: [{action: utter_x}]
  add_payee:
    description: Add a new payee.
    steps: [{action: utter_x}]
  cancel_subscription:
    description: End a subscription.
    steps: [{action: utter_x}]
  hidden_offers:
    description: Show hidden offers.
    if: slots.amount > 5
    steps: [{action: utter_x}]
"""
MOCK = """
understand:
  - match: "(?i)wire (?P<sum>\\\\d+)(?: to (?P<who>\\\\w+))?$"
    commands: [StartFlow(transfer_money), "SetSlot(amount, {sum})", "SetSlot(payee, {who})"]
  - examples: [where is my cash]
    threshold: 0.9
    commands: [StartFlow(list_payees)]
  - match: "^the usual$"
    when: "context.asked_slot = 'payee' and slots.amount is not null"
    commands: ["SetSlot(payee, Joe)"]
  - match: "^the usual$"
    when: "context.active_flow = 'transfer_money'"
    commands: ["SetSlot(payee, true)"]
"""
CONFIG = "pipeline: [{name: G, user_input: {max_characters: 60}}]"
ASSISTANT = assemble(
    {"domain.yml": DOMAIN, "data/flows.yml": FLOWS, "mock.yml": MOCK, "config.yml": CONFIG}
)
BUTTONS = (
    Button("Immediate", "/SetSlots(timing=now)"),
    Button("Later!", "/SetSlots(timing=future)"),
)


def situation(
    asked: str | None = None,
    filled: Mapping[str, Json] | None = None,
    buttons: tuple[Button, ...] = (),
    assistant: Assistant = ASSISTANT,
) -> DialogueState:
    """A conversation in which flow transfer_money asks for slot `asked`."""
    events: list[Event] = []
    if asked:
        context: Mapping[str, Json] = {"collect": asked}
        events.append(FramePushed(Frame("1", "transfer_money", "x")))
        events.append(FramePushed(Frame("2", "pattern_collect_information", "x", context=context)))
    events += [SlotSet(n, v, SlotSource.USER) for n, v in (filled or {}).items()]
    events += [BotUttered("?", buttons), UserUttered("…")]
    state = initial_state(assistant)
    for event in events:
        state = apply(state, event)
    return state


def said(text: str, state: DialogueState | None = None) -> tuple[Command, ...]:
    return understand(ASSISTANT, state or situation(), text).commands


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("I want to transfer money", (StartFlow("transfer_money"),)),
        ("send 50 to Joe", (StartFlow("transfer_money"), SetSlot("amount", 50.0))),
        (
            "send 5.50 now, yes",
            (StartFlow("transfer_money"), SetSlot("amount", 5.5), SetSlot("timing", "now")),
        ),
        ("payee", (Clarify(("list_payees", "add_payee")),)),
        ("hidden offers", (CannotHandle(),)),
        ("stop", (CannotHandle(),)),
        ("skip", (CannotHandle(),)),
        ("hello there", (ChitChat(),)),
        ("again", (RepeatLastBotMessages(),)),
        ("I want to talk to a human", (HumanHandoff(),)),
        ("the human body is made of water mostly", (CannotHandle(),)),
        ("I want to cancel my subscription", (StartFlow("cancel_subscription"),)),
        ("/StartFlow(add_payee)", (StartFlow("add_payee"),)),
        ("gibberish", (CannotHandle(),)),
        (
            "wire 5 to Joe",
            (StartFlow("transfer_money"), SetSlot("amount", "5"), SetSlot("payee", "Joe")),
        ),
        ("wire 5", (StartFlow("transfer_money"), SetSlot("amount", "5"))),
        ("where's my cash?", (StartFlow("list_payees"),)),
    ],
)
def test_message_outside_a_flow(text: str, commands: tuple[Command, ...]):
    assert said(text) == commands


def test_empty_and_long_messages_are_errors():
    assert said("  ") == (ReportError("rasa_internal_error_user_input_empty"),)
    info = (("max_characters", 60),)
    assert said("x" * 61) == (ReportError("rasa_internal_error_user_input_too_long", info),)


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("Electric Company", (SetSlot("account", "Electric Company"),)),
        ("checking account", (SetSlot("account", "checking account"),)),
        ("it's Savings", (SetSlot("account", "Savings"),)),
        ("payee", (SetSlot("account", "payee"),)),
        ("who are my payees", (StartFlow("list_payees"),)),
        ("add payee Brad", (StartFlow("add_payee"),)),
        ("I want to transfer money", (StartFlow("transfer_money"),)),
        ("never mind", (CancelFlow(),)),
        ("I changed my mind, stop.", (CancelFlow(),)),
        ("I want to cancel my subscription", (StartFlow("cancel_subscription"),)),
        ("skip this", (SkipQuestion(),)),
        ("what did you say?", (RepeatLastBotMessages(),)),
        ("hello", (ChitChat(),)),
        ("sorry, I meant 65", (SetSlot("account", "65"),)),
    ],
)
def test_free_text_is_asked(text: str, commands: tuple[Command, ...]):
    assert said(text, situation("account")) == commands


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("55", (SetSlot("amount", 55.0),)),
        ("about $1,200", (SetSlot("amount", 1200.0),)),
        ("I want to transfer 70", (SetSlot("amount", 70.0),)),
        ("show me my 3 payees", (StartFlow("list_payees"),)),
        ("a lot", (CannotHandle(),)),
        ("12/12/2025", (CannotHandle(),)),
    ],
)
def test_number_is_asked(text: str, commands: tuple[Command, ...]):
    assert said(text, situation("amount")) == commands


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("immediate", SetSlot("timing", "now", is_direct=True)),
        ("Later", SetSlot("timing", "future", is_direct=True)),
        ("2", SetSlot("timing", "future", is_direct=True)),
        ("3", CannotHandle()),
        ("immediate please", SetSlot("timing", "now")),
        ("in the future", SetSlot("timing", "future")),
    ],
)
def test_buttons_are_offered(text: str, command: Command):
    assert said(text, situation("timing", buttons=BUTTONS)) == (command,)


def test_number_that_answers_the_question_is_no_button():
    buttons = (Button("Ten", "/SetSlots(amount=10)"), Button("Twenty", "/SetSlots(amount=20)"))
    assert said("2", situation("amount", buttons=buttons)) == (SetSlot("amount", 2.0),)


def test_payload_without_a_slash_is_read_as_text():
    buttons = (Button("Who", "who are my payees"), Button("Bad", "/SetSlots(x"))
    state = situation("timing", buttons=buttons)
    assert said("who", state) == (StartFlow("list_payees"),)
    assert said("bad", state) == (CannotHandle("cannot_handle_invalid_intent"),)


def test_value_that_looks_like_cancelling_is_a_value():
    assert said("stop", situation("colour")) == (SetSlot("colour", "stop"),)


FILLED: Mapping[str, Json] = {
    "account": "Savings",
    "payee": "Joe",
    "handle": "@joe",
    "amount": 55.0,
    "timing": "now",
}


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("yes please", (SetSlot("confirm", True),)),
        ("no thanks", (SetSlot("confirm", False),)),
        ("maybe", (CannotHandle(),)),
        ("no wait, I meant 65", (SetSlot("amount", 65.0),)),
        ("change the amount to 70", (SetSlot("amount", 70.0),)),
        ("sorry I meant in the future", (SetSlot("timing", "future"),)),
        ("Wait, no, the handle is @bar", (SetSlot("handle", "@bar"),)),
        ("Wait, it's @jane", (SetSlot("handle", "@jane"),)),
        ("actually the payee is Jim", (SetSlot("payee", "Jim"),)),
        ("no, wait", (SetSlot("confirm", False),)),
        ("actually, cancel", (CancelFlow(),)),
        ("actually, who are my payees", (StartFlow("list_payees"),)),
    ],
)
def test_confirmation_is_asked(text: str, commands: tuple[Command, ...]):
    assert said(text, situation("confirm", FILLED)) == commands


def test_buttons_of_other_slots_name_no_value():
    others = (
        Button("Tomorrow", "/SetSlots(amount=1)"),
        Button("Today", "today"),
        Button("Never", "/SetSlots(timing"),
    )
    assert said("tomorrow please", situation("timing", buttons=others)) == (CannotHandle(),)


def test_yes_or_no_is_never_corrected():
    state = situation("amount", {"confirm": True})
    assert said("no wait, I meant no", state) == (CannotHandle(),)
    assert said("actually, the confirm", state) == (CannotHandle(),)


def test_named_slot_is_corrected_while_free_text_is_asked():
    state = situation("handle", {"payee": "Joe"})
    assert said("sorry, the payee is Jim", state) == (SetSlot("payee", "Jim"),)
    assert said("sorry, it's @jim", state) == (SetSlot("handle", "@jim"),)


def test_near_flow_is_named_in_the_trace():
    trace = understand(ASSISTANT, situation(), "fees of a money order abroad").trace
    reasons = {rule.rule: rule.reason for rule in trace}
    assert reasons["flow"].startswith("nearest is 'transfer_money' with 0.")


def test_correction_to_the_same_value_is_for_its_own_slot():
    same = (SetSlot("amount", 55.0),)
    assert said("I meant 55", situation("confirm", {"amount": 55.0})) == same
    assert said("I meant 55", situation("confirm", {"amount": 55.0, "payee": "Joe"})) == same
    state = situation("confirm", {"amount": 55.0, "timing": "future", "payee": "Joe"})
    assert said("no wait, I meant future", state) == (SetSlot("timing", "future"),)


def test_flow_whose_guard_holds_is_a_candidate():
    assert said("hidden offers", situation(filled={"amount": 6.0})) == (StartFlow("hidden_offers"),)


def test_handoff_flow_of_the_project_is_preferred():
    flows = {**ASSISTANT.flows, "human_handoff": ASSISTANT.flows["list_payees"]}
    handoff = assemble(
        {
            "domain.yml": DOMAIN,
            "data/flows.yml": FLOWS.replace("cancel_subscription", "human_handoff"),
        }
    )
    assert len(handoff.flows) == len(flows) - 1
    understood = understand(handoff, initial_state(handoff), "connect me to an agent please")
    assert understood.commands == (StartFlow("human_handoff"),)


def test_trace_tells_why_each_rule_lost():
    trace = understand(ASSISTANT, situation("amount"), "55").trace
    assert [rule.rule for rule in trace][-1] == "answer"
    assert [rule.fired for rule in trace] == [False] * (len(trace) - 1) + [True]
    assert all(rule.reason for rule in trace)


ASKED = st.sampled_from([None, "account", "amount", "timing", "confirm", "agreed"])


@given(st.text(), ASKED)
def test_any_text_is_understood_somehow(text: str, asked: str | None):
    understood = understand(ASSISTANT, situation(asked, FILLED if asked else None), text)
    assert understood.commands
    assert understood.trace[-1].fired


def test_rule_counts_only_where_its_condition_holds():
    assert said("the usual", situation("payee", {"amount": 5.0})) == (SetSlot("payee", "Joe"),)
    assert said("the usual", situation("payee")) == (SetSlot("payee", True),)
    assert said("the usual") == (CannotHandle(),)


def test_true_is_a_truth_value_in_a_command_and_a_word_in_an_answer():
    asked = situation("payee")
    assert said("/SetSlots(payee=True)", asked) == (SetSlot("payee", True, is_direct=True),)
    assert said("/SetSlots(payee='true')", asked) == (SetSlot("payee", "true", is_direct=True),)
    assert said("true", asked) == (SetSlot("payee", "true"),)


TIMING = Slot("timing", SlotType.CATEGORICAL, values=("now", "next_week", "in future"))
CONFIRM = Slot("confirm", SlotType.CATEGORICAL, values=("Yes", "No"))
TITLES = {"Immediately": "now"}


@pytest.mark.parametrize("text", ["yes", "Yup!", "sure, do it", "ok", "go ahead", "That's right"])
def test_yes(text: str):
    assert yes_or_no(text) is True


@pytest.mark.parametrize("text", ["no", "Nope", "no thanks", "don't", "I do not", "that's all"])
def test_no(text: str):
    assert yes_or_no(text) is False


@pytest.mark.parametrize("text", ["maybe", "", "yesterday", "nothing"])
def test_neither_yes_nor_no(text: str):
    assert yes_or_no(text) is None


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("55", (55.0,)),
        ("$40.67", (40.67,)),
        ("1,200.50 €", (1200.5,)),
        ("12,5", (12.5,)),
        ("-3", (-3.0,)),
        ("from 5 to 7.", (5.0, 7.0)),
        ("12/12/2025", ()),
        ("2025-01-31", ()),
        ("10:30", ()),
        ("route66", ()),
        ("none", ()),
    ],
)
def test_numbers(text: str, numbers: tuple[float, ...]):
    assert numbers_in(text) == numbers


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Now", "now"),
        ("it's now", "now"),
        ("next week please", "next_week"),
        ("NEXT-WEEK", "next_week"),
        ("immediately, please", "now"),
        ("imediatly", "now"),
        ("nex", "next_week"),
        ("in futrue", "in future"),
        ("now or next week", None),
        ("n", None),
        ("tomorrow", None),
        ("yes", None),
    ],
)
def test_category(text: str, value: Json):
    assert answer(TIMING, text, TITLES) == value


@pytest.mark.parametrize(("text", "value"), [("yup", "Yes"), ("nah", "No"), ("NO", "No")])
def test_category_of_yes_and_no(text: str, value: str):
    assert answer(CONFIRM, text, {}) == value


@pytest.mark.parametrize(
    ("type", "text", "value"),
    [
        (SlotType.BOOL, "yes", True),
        (SlotType.FLOAT, "about 5 or 6", 5.0),
        (SlotType.FLOAT, "many", None),
        (SlotType.TEXT, "anything", None),
        (SlotType.ANY, "anything", None),
        (SlotType.LIST, "anything", None),
    ],
)
def test_answer_by_type(type: SlotType, text: str, value: Json):
    assert answer(Slot("s", type), text, {}) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("It's Barbar", "Barbar"),
        ("just Bart.", "Bart"),
        ("my name is Joe Bloggs", "Joe Bloggs"),
        ("sorry, I meant Bob", "Bob"),
        ("change it to Bob", "Bob"),
        ("Wait, Bob", "Bob"),
        ("no idea", "no idea"),
        ("Wait, ", "Wait,"),
        ("Electric Company", "Electric Company"),
    ],
)
def test_lead_ins_are_left_out_of_free_text(text: str, value: str):
    assert free_text(text) == value


def flow(id: str, description: str = "", name: str | None = None) -> Flow:
    return Flow(id, name or id, description, {}, END)


MATCHED_FLOWS = (
    flow("transfer_money", "Send money to friends and family."),
    flow("check_balance", "Tell the balance of an account.", "check an account balance"),
    flow("list_payees", "Retrieve and display the list of authorised payees."),
    flow("add_payee", "Add a new payee to the user's account."),
    flow("block_card", "Block a card that is lost or stolen; stop its transactions."),
)


INDEX = FlowIndex({flow.id: flow for flow in MATCHED_FLOWS})


def matched(text: str) -> list[str]:
    return [match.flow_id for match in best(rank(text, INDEX))]


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("I want to transfer money", ["transfer_money"]),
        ("send 50 to Joe", ["transfer_money"]),
        ("I want to transfer $55.55 to Amy from checking right now", ["transfer_money"]),
        ("who are my payees", ["list_payees"]),
        ("I would like to add Brad as a payee", ["add_payee"]),
        ("payee", ["list_payees", "add_payee"]),
        ("the balance of my acccount, please", ["check_balance"]),
        ("my lost card", ["block_card"]),
        ("stop", []),
        ("How can we solve world hunger?", []),
        ("I want to", []),
        ("", []),
    ],
)
def test_sentence_asks_for_flows(text: str, ids: list[str]):
    assert matched(text) == ids


def test_essay_asks_for_no_flow():
    assert matched("transfer money " * 100) == []


def test_synonyms_and_forms_are_one_word():
    assert content_words("Show the users' payees") == content_words("display payee")


@given(st.text())
def test_scores_are_shares_and_descend(text: str):
    scores = [match.score for match in rank(text, INDEX)]
    assert all(0 < score <= 1 for score in scores)
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    ("word", "spellings"),
    [
        ("transfer", ("transfer",)),
        ("transfr", ("transfer",)),
        ("trransfer", ("transfer",)),
        ("tranfser", ("transfer",)),
        ("tranzfer", ("transfer",)),
        ("trnsfr", ()),
        ("crd", ()),
    ],
)
def test_word_is_spelled_almost_right(word: str, spellings: tuple[str, ...]):
    index = FlowIndex({"transfer_card": flow("transfer_card")})
    assert spellings_of(word, index) == spellings


VERBS = ("order", "cancel", "paint")
NOUNS = ("lamp", "table", "window", "cupboard")
CROWD = {f"{v}_{n}": flow(f"{v}_{n}", f"{v} one {n} please") for v in VERBS for n in NOUNS}
sentences = st.lists(
    st.sampled_from([*VERBS, *NOUNS, "oder", "tabel", "moon", "I", "want", "to", "a"]), max_size=6
).map(" ".join)


@given(sentences, st.frozensets(st.sampled_from([*CROWD])))
def test_what_is_left_out_could_not_be_among_the_best(text: str, closed: frozenset[str]):
    """With a flow that is never open nothing is left out: the whole of it is the referee."""

    def open_best(matches: tuple[FlowMatch, ...]) -> list[str]:
        return [match.flow_id for match in best([m for m in matches if m.flow_id not in closed])]

    index = FlowIndex(CROWD)
    pruned = rank(text, index, lambda flow_id: flow_id not in closed)
    whole = rank(text, index, lambda _: False)
    assert open_best(pruned) == open_best(whole)
    assert len(pruned) <= len(whole)


def test_rare_word_spares_the_look_at_flows_with_the_common_one():
    assert [match.flow_id for match in rank("order a lamp", FlowIndex(CROWD))] == [
        "order_lamp",
        "cancel_lamp",
        "paint_lamp",
    ]
