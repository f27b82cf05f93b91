"""A small bank, and a way to hold conversations with it."""

from collections.abc import Callable, Mapping, Sequence
from functools import reduce

import pytest

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.commands import parse_command
from mock_server.dialogue.engine import UserMessage, advance
from mock_server.dialogue.outside import ActionResult
from mock_server.dialogue.state import ActionRequested, DialogueState, Event, apply, initial_state
from mock_server.project.load import assemble

DOMAIN = """
slots:
  recipient: {type: text}
  amount: {type: float}
  speed: {type: categorical, values: [now, later]}
  confirm: {type: bool}
  note: {type: text}
  currency: {type: text, initial_value: EUR}
  tier: {type: text, mappings: [{type: controlled}]}
  tags: {type: list}
  iban:
    type: text
    validation:
      rejections: [{if: not (slots.iban matches "^DE"), utter: utter_iban_foreign}]
      refill_utter: utter_iban_again
  limit: {type: any}
  pin: {type: text}
actions: [action_pay, action_ask_pin, validate_pin]
responses:
  utter_ask_recipient: [{text: To whom?}]
  utter_ask_amount: [{text: "How much for {recipient}?"}]
  utter_amount_low: [{text: "{amount} is too little."}]
  utter_ask_speed:
    - text: When?
      buttons: [{title: At once, payload: /SetSlots(speed=now)}]
  utter_ask_confirm: [{text: "Send {amount} to {recipient}?"}]
  utter_sent: [{text: "Sent {amount} {currency}."}]
  utter_not_sent: [{text: Not sent.}]
  utter_ask_note: [{text: Which note?}]
  utter_noted: [{text: Noted.}]
  utter_balance: [{text: You have 5.}]
  utter_ask_iban: [{text: Which IBAN?}]
  utter_iban_foreign: [{text: "{iban} is not German."}]
  utter_iban_again: [{text: Which German IBAN?}]
  utter_ask_limit: [{text: Which limit?}]
"""

FLOWS = """
flows:
  transfer:
    name: transfer money
    description: send money to somebody
    persisted_slots: [recipient]
    steps:
      - collect: recipient
      - collect: amount
        rejections: [{if: slots.amount <= 0, utter: utter_amount_low}]
      - call: timing
      - collect: confirm
        ask_before_filling: true
        next:
          - if: slots.confirm
            then:
              - action: action_pay
              - action: utter_sent
                next: END
          - else:
              - action: utter_not_sent
                next: END
  timing:
    if: False
    description: when to send
    steps:
      - collect: speed
  balance:
    description: show the balance
    steps:
      - action: utter_balance
  memo:
    name: leave a note
    description: leave a note
    steps:
      - collect: note
      - action: utter_noted
      - link: balance
  account:
    description: change the account
    run_pattern_completed: false
    steps:
      - set_slots: [{currency: USD}]
      - collect: iban
      - collect: limit
        force_slot_filling: true
  unlock:
    description: unlock the card
    if: slots.tier = "gold"
    steps:
      - collect: pin
"""


@pytest.fixture(scope="session")
def bank() -> Assistant:
    return assemble({"domain.yml": DOMAIN, "data/flows.yml": FLOWS})


@pytest.fixture(scope="session")
def converse() -> Callable[..., tuple[DialogueState, list[list[Event]]]]:
    """Hold a conversation; give the final state and each turn's events.

    A message in words is a list of commands with `;` between them. `actions` maps a custom
    action to its outcome, by default none at all.
    """

    def hold(
        assistant: Assistant,
        messages: Sequence[str | UserMessage],
        actions: Mapping[str, ActionResult] | None = None,
        state: DialogueState | None = None,
    ) -> tuple[DialogueState, list[list[Event]]]:
        state = state or initial_state(assistant)
        turns: list[list[Event]] = []
        for message in messages:
            turn = advance(assistant, state, _message(message))
            events = turn.run()
            while isinstance(events[-1], ActionRequested):
                events += turn.run((actions or {}).get(events[-1].name))
            state = reduce(apply, events, state)
            assert state == turn.state
            turns.append(events)
        return state, turns

    return hold


def _message(message: str | UserMessage) -> UserMessage:
    if isinstance(message, UserMessage):
        return message
    commands = tuple(parse_command(part) for part in message.split(";"))
    return UserMessage(message, commands=commands)
