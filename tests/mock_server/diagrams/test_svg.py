"""Charts as SVG."""

from collections.abc import Callable
from xml.etree.ElementTree import Element, fromstring

from mock_server.diagrams.chart import Chart, Node, NodeKind
from mock_server.diagrams.svg import NAMESPACE, as_svg


def texts(root: Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{{{NAMESPACE}}}text")]


def test_every_step_and_condition_can_be_read(chart: Callable[[str], Chart]) -> None:
    root = fromstring(as_svg([chart("pay")]))
    read = texts(root)
    assert read[:2] == ["pay", "Pay a bill, or not."]
    for words in ("amount", "action_pay", "utter_done", "is_sure = false", "rejected if slots."):
        assert any(words in text for text in read), words
    classes = [element.attrib.get("class") for element in root.iter()]
    assert {kind.value for kind in NodeKind} <= set(classes)
    assert classes.count("tip") == classes.count("arrow") == len(chart("pay").arrows)


def test_everything_lies_in_the_frame(chart: Callable[[str], Chart]) -> None:
    root = fromstring(as_svg([chart("pay"), chart("other")]))
    width = float(root.attrib["width"])
    assert root.attrib["viewBox"] == f"0 0 {root.attrib['width']} {root.attrib['height']}"
    for element in root.iter(f"{{{NAMESPACE}}}rect"):
        if element.attrib["width"] != "100%":
            assert float(element.attrib["x"]) >= 0
            assert float(element.attrib["x"]) + float(element.attrib["width"]) <= width


def test_flows_stand_below_each_other(chart: Callable[[str], Chart]) -> None:
    root = fromstring(as_svg([chart("pay"), chart("other")]))
    one = fromstring(as_svg([chart("pay")]))
    assert float(root.attrib["height"]) > float(one.attrib["height"])
    titles = [text for text in texts(root) if text in {"pay", "other"}]
    assert (titles[0], titles[-1]) == ("pay", "other")


def test_no_text_breaks_the_document() -> None:
    name = "<a> & \x00 \ud800"
    root = fromstring(as_svg([Chart(name, name, (Node("START", NodeKind.START, name),), ())]))
    assert "<a> & \ufffd \ufffd" in texts(root)
