"""The mock of these tests has its admin API."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.conftest import Serving


@pytest.fixture
def serving(serving_with_admin: "Serving") -> "Serving":
    return serving_with_admin
