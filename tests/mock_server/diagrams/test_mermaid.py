"""Charts as Mermaid text."""

from collections.abc import Callable

import pytest

from mock_server.diagrams.chart import Arrow, Chart, Node, NodeKind
from mock_server.diagrams.mermaid import as_mermaid, as_one_mermaid

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


def test_flow_is_a_flowchart(chart: Callable[[str], Chart]) -> None:
    assert as_mermaid(chart("pay")) == PAY


def test_flows_are_frames_that_point_at_each_other(chart: Callable[[str], Chart]) -> None:
    lines = as_one_mermaid([chart("pay"), chart("other")]).splitlines()
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
    assert "-.->" not in as_one_mermaid([chart("pay")])


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ('a "b"', "a #quot;b#quot;"),
        ("#quot;", "#35;quot;"),
        ("`a` & <b>", "#96;a#96; #amp; #lt;b#gt;"),
    ],
)
def test_text_of_a_flow_is_no_markup(text: str, written: str) -> None:
    chart = Chart("t", "", (Node("s", NodeKind.ACTION, text),), (Arrow("s", "s", text),))
    body = as_mermaid(chart).splitlines()[4:]
    assert body == [f'  n0["do {written}"]', f'  n0 -->|"{written}"| n0']
