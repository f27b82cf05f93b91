"""Fixtures that any test may use."""

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The specification's folder with recorded wires and real assistants."""
    if not SHARED.is_dir():
        pytest.skip("the specification's folder `shared` does not stand beside this checkout")
    return SHARED
