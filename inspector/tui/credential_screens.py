"""Dialogs about credentials: one takes a secret, hidden; one asks where credentials may go."""

import os
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import HorizontalGroup, VerticalGroup
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from inspector.core.credentials import header_of
from inspector.errors import InspectorError, UsageError
from inspector.folders import typed_path
from inspector.settings import DEFAULT_TTL_SECONDS, Mint
from inspector.tui.ask_line import LineInput
from inspector.tui.composing.options import Choices
from inspector.tui.credentials import OriginDoubted, SecretHeader
from inspector.tui.drawing.safe_text import safe_line
from inspector.tui.key_line import QUIT, KeyLine
from inspector.wire.card import BEARER, KEY, Scheme
from inspector.wire.urls import root

TOKEN, API_KEY, JWT = "token", "api-key", "jwt"
_KINDS = {TOKEN: "bearer token", API_KEY: "api key", JWT: "development JWT"}
_SECRET_WIDTH = 1024 * 16


class SecretScreen(ModalScreen["SecretHeader | Mint | None"]):
    """Dismisses with a header, a way to make tokens, or None."""

    CSS_PATH = "credential_screens.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", show=False), QUIT]
    AUTO_FOCUS = ".row.-shown Input"

    def __init__(self, place: str, reason: str, scheme: Scheme) -> None:
        super().__init__()
        self._place, self._reason, self._scheme = place, reason, scheme
        self._kind = TOKEN if scheme == BEARER else API_KEY

    def compose(self) -> ComposeResult:
        is_key = self._kind == API_KEY
        name = self._scheme.header if is_key else "X-API-Key"
        template = self._scheme.template if is_key else KEY
        with VerticalGroup(id="secret") as box:
            box.border_title = f"Credentials for {safe_line(self._place)}"
            yield Static(safe_line(self._reason), id="reason", markup=False)
            yield Choices("", _KINDS, id="kinds", is_exclusive=True)
            yield _row("header", LineInput(name, id="header", compact=True), API_KEY)
            yield _row("format", LineInput(template, id="format", compact=True), API_KEY)
            typed = LineInput(id="typed", password=True, compact=True, max_length=_SECRET_WIDTH)
            yield _row("secret", typed, TOKEN, API_KEY)
            yield _row("algorithm", LineInput("HS256", id="algorithm", compact=True), JWT)
            key = LineInput(
                id="key", compact=True, placeholder="$VARIABLE of a secret, or a PEM file"
            )
            yield _row("key", key, JWT)
            claims = LineInput(id="claims", compact=True, placeholder="aud=bank iss=https://…")
            yield _row("claims", claims, JWT)
            yield _row(
                "seconds", LineInput(f"{DEFAULT_TTL_SECONDS:g}", id="ttl", compact=True), JWT
            )
            yield Static("", id="problem", markup=False)
            yield KeyLine("Enter uses it   Tab moves   Esc goes on without   {quit} quits")

    def on_mount(self) -> None:
        self._show_kind()

    @on(Choices.Toggled)
    def take_kind(self, event: Choices.Toggled) -> None:
        self._kind = event.value
        self._show_kind()
        (self._next_needed() or self._shown_fields()[0]).focus()

    @on(Input.Submitted)
    def take(self) -> None:
        """Use what is typed once every field shown has something."""
        if (empty := self._next_needed()) is not None:
            empty.focus()
            return
        try:
            self.dismiss(self._read())
        except InspectorError as error:
            self.query_one("#problem", Static).update(safe_line(f"{error.text}; {error.hint}"))

    def _read(self) -> SecretHeader | Mint:
        if self._kind == JWT:
            return self._read_mint()
        scheme = BEARER
        if self._kind == API_KEY:
            scheme = Scheme(self._text("header"), self._text("format"))
        return header_of(scheme, self._text("typed"), "the secret")

    def _read_mint(self) -> Mint:
        from inspector.core.minting import read_mint

        key = self._text("key")
        is_variable = key.startswith("$")
        return read_mint(
            self._text("algorithm"),
            key_file=None if is_variable else typed_path(key),
            secret_variable=key.strip("${}") if is_variable else None,
            claims=self._text("claims").split(),
            ttl_seconds=_seconds(self._text("ttl")),
            environment=os.environ,
        )

    def _text(self, name: str) -> str:
        return self.query_one(f"#{name}", Input).value.strip()

    def _next_needed(self) -> Input | None:
        """The first field that has to be filled and is not."""
        empty = (one for one in self._shown_fields() if not one.value.strip())
        return next((one for one in empty if one.id != "claims"), None)

    def _shown_fields(self) -> list[Input]:
        return list(self.query(".row.-shown Input").results(Input))

    def _show_kind(self) -> None:
        self.query_one(Choices).show([self._kind])
        self.query_one("#problem", Static).update("")
        for row in self.query(".row"):
            row.set_class(row.has_class(self._kind), "-shown")


class OriginScreen(ModalScreen[bool]):
    """Dismisses with True only for a `y`."""

    CSS_PATH = "credential_screens.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "dismiss(True)", show=False),
        Binding("n,N,escape,enter", "dismiss(False)", show=False),
        QUIT,
    ]

    def __init__(self, doubt: OriginDoubted) -> None:
        super().__init__()
        self._doubt = doubt

    def compose(self) -> ComposeResult:
        here, there = safe_line(root(self._doubt.card_url)), safe_line(root(self._doubt.url))
        text = f"The card at {here} points to {there}\nSend the credentials there?"
        with VerticalGroup(id="secret") as box:
            box.border_title = "Another origin"
            yield Static(text, id="reason", markup=False)
            yield KeyLine("y sends them there   N or Esc goes on without   {quit} quits")


def _row(label: str, field: Input, *kinds: str) -> HorizontalGroup:
    row = HorizontalGroup(Static(label, classes="label", markup=False), field)
    row.add_class("row", *kinds)
    return row


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise UsageError(f"{text!r} is not a number of seconds", "such as 600") from error
