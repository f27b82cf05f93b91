"""Who is let in to which route; every route of the mock has its row here."""

from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import httpx
import pytest

from mock_server.actions.runner import Progress
from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.outside import ActionResult
from mock_server.dialogue.state import DialogueState, Tracker
from mock_server.project.endpoints import JwtAuth
from mock_server.service.conversation import AgentVersion
from mock_server.service.events import EventBus
from mock_server.service.runtime import real_runtime
from mock_server.service.service import Service, ServiceSettings
from mock_server.web.access import host_of
from mock_server.web.admin import ModelSwitch
from mock_server.web.app import App, Page, Site, arm_faults, with_admin

pytestmark = pytest.mark.anyio

HERE, ELSEWHERE = "127.0.0.1", "192.0.2.1"
KNOWN = "mock.example"
REFUSALS = (401, 403, 415)
JSON = {"content-type": "application/json"}
TEXT = {"content-type": "text/plain"}
FOREIGN_ORIGIN = {"origin": "https://attacker.example"}
CROSS_SITE = {"sec-fetch-site": "cross-site"}
ADMIN_TOKEN, RASA_TOKEN = "t0ken-of-the-admin", "t0ken-of-rasa"


@dataclass(frozen=True)
class Row:
    """The status of a refusal, or None for who is let in.

    `no_token` is where the mock has tokens, `elsewhere` a peer on another machine where it has
    none, `not_json` a body that is declared as text.
    """

    foreign_host: int | None = None
    foreign_origin: int | None = None
    cross_site: int | None = None
    no_token: int | None = None
    elsewhere: int | None = None
    not_json: int | None = None


PUBLIC = Row(foreign_host=403, foreign_origin=403, cross_site=403, no_token=401)
READS_MOCK = replace(PUBLIC, elsewhere=403)
CHANGES_MOCK = replace(READS_MOCK, not_json=415)

TABLE = {
    "POST /": PUBLIC,
    "GET /.well-known/agent-card.json": PUBLIC,
    "GET /.well-known/agent.json": PUBLIC,
    "GET /status": PUBLIC,
    "PUT /model": CHANGES_MOCK,
    "GET /__admin/openapi.json": READS_MOCK,
    "GET /__admin/requests": READS_MOCK,
    "DELETE /__admin/requests": CHANGES_MOCK,
    "POST /__admin/requests/count": CHANGES_MOCK,
    "GET /__admin/requests/near-misses": READS_MOCK,
    "GET /__admin/requests/{number}": READS_MOCK,
    "GET /__admin/faults": READS_MOCK,
    "POST /__admin/faults": CHANGES_MOCK,
    "DELETE /__admin/faults": CHANGES_MOCK,
    "GET /__admin/faults/{id}": READS_MOCK,
    "DELETE /__admin/faults/{id}": CHANGES_MOCK,
    "POST /__admin/reset": CHANGES_MOCK,
    "GET /__admin/contexts": READS_MOCK,
    "GET /__admin/contexts/{id}": READS_MOCK,
    "GET /__admin/events": READS_MOCK,
    "GET /__admin/model": READS_MOCK,
    "POST /__admin/model/load": CHANGES_MOCK,
    "POST /__admin/model/unload": CHANGES_MOCK,
    "GET /__admin/traces/{id}": READS_MOCK,
}


def no_action(_: str, __: DialogueState, ___: Tracker) -> Iterator[Progress]:
    yield ActionResult()


@dataclass
class Mock:
    """The mock as an application, which peers here and elsewhere call."""

    app: App
    whole: httpx.ASGITransport

    async def ask(
        self,
        route: str,
        headers: Mapping[str, str] = JSON,
        *,
        peer: str = HERE,
        url: str = "http://127.0.0.1:5005",
    ) -> httpx.Response:
        self.whole.client = (peer, 50_000)
        verb, path = route.replace("{number}", "1").replace("{id}", "1").split(" ")
        # An unknown kind of event is refused, where a stream would not end.
        query = "?kinds=none" if path.endswith("/events") else ""
        async with httpx.AsyncClient(transport=self.whole, base_url=url) as client:
            content = None if verb == "GET" else b"{}"
            return await client.request(verb, path + query, headers=headers, content=content)


@asynccontextmanager
async def serving(*, has_tokens: bool = False) -> AsyncGenerator[Mock]:
    runtime = real_runtime()
    auth = JwtAuth("HS256", b"a-secret-of-the-callers-that-is-long-enough")
    site = Site(
        Page({}),
        Page({}),
        auth=auth if has_tokens else None,
        token=RASA_TOKEN if has_tokens else None,
        put_model=lambda _: None,
    )
    agent = AgentVersion(Assistant(), no_action)
    async with Service(agent, runtime, ServiceSettings()) as service:
        app = App(service, site, runtime.now)
        whole = with_admin(
            app,
            service,
            runtime,
            arm_faults((), None, EventBus()),
            ModelSwitch(service.load, service.unload),
            max_body_bytes=site.max_body_bytes,
            token=ADMIN_TOKEN if has_tokens else None,
            hosts=(KNOWN, "2001:db8::5"),
        )
        yield Mock(app, httpx.ASGITransport(whole))


def refusal(response: httpx.Response) -> int | None:
    assert "access-control-allow-origin" not in response.headers
    return response.status_code if response.status_code in REFUSALS else None


@pytest.mark.req("ADMIN-1", "HTTP-1")
async def test_every_route_is_in_the_table() -> None:
    async with serving() as mock:
        described = (await mock.ask("GET /__admin/openapi.json")).json()["paths"]
        of_admin = {f"{verb.upper()} {path}" for path in described for verb in described[path]}
        routes = ((route.path, route.methods or set[str]()) for route in mock.app.routes)
        of_app = {f"{verb} {path}" for path, verbs in routes for verb in verbs - {"HEAD"}}
    assert of_app | of_admin | {"GET /__admin/openapi.json"} == TABLE.keys()


@pytest.mark.req("ADMIN-1", "HTTP-1", "HTTP-3", "AUTH-1")
@pytest.mark.parametrize("route", TABLE)
async def test_route_lets_in_whom_the_table_says(route: str) -> None:
    async with serving() as mock:
        found = Row(
            foreign_host=refusal(await mock.ask(route, {**JSON, "host": "attacker.example"})),
            foreign_origin=refusal(await mock.ask(route, {**JSON, **FOREIGN_ORIGIN})),
            cross_site=refusal(await mock.ask(route, {**JSON, **CROSS_SITE})),
            elsewhere=refusal(await mock.ask(route, {**JSON, "host": KNOWN}, peer=ELSEWHERE)),
            not_json=refusal(await mock.ask(route, TEXT)),
        )
        let_in = refusal(await mock.ask(route))
    async with serving(has_tokens=True) as mock:
        without = refusal(await mock.ask(route))
    assert let_in is None
    assert replace(found, no_token=without) == TABLE[route]


@pytest.mark.req("ADMIN-1", "HTTP-3")
@pytest.mark.parametrize("route", [route for route, row in TABLE.items() if row.elsewhere])
async def test_token_opens_a_route_to_other_machines(route: str) -> None:
    knows = {"authorization": f"Bearer {ADMIN_TOKEN}", "host": KNOWN}
    async with serving(has_tokens=True) as mock:
        query = f"?token={RASA_TOKEN}" if route == "PUT /model" else ""
        let_in = await mock.ask(route + query, {**JSON, **knows}, peer=ELSEWHERE)
        assert refusal(let_in) is None
        unknown = {**JSON, **knows, "host": "attacker.example"}
        assert refusal(await mock.ask(route + query, unknown, peer=ELSEWHERE)) == 403
        from_page = {**JSON, **knows, **FOREIGN_ORIGIN}
        assert refusal(await mock.ask(route + query, from_page, peer=ELSEWHERE)) == 403


@pytest.mark.req("ADMIN-1", "HTTP-3")
@pytest.mark.parametrize("route", [route for route, row in TABLE.items() if row.elsewhere])
@pytest.mark.parametrize(
    "headers",
    [
        {"host": KNOWN},
        {"x-forwarded-for": HERE},
        {"forwarded": f"for={HERE}"},
        {"via": "1.1 proxy"},
    ],
)
async def test_what_comes_through_a_proxy_is_not_of_this_machine(
    route: str, headers: Mapping[str, str]
) -> None:
    async with serving() as mock:
        assert refusal(await mock.ask(route, {**JSON, **headers})) == 403


@pytest.mark.req("HTTP-1", "ADMIN-1")
@pytest.mark.parametrize(
    "host",
    ["localhost", "LOCALHOST:80", "127.8.9.1", "[::1]:5005", "Mock.Example.:1", "[2001:db8::5]"],
)
async def test_known_host_is_let_in(host: str) -> None:
    async with serving() as mock:
        assert refusal(await mock.ask("POST /", {"host": host})) is None


@pytest.mark.req("HTTP-1", "ADMIN-1")
@pytest.mark.parametrize(
    "host",
    [
        "localhost.attacker.example",
        f"{KNOWN}.attacker.example",
        "192.0.2.1",
        "[2001:db8::1]",
        "[::ffff:192.0.2.1]",
        "[",
        "1",
        "",
    ],
)
async def test_other_host_is_refused_by_its_name(host: str) -> None:
    async with serving() as mock:
        refused = await mock.ask("POST /", {"host": host})
        assert refused.status_code == 403
        error = refused.json()["error"]
        assert (error["code"], refused.json()["id"]) == (-32600, None)
        assert repr(host) in error["message"]
        assert "--allow-host" in error["message"]
        assert (await mock.ask("GET /status", {"host": host})).json() == {"error": error["message"]}


@pytest.mark.req("HTTP-1")
async def test_address_at_which_a_connection_arrives_is_known() -> None:
    async with serving() as mock:
        url = "http://192.0.2.9:5005"
        assert refusal(await mock.ask("POST /", peer=ELSEWHERE, url=url)) is None
        other = {"host": "192.0.2.8:5005"}
        assert refusal(await mock.ask("POST /", other, peer=ELSEWHERE, url=url)) == 403
        wrapped = {"host": "192.0.2.9"}
        mapped = "http://[::ffff:192.0.2.9]:5005"
        assert refusal(await mock.ask("POST /", wrapped, peer=ELSEWHERE, url=mapped)) is None


@pytest.mark.req("HTTP-1")
async def test_request_names_one_host() -> None:
    async with serving() as mock:
        two = httpx.Headers([("host", "localhost"), ("host", "127.0.0.1")])
        assert refusal(await mock.ask("POST /", two)) == 403


@pytest.mark.req("HTTP-1", "ADMIN-1")
@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        ("http://127.0.0.1:5005", None),
        ("http://127.0.0.1:3000", 403),
        ("null", 403),
        ("", 403),
        ("127.0.0.1:5005", 403),
    ],
)
async def test_page_is_of_the_mock_itself(origin: str, expected: int | None) -> None:
    async with serving() as mock:
        assert refusal(await mock.ask("POST /", {"origin": origin})) == expected


@pytest.mark.req("HTTP-1")
async def test_link_may_be_followed_from_anywhere() -> None:
    link = {**CROSS_SITE, "sec-fetch-mode": "navigate"}
    async with serving() as mock:
        assert refusal(await mock.ask("GET /status", link)) is None
        # A form is sent by a navigation, too.
        assert refusal(await mock.ask("POST /", link)) == 403


@pytest.mark.req("HTTP-1")
@pytest.mark.parametrize("site", ["same-origin", "same-site", "none"])
async def test_site_of_its_own_is_let_in(site: str) -> None:
    async with serving() as mock:
        assert refusal(await mock.ask("POST /", {"sec-fetch-site": site})) is None


@pytest.mark.req("HTTP-3", "ADMIN-1")
@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"content-type": "application/json; charset=utf-8"}, None),
        ({"content-type": "Application/A2A+JSON"}, None),
        ({"content-type": "application/x-www-form-urlencoded"}, 415),
        ({"content-type": "text/plain; a=application/json"}, 415),
        ({"content-type": ""}, 415),
        ({}, 415),
    ],
)
async def test_what_changes_the_mock_is_json(
    headers: Mapping[str, str], expected: int | None
) -> None:
    async with serving() as mock:
        assert refusal(await mock.ask("PUT /model", headers)) == expected
        assert refusal(await mock.ask("POST /__admin/reset", headers)) == expected


@pytest.mark.parametrize(
    ("url", "host"),
    [("https://Bank.example:1/a2a", "bank.example"), ("http://[::1", ""), ("bank", "")],
)
def test_host_of_a_url_is_read(url: str, host: str) -> None:
    assert host_of(url) == host
