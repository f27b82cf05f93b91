"""The net that looks for secrets in all that the suite logs."""

from typing import TYPE_CHECKING

import pytest
from structlog.stdlib import get_logger

if TYPE_CHECKING:
    from tests.conftest import SuiteLog


JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJqb2UifQ.c2lnbmF0dXJl"


@pytest.fixture
def fresh(suite_log: "SuiteLog") -> "SuiteLog":
    """A log of its own, so that what it catches does not fail the session."""
    return type(suite_log)()


@pytest.mark.req("LOG-1")
@pytest.mark.parametrize(
    "line", ["token=hunter2", f"rejected {JWT}", "-----BEGIN EC PRIVATE KEY-----"]
)
def test_leak_is_found(fresh: "SuiteLog", line: str) -> None:
    fresh.secrets.add("hunter2")
    fresh.lines += ["a2a_server.x.y reason=expired", line]
    assert fresh.leaks() == [line]


@pytest.mark.req("LOG-1")
def test_all_that_is_logged_is_looked_at(suite_log: "SuiteLog") -> None:
    get_logger("a2a_server").info("a2a_server.suite", marker="seen by the net")
    assert "seen by the net" in suite_log.lines[-1]
