"""The page of the reference is the catalogue."""

from pathlib import Path

import pytest
from reference_tables import faults_page

from mock_server.faults.effects import CATALOGUE, KINDS

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "faults.md"


@pytest.mark.req("ADMIN-1")
def test_page_is_generated_from_the_catalogue() -> None:
    assert PAGE.read_text() == faults_page(), "stale: run scripts/reference"


def test_page_has_every_effect_and_parameter() -> None:
    text = faults_page()
    for kind in KINDS:
        assert f"### `{kind}`" in text
    for effect in CATALOGUE:
        assert all(f"| `{name}` |" in text for name in effect.model_fields if name != "kind")
