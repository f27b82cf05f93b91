"""The words of the wire stand in the dialects alone."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import inspector
from inspector.wire.v0_3 import METHODS

PACKAGE = Path(inspector.__file__).parent
DIALECTS = {f"wire/{name}.py" for name in ("v0_3", "v0_3_types", "v1_0")}
# A `kind` that is none of A2A's: of a fault, of a failure, of what the commands print.
OTHER_KINDS = {
    "core/mock_client.py",
    "core/saved/recording.py",
    "headless/card.py",
    "headless/output.py",
    "wire/mock_admin.py",
}


def texts_in(path: Path) -> Iterator[str]:
    """The literals of a module, its docstrings left out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docs = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.value


MODULES = {
    name: path
    for path in sorted(PACKAGE.rglob("*.py"))
    if (name := path.relative_to(PACKAGE).as_posix()) not in DIALECTS
}


@pytest.mark.parametrize("name", MODULES)
def test_no_word_of_the_wire_stands_outside_the_dialects(name: str) -> None:
    texts = list(texts_in(MODULES[name]))
    assert [text for text in texts for method in METHODS.values() if method in text] == []
    assert [text for text in texts if "A2A 0.3 §" in text or "A2A 1.0 §" in text] == []
    # a class of the style sheet is called so, too
    if name not in OTHER_KINDS and not name.startswith("tui/"):
        assert "kind" not in texts


@pytest.mark.parametrize("name", [name for name in MODULES if not name.startswith("wire/")])
def test_no_dialect_is_named_outside_the_wire(name: str) -> None:
    source = MODULES[name].read_text(encoding="utf-8")
    assert "wire.v0_3" not in source
    assert "import v0_3" not in source
