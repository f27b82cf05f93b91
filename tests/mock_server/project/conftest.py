"""Projects small enough to read, and what is wrong with them."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from mock_server.errors import Severity
from mock_server.project.files import Sources
from mock_server.project.findings import Findings
from mock_server.project.load import assemble_sources

DOMAIN = """\
session_config: {start_session_after_expiry: false}
slots:
  amount: {type: float}
  colour: {type: categorical, values: [red, green]}
actions: [action_pay]
responses:
  utter_ask_amount: [{text: How much?}]
  utter_done: [{text: "Done, {colour}."}]
"""
FLOWS = """\
flows:
  pay:
    description: Pay a bill.
    steps:
      - collect: amount
      - action: action_pay
      - action: utter_done
"""
ENDPOINTS = "a2a_server: {description: Pays bills.}\n"

Report = Callable[..., list[str]]


@pytest.fixture
def report() -> Report:
    """The problems of a project made of the texts given, each as a line; warnings say so.

    What is never used is left out unless asked for: most of these projects are fragments.
    """

    def made(
        flows: str = FLOWS,
        domain: str = DOMAIN,
        mock: str = "",
        config: str = "",
        environment: Mapping[str, str] | None = None,
        *,
        code: str = "",
        with_unused: bool = False,
    ) -> list[str]:
        found = Findings()
        sources = Sources(
            domain={"domain.yml": domain},
            flows={"flows.yml": flows},
            config={"config.yml": config},
            mock={"mock.yml": mock},
            code={"actions.py": code},
        )
        assemble_sources(sources, environment or {}, found)
        problems = sorted((*found.problems, *found.faults), key=lambda p: p.location)
        return [
            f"warning {problem}" if problem.severity is Severity.WARNING else str(problem)
            for problem in problems
            if with_unused or not problem.code.endswith(".unused")
        ]

    return made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project that has nothing wrong."""
    (tmp_path / "data").mkdir()
    (tmp_path / "domain.yml").write_text(DOMAIN, encoding="utf-8")
    (tmp_path / "data" / "flows.yml").write_text(FLOWS, encoding="utf-8")
    (tmp_path / "endpoints.yml").write_text(ENDPOINTS, encoding="utf-8")
    return tmp_path
