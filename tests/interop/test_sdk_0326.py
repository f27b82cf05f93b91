"""The client of a2a-sdk 0.3.26, which Rasa 3.17 to 3.20 ship, against the mock."""

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.interop.conftest import InstallPython

CLIENT = Path(__file__).with_name("client_0326.py")
REQUIREMENT = "a2a-sdk==0.3.26"


@pytest.fixture(scope="session")
def python_with_the_sdk(install_python: "InstallPython") -> Path:
    """An interpreter with that SDK."""
    return install_python(REQUIREMENT)


@pytest.mark.timeout(400)
@pytest.mark.req("TURN-1", "TURN-11", "CARD-1", "CARD-9")
def test_client_talks_streams_and_cancels(mock_url: str, python_with_the_sdk: Path) -> None:
    ended = subprocess.run(
        [str(python_with_the_sdk), str(CLIENT), mock_url],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    report = json.loads(ended.stdout)
    assert report["card"]["name"] == "small-bank"
    assert report["card"]["url"] == mock_url
    skills = [skill["id"] for skill in report["card"]["skills"]]
    assert skills[:2] == ["transfer_money", "explain_fees"]
    first, second = report["first"], report["second"]
    assert first["status"]["state"] == "input-required"
    assert first["status"]["message"]["parts"][0]["text"] == "To whom?"
    assert second["status"]["state"] == "completed"
    assert second["id"] != first["id"]
    assert second["status"]["message"]["parts"][1]["data"]["persisted_slots"] == {
        "recipient": "Joe"
    }
    assert [(kind, state) for kind, state, _, _ in report["stream"]] == [
        ("status-update", "working"),
        ("artifact-update", "working"),
        ("artifact-update", "working"),
        ("artifact-update", "working"),
        ("status-update", "completed"),
    ]
    assert report["canceled"] == "canceled"
    assert report["artifact"] == ["Your ", "fee ", "is 2 %."]
