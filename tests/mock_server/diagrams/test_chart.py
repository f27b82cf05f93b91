"""Flows as nodes and arrows."""

from collections.abc import Callable

from mock_server.diagrams.chart import Arrow, Chart, Node, NodeKind

SET = "pay_1_set_slots"
LINK = "pay_3_link_other"
CALL = "pay_4_call_other"


def test_every_step_is_a_node_between_start_and_end(chart: Callable[[str], Chart]) -> None:
    pay = chart("pay")
    assert (pay.title, pay.caption) == ("pay", "Pay a bill, or not.")
    assert pay.nodes == (
        Node("START", NodeKind.START, "pay a bill"),
        Node("ask", NodeKind.COLLECT, "amount"),
        Node(SET, NodeKind.SET_SLOTS, "amount = null\nis_sure = false"),
        Node("choose", NodeKind.NOOP, ""),
        Node(LINK, NodeKind.LINK, "other"),
        Node(CALL, NodeKind.CALL, "other"),
        Node("act", NodeKind.ACTION, "action_pay"),
        Node("say", NodeKind.UTTER, "utter_done"),
        Node("END", NodeKind.END, "end"),
    )


def test_every_way_is_an_arrow_with_its_condition(chart: Callable[[str], Chart]) -> None:
    assert chart("pay").arrows == (
        Arrow("START", "ask", "if slots.is_sure is null"),
        Arrow("ask", "ask", "rejected if slots.amount <= 0"),
        Arrow("ask", SET, "if slots.amount > 100"),
        Arrow("ask", "choose", "else"),
        Arrow(SET, "ask"),
        Arrow("choose", LINK, "if slots.amount = 7"),
        Arrow("choose", CALL, "if slots.amount = 8"),
        Arrow("choose", "act", "else"),
        Arrow(CALL, "END"),
        Arrow("act", "say", "if slots.is_sure"),
        # Where no condition holds and there is no else, the flow ends.
        Arrow("act", "END", "else"),
        Arrow("say", "END"),
    )
