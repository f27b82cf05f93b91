"""Charts as Mermaid text, which GitHub, GitLab and most editors draw."""

import json
from collections.abc import Iterator, Mapping, Sequence

from mock_server.diagrams.chart import Chart, Node, NodeKind

SHAPES: Mapping[NodeKind, tuple[str, str]] = {
    NodeKind.START: ("([", "])"),
    NodeKind.END: ("((", "))"),
    NodeKind.COLLECT: ("[/", "/]"),
    NodeKind.UTTER: ("(", ")"),
    NodeKind.ACTION: ("[", "]"),
    NodeKind.SET_SLOTS: ("[", "]"),
    NodeKind.NOOP: ("{", "}"),
    NodeKind.CALL: ("[[", "]]"),
    NodeKind.LINK: (">", "]"),
}
WORDS: Mapping[NodeKind, str] = {
    NodeKind.COLLECT: "ask",
    NodeKind.UTTER: "say",
    NodeKind.ACTION: "do",
    NodeKind.SET_SLOTS: "set",
    NodeKind.CALL: "call",
    NodeKind.LINK: "go to",
}

ENTITIES = (
    ("#", "#35;"), ("&", "#amp;"), ('"', "#quot;"), ("<", "#lt;"), (">", "#gt;"), ("`", "#96;"),
)  # fmt: skip


def as_mermaid(chart: Chart) -> str:
    """A diagram of one flow."""
    head = ("---", f"title: {json.dumps(chart.title)}", "---", "flowchart TD")
    return "\n".join((*head, *_body(chart, "n"))) + "\n"


def as_one_mermaid(charts: Sequence[Chart]) -> str:
    """A diagram of several flows, each in a frame, with dotted arrows from flow to flow."""
    names = {chart.title: f"f{number}" for number, chart in enumerate(charts)}
    lines = ["flowchart TD"]
    for chart in charts:
        lines.append(f"  subgraph {names[chart.title]}[{_quoted(chart.title)}]")
        lines += (f"  {line}" for line in _body(chart, f"{names[chart.title]}n"))
        lines.append("  end")
    for chart in charts:
        for number, node in enumerate(chart.nodes):
            if node.kind in (NodeKind.CALL, NodeKind.LINK) and node.text in names:
                lines.append(f"  {names[chart.title]}n{number} -.-> {names[node.text]}")
    return "\n".join(lines) + "\n"


def _body(chart: Chart, prefix: str) -> Iterator[str]:
    # Ids of steps may hold what Mermaid takes for its own words, such as `end`.
    ids = {node.id: f"{prefix}{number}" for number, node in enumerate(chart.nodes)}
    for node in chart.nodes:
        opening, closing = SHAPES[node.kind]
        yield f"  {ids[node.id]}{opening}{_quoted(words_of(node))}{closing}"
    for arrow in chart.arrows:
        label = f"|{_quoted(arrow.label)}|" if arrow.label else ""
        yield f"  {ids[arrow.source]} -->{label} {ids[arrow.target]}"


def words_of(node: Node) -> str:
    """A node's text with the word for what it does."""
    return " ".join(part for part in (WORDS.get(node.kind, ""), node.text) if part) or " "


def _quoted(text: str) -> str:
    """A quoted label; Mermaid knows HTML's entities, written with `#`, and tags."""
    for character, entity in ENTITIES:
        text = text.replace(character, entity)
    return f'"{text.replace(chr(10), "<br>")}"'
