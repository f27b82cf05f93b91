"""The reference of the configuration knows every key, algorithm and error that there is."""

import re
from pathlib import Path

import pytest

from mock_server.project.endpoints import ALGORITHMS, A2AServerEntry, AuthEntry, JwtEntry

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "reference" / "configuration.md").read_text(encoding="utf-8")
SOURCES = "\n".join(
    file.read_text(encoding="utf-8") for file in (ROOT / "mock_server" / "project").glob("*.py")
)
CODES = {
    *re.findall(r"\"validation\.a2a_server\.(\w+)\"", SOURCES),
    *re.findall(r"\{CODE\}\.(\w+)\"", SOURCES),
}


@pytest.mark.req("CFG-1", "CFG-2")
@pytest.mark.parametrize(
    "key", [key for entry in (A2AServerEntry, AuthEntry, JwtEntry) for key in entry.model_fields]
)
def test_key_is_listed(key: str) -> None:
    assert f"| `{key}` |" in PAGE


@pytest.mark.req("CFG-2")
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_algorithm_is_listed(algorithm: str) -> None:
    assert f"`{algorithm}`" in PAGE


@pytest.mark.req("CFG-7")
@pytest.mark.parametrize("code", sorted(CODES))
def test_error_is_listed(code: str) -> None:
    assert f"`validation.a2a_server.{code}`" in PAGE
