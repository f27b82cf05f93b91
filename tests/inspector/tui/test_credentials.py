"""A protected mock, from the first refusal to a renewed token; all of it by keys."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, TypeAlias

import jwt
import pytest
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input

from inspector.core.credentials import header_of
from inspector.settings import Connection, Mint
from inspector.tui.app import InspectorApp
from inspector.tui.credential_screens import OriginScreen, SecretScreen
from inspector.tui.credentials import OriginDoubted, Words, words_of
from inspector.tui.header import Header
from inspector.tui.keys import KeyBar
from inspector.tui.workspace import Workspace
from inspector.wire.card import BEARER, Scheme

if TYPE_CHECKING:
    from tests.inspector.tui.conftest import Until


Drawn: TypeAlias = Callable[[Callable[[Pilot[int]], Awaitable[None]]], None]


class Server(Protocol):
    url: str
    requests: list[tuple[str, bytes]]


StartAgent: TypeAlias = Callable[..., Server]

SECRET = "between the orchestrator and the bank, 32 bytes"


def token(seconds: float = 600, secret: str = SECRET, audience: str = "bank") -> str:
    return jwt.encode({"exp": time.time() + seconds, "aud": audience}, secret, "HS256")


def bearing(text: str) -> Connection:
    return Connection(headers=(header_of(BEARER, text, "the test"),), is_saved=False)


def workspace_of(pilot: Pilot[int]) -> Workspace:
    screen = next((one for one in pilot.app.screen_stack if isinstance(one, Workspace)), None)
    assert screen is not None
    return screen


def header(pilot: Pilot[int]) -> Words:
    return workspace_of(pilot).query_one(Header).credentials


def trouble(pilot: Pilot[int]) -> str:
    found = workspace_of(pilot).view.card_trouble
    return found.problem.text if found and found.problem else ""


def is_connected(pilot: Pilot[int]) -> bool:
    return workspace_of(pilot).view.card is not None


def is_asking(pilot: Pilot[int]) -> bool:
    screen = pilot.app.screen
    return isinstance(screen, SecretScreen) and screen.focused is not None


def said(pilot: Pilot[int]) -> list[str]:
    return [one.text for one in workspace_of(pilot).view.chat if one.speaker == "agent"]


@pytest.mark.anyio
@pytest.mark.req("CONN-3", "TUI-2")
async def test_a_missing_token_is_asked_for(protected_bank: str, until: "Until") -> None:
    app = InspectorApp(protected_bank, Connection(is_saved=False))
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: is_asking(pilot))
        wanted = "no credentials were sent; the agent wants Bearer"
        await until(pilot, lambda: wanted in trouble(pilot))
        typed = app.screen.query_one("#typed", Input)
        assert app.screen.focused is typed
        assert typed.password
        typed.value = token()
        await pilot.press("enter")
        await until(pilot, lambda: is_connected(pilot))
        await until(pilot, lambda: header(pilot).text.startswith("token expires in"))
        assert not isinstance(app.screen, SecretScreen)


@pytest.mark.anyio
@pytest.mark.req("CONN-3")
@pytest.mark.parametrize(
    ("given", "told"),
    [
        (lambda: token(-60), "the token had expired 6"),
        (lambda: token(secret=SECRET[::-1]), "does not accept this token: another key"),
        (lambda: token(audience="shop"), "does not accept this token: another key, issuer or"),
        (lambda: "opaque-and-wrong", "does not accept these credentials"),
    ],
    ids=["expired", "another key", "another audience", "opaque"],
)
async def test_a_refused_token_is_told_apart(
    protected_bank: str, until: "Until", given: Callable[[], str], told: str
) -> None:
    app = InspectorApp(protected_bank, bearing(given()))
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, Workspace) and trouble(pilot))
        assert told in trouble(pilot)
        assert "K" in trouble(pilot)
        assert isinstance(app.screen, Workspace)
        assert app.screen.query_one(KeyBar).found


@pytest.mark.anyio
@pytest.mark.req("CONN-3")
async def test_a_token_expires_and_one_key_renews_it(protected_bank: str, until: "Until") -> None:
    mint = Mint("HS256", SECRET, {"aud": "bank"})
    connection = replace(bearing(token()), mint=mint)
    app = InspectorApp(protected_bank, connection)
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, Workspace) and is_connected(pilot))
        await until(pilot, lambda: header(pilot).text.startswith("token expires in"))
        session = workspace_of(pilot).session
        assert session is not None
        # one that runs out while a loaded machine still connects would never connect
        session.use(bearing(token(-4)).headers)
        await until(pilot, lambda: header(pilot).text == "token expired · K renews")
        await pilot.press("i", *"balance", "enter")
        await until(pilot, lambda: workspace_of(pilot).view.chat[-1:] and refused(pilot))
        await pilot.press("escape", "K")
        await until(pilot, lambda: notice(pilot).startswith("new token, expires in"))
        await pilot.press("r")
        await until(pilot, lambda: any("account" in text for text in said(pilot)))


def refused(pilot: Pilot[int]) -> bool:
    problems = (one.problem.text if one.problem else "" for one in workspace_of(pilot).view.chat)
    return any("the token had expired" in problem for problem in problems)


def notice(pilot: Pilot[int]) -> str:
    return workspace_of(pilot).query_one(KeyBar).notice


@pytest.mark.anyio
@pytest.mark.req("CONN-3")
async def test_a_token_is_made_in_the_dialog(
    protected_bank: str, until: "Until", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BANK_SECRET", SECRET)
    app = InspectorApp(protected_bank, Connection(is_saved=False))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: is_asking(pilot))
        await pilot.click(app.screen.query("#kinds Button")[2])
        await pilot.pause()
        fill(pilot, key="$GONE", claims="aud=bank", ttl="60")
        await pilot.press("enter")
        assert "the variable GONE is not set" in str(app.screen.query_one("#problem").render())
        fill(pilot, key="${BANK_SECRET}")
        await pilot.press("enter")
        await until(pilot, lambda: is_connected(pilot))
        await until(pilot, lambda: header(pilot).text.startswith("token expires in"))
        await pilot.press("escape", "K")
        await until(pilot, lambda: notice(pilot).startswith("new token, expires in"))


def fill(pilot: Pilot[int], **values: str) -> None:
    for name, value in values.items():
        pilot.app.screen.query_one(f"#{name}", Input).value = value


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"algorithm": "HS1", "key": "$BANK_SECRET"}, "'HS1' is none of"),
        ({"key": "/gone.pem"}, "signs with a shared secret"),
        ({"key": "$BANK_SECRET", "ttl": "soon"}, "'soon' is not a number of seconds"),
    ],
)
async def test_what_makes_no_token_is_told_in_the_dialog(
    protected_bank: str,
    until: "Until",
    monkeypatch: pytest.MonkeyPatch,
    values: dict[str, str],
    problem: str,
) -> None:
    monkeypatch.setenv("BANK_SECRET", SECRET)
    app = InspectorApp(protected_bank, Connection(is_saved=False))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: is_asking(pilot))
        await pilot.click(app.screen.query("#kinds Button")[2])
        await pilot.pause()
        fill(pilot, **values)
        await pilot.press("enter")
        assert problem in str(app.screen.query_one("#problem").render())


@pytest.mark.anyio
@pytest.mark.req("CONN-3")
async def test_an_api_key_takes_the_place_of_the_token(protected_bank: str, until: "Until") -> None:
    app = InspectorApp(protected_bank, bearing(token()))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, Workspace) and is_connected(pilot))
        await pilot.press("ctrl+k")
        await until(pilot, lambda: is_asking(pilot))
        await pilot.click(app.screen.query("#kinds Button")[1])
        await pilot.pause()
        fill(pilot, header="X-Bank", format="Key {key}", typed="s3cret-api-key")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, Workspace))
        session = workspace_of(pilot).session
        assert session is not None
        assert session.credentials == (("X-Bank", "Key s3cret-api-key"),)
        await until(pilot, lambda: notice(pilot) == "new credentials; r resends")


@pytest.mark.anyio
@pytest.mark.req("TUI-6")
@pytest.mark.parametrize("answer", ["y", "n", "escape", "enter"])
async def test_another_origin_is_asked_about(
    start_agent: StartAgent, until: "Until", answer: str
) -> None:
    elsewhere = start_agent(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    lure = start_agent(b"", {"url": elsewhere.url})
    app = InspectorApp(lure.url, bearing("s3cret-token"))
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, OriginScreen))
        await pilot.press(answer)
        await until(pilot, lambda: isinstance(app.screen, Workspace))
        await pilot.press("i", *"hi", "enter")
        await until(pilot, lambda: posts(elsewhere))
        assert ("s3cret-token" in posts(elsewhere)[-1]) == (answer == "y")
        header, told = (
            app.screen.query_one(Header),
            "sends credentials" if answer == "y" else "no auth",
        )
        await until(pilot, lambda: told in header.render().plain)
        others = [head for head, _ in elsewhere.requests if not head.startswith("POST")]
        assert "s3cret-token" not in "".join(others)


def posts(server: Server) -> list[str]:
    return [head for head, _ in server.requests if head.startswith("POST")]


@pytest.mark.parametrize(
    ("left", "text"),
    [
        (None, ""),
        (0, "token expired · K renews"),
        (-5, "token expired · K renews"),
        (42.4, "token expires in 42 s"),
        (119, "token expires in 119 s"),
        (180, "token expires in 3 min"),
        (7200, "token expires in 2 h"),
        (200_000, "token expires in 2 d"),
    ],
)
def test_words_of_a_token(left: float | None, text: str) -> None:
    assert words_of(left).text == text


DIALOGS = {
    "token": lambda: SecretScreen("http://bank:5005", "no credentials were sent", BEARER),
    "api-key": lambda: SecretScreen(
        "http://bank:5005", "the card asks for a key", Scheme("X-Bank", "{key}", "api key")
    ),
    "origin": lambda: OriginScreen(OriginDoubted("http://bank:5005/", "https://shop.test/a2a")),
}


@pytest.mark.req("TUI-1", "TUI-6")
@pytest.mark.parametrize("dialog", DIALOGS)
def test_dialog(drawn_as_before: Drawn, dialog: str) -> None:
    async def open_it(pilot: Pilot[int]) -> None:
        # an empty screen, so that nothing else shines through from below
        await pilot.app.push_screen(Screen[None]())
        await pilot.app.push_screen(DIALOGS[dialog]())
        await pilot.pause()
        if dialog == "token":
            fill(pilot, typed="a secret that no picture shows")
        await pilot.pause()

    drawn_as_before(open_it)
