"""Flows as nodes and arrows, and these as Mermaid and DOT text."""

import shutil
import subprocess
from collections.abc import Callable
from xml.etree.ElementTree import fromstring

import pytest

from mock_server.diagrams import Arrow, Chart, Node, NodeKind, as_dot, as_mermaid, chart_of
from mock_server.project.load import assemble

SET = "pay_1_set_slots"
LINK = "pay_3_link_other"
CALL = "pay_4_call_other"

DOMAIN = """\
slots:
  amount: {type: float}
  is_sure: {type: bool}
actions: [action_pay]
responses:
  utter_ask_amount: [{text: How much?}]
  utter_ask_is_sure: [{text: Sure?}]
  utter_done: [{text: Done.}]
  utter_too_low: [{text: More!}]
"""
FLOWS = """\
flows:
  pay:
    name: pay a bill
    description: |
      Pay a bill,
      or not.
    if: slots.is_sure is null
    steps:
      - id: ask
        collect: amount
        rejections: [{if: slots.amount <= 0, utter: utter_too_low}]
        next:
          - if: slots.amount > 100
            then: [{set_slots: [{amount: null}, {is_sure: false}], next: ask}]
          - else: choose
      - id: choose
        noop: true
        next:
          - if: slots.amount = 7
            then: [{link: other}]
          - if: slots.amount = 8
            then: [{call: other, next: END}]
          - else: act
      - id: act
        action: action_pay
        next: [{if: slots.is_sure, then: say}]
      - id: say
        action: utter_done
  other:
    description: Another one.
    steps: [{action: utter_done}]
"""
PAY = """\
---
title: "pay"
---
flowchart TD
  n0(["pay a bill"])
  n1[/"ask amount"/]
  n2["set amount = null<br>is_sure = false"]
  n3{" "}
  n4>"go to other"]
  n5[["call other"]]
  n6["do action_pay"]
  n7("say utter_done")
  n8(("end"))
  n0 -->|"if slots.is_sure is null"| n1
  n1 -->|"rejected if slots.amount #lt;= 0"| n1
  n1 -->|"if slots.amount #gt; 100"| n2
  n1 -->|"else"| n3
  n2 --> n1
  n3 -->|"if slots.amount = 7"| n4
  n3 -->|"if slots.amount = 8"| n5
  n3 -->|"else"| n6
  n5 --> n8
  n6 -->|"if slots.is_sure"| n7
  n6 -->|"else"| n8
  n7 --> n8
"""


@pytest.fixture
def chart() -> Callable[[str], Chart]:
    assistant = assemble({"domain.yml": DOMAIN, "data/flows.yml": FLOWS})
    return lambda flow_id: chart_of(assistant.flows[flow_id])


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


def test_flow_is_a_flowchart(chart: Callable[[str], Chart]) -> None:
    assert as_mermaid([chart("pay")]) == PAY


def test_flows_are_frames_that_point_at_each_other(chart: Callable[[str], Chart]) -> None:
    lines = as_mermaid([chart("pay"), chart("other")]).splitlines()
    assert lines[:3] == ["flowchart TD", '  subgraph f0["pay"]', '    f0n0(["pay a bill"])']
    assert (
        lines[-8:]
        == [
            '  subgraph f1["other"]',
            '    f1n0(["other"])',
            '    f1n1("say utter_done")',
            '    f1n2(("end"))',
            "    f1n0 --> f1n1",
            "    f1n1 --> f1n2",
            "  end",
            "  f0n4 -.-> f1",
            "  f0n5 -.-> f1",
        ][-8:]
    )


def test_flow_that_is_not_drawn_is_not_pointed_at(chart: Callable[[str], Chart]) -> None:
    assert "-.->" not in as_mermaid([chart("pay"), chart("pay")])
    assert "dotted" not in as_dot([chart("pay")])


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ('a "b"', "a #quot;b#quot;"),
        ("#quot;", "#35;quot;"),
        ("`a` & <b>", "#96;a#96; #amp; #lt;b#gt;"),
        ("a\r\nb \x00 \ud800", "a<br>b \ufffd \ufffd"),
    ],
)
def test_text_of_a_flow_is_no_markup_in_mermaid(text: str, written: str) -> None:
    chart = Chart("t", "", (Node("s", NodeKind.ACTION, text),), (Arrow("s", "s", text),))
    body = as_mermaid([chart]).splitlines()[4:]
    assert body == [f'  n0["do {written}"]', f'  n0 -->|"{written}"| n0']


DOT_LINES = (
    '    color=none label="pay\\lPay a bill, or not.\\l"',
    '    f0n1 [label="ask amount\\n" fillcolor="#e3f0ff" color="#3f7fc4"]',
    '    f0n2 [label="set amount = null\\nis_sure = false\\n" fillcolor="#f1eafb" color="#8461bd"]',
    '    f0n3 [label="" shape=diamond width=0.4 height=0.4]',
    '    f0n1 -> f0n1 [label="rejected if slots.amount <= 0\\n"]',
    "    f0n2 -> f0n1",
)


def test_flow_is_a_cluster_of_a_graph(chart: Callable[[str], Chart]) -> None:
    graph = as_dot([chart("pay"), chart("other")])
    assert graph.startswith("digraph flows {\n")
    assert set(DOT_LINES) <= set(graph.splitlines())
    jumps = [line.split(" [")[0].strip() for line in graph.splitlines() if "dotted" in line]
    assert jumps == ["f0n4 -> f1n0", "f0n5 -> f1n0"]


HOSTILE = ['a "b"', "\\", 'a\\"', "\\N \\G", "&quot;", "<b>", "a\r\nb \x00 \ud800", "]; }", "-->"]


@pytest.mark.parametrize("text", HOSTILE)
def test_text_of_a_flow_is_no_markup_in_dot(text: str) -> None:
    chart = Chart(text, text, (Node("s", NodeKind.ACTION, text),), (Arrow("s", "s", text),))
    graph = as_dot([chart]).splitlines()
    [label] = [line for line in graph if line.strip().startswith("color=none")]
    [node] = [line for line in graph if line.strip().startswith("f0n0 [")]
    for line in (label, node):
        _, _, quoted = line.partition('label="')
        inside, _, _ = quoted.replace("\\\\", "").partition('"')
        assert not set(inside.replace("\\n", "").replace("\\l", "")) & {"\\", '"', "\x00", "\ud800"}


def test_long_texts_are_broken_into_lines() -> None:
    words = " ".join(["word"] * 20)
    graph = as_dot([Chart("t", "", (Node("s", NodeKind.ACTION, words),), ())])
    assert f'label="do{" word" * 6}\\nword' in graph


@pytest.mark.skipif(not shutil.which("dot"), reason="Graphviz's dot is not installed")
@pytest.mark.parametrize("text", HOSTILE)
def test_graphviz_draws_any_text_as_it_is(text: str) -> None:
    chart = Chart(text, text, (Node("s", NodeKind.ACTION, text),), (Arrow("s", "s", text),))
    line = ["dot", "-Tsvg"]
    drawn = subprocess.run(line, input=as_dot([chart]).encode(), capture_output=True, check=True)
    read = [element.text for element in fromstring(drawn.stdout).iter() if element.text]
    shown = text.replace("\x00", "\ufffd").replace("\ud800", "\ufffd").splitlines()
    for part in (f"do {shown[0]}", *shown[1:]):
        assert part in [words.replace("\xa0", " ") for words in read]
