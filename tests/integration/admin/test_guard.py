"""Who is let in to the admin API, on a real socket."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.conftest import Mock, Serving


pytestmark = pytest.mark.anyio

TOKEN = "the-admin-token"


@pytest.fixture(scope="module", autouse=True)
def no_log_holds_the_token(secret: Callable[[str], str]) -> None:
    secret(TOKEN)


async def status(mock: "Mock", verb: str = "GET", **headers: str) -> int:
    response = await mock.client.request(verb, "/__admin/faults", headers=headers)
    assert "access-control-allow-origin" not in response.headers
    return response.status_code


@pytest.mark.req("ADMIN-1")
async def test_loopback_is_let_in(mock: "Mock") -> None:
    for host in ("127.0.0.1", f"localhost:{mock.port}", "[::1]:80", "127.8.9.1", "LOCALHOST"):
        assert await status(mock, Host=host) == 200


@pytest.mark.req("ADMIN-1")
@pytest.mark.parametrize(
    "host", ["attacker.example", "localhost.attacker.example", "192.0.2.1", "[2001:db8::1]", "1"]
)
async def test_other_host_is_refused(mock: "Mock", host: str) -> None:
    assert await status(mock, Host=host) == 403
    assert await status(mock, "DELETE", Host=host) == 403


@pytest.mark.req("ADMIN-1")
async def test_web_page_elsewhere_is_refused(mock: "Mock") -> None:
    assert await status(mock, "DELETE", Origin="https://attacker.example") == 403
    assert await status(mock, "DELETE", Origin="null") == 403
    assert await status(mock, "OPTIONS", Origin="https://attacker.example") == 403
    assert await status(mock, "DELETE", Origin=f"http://127.0.0.1:{mock.port}") == 200


@pytest.mark.req("ADMIN-1")
@pytest.mark.parametrize("client", ["192.0.2.1", "127.0.0.1"])
async def test_what_comes_through_a_proxy_is_refused(mock: "Mock", client: str) -> None:
    assert await status(mock, **{"X-Forwarded-For": client}) == 403


@pytest.mark.req("ADMIN-1")
async def test_token_opens_to_everybody_who_has_it(serving: "Serving") -> None:
    async with serving(token=TOKEN) as mock:
        knows = {"Authorization": f"Bearer {TOKEN}"}
        assert await status(mock, **knows) == 200
        assert await status(mock, **knows, **{"X-Forwarded-For": "192.0.2.1"}) == 200
        assert await status(mock, **knows, Origin="https://attacker.example") == 403


@pytest.mark.req("ADMIN-1")
@pytest.mark.parametrize(
    "authorization",
    ["", "Bearer", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer \xff"],
)
async def test_without_the_token_nobody_is_let_in(serving: "Serving", authorization: str) -> None:
    async with serving(token=TOKEN) as mock:
        headers = {b"Authorization": authorization.encode("latin-1")} if authorization else {}
        refused = await mock.client.get("/__admin/faults", headers=headers)
        assert refused.status_code == 401
        assert refused.headers["www-authenticate"].startswith("Bearer")
        assert TOKEN not in refused.text


@pytest.mark.req("ADMIN-1")
async def test_mock_itself_asks_for_no_admin_token(serving: "Serving") -> None:
    async with serving(token=TOKEN) as mock:
        assert (await mock.client.get("/status")).status_code == 200
