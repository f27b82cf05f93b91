"""What a key does to credentials; and what is asked by itself, once."""

from typing import TYPE_CHECKING

from inspector.core.commands import FetchCard
from inspector.errors import UsageError
from inspector.tui.credentials import CredentialDesk, Header, OriginDoubted, Question, SecretWanted
from inspector.tui.running_app import app_of
from inspector.wire.urls import root

if TYPE_CHECKING:
    from inspector.settings import Mint
    from inspector.tui.workspace import Workspace

NOT_CONNECTED = "no connection takes credentials here"


def renew(workspace: "Workspace") -> None:
    """Make another token where one is made here; else ask for other credentials."""
    desk = workspace.credentials
    if desk is not None and desk.mint is not None:
        _use(workspace, desk, desk.mint)
    else:
        replace(workspace)


def replace(workspace: "Workspace") -> None:
    """Ask for credentials that take the place of those that there are."""
    desk = workspace.credentials
    if desk is None:
        workspace.notice(NOT_CONNECTED)
    else:
        scheme = desk.scheme(workspace.board)
        _ask(workspace, desk, SecretWanted("They go with every request from now on.", scheme))


def look_after(workspace: "Workspace") -> None:
    """Ask what has to be asked now; while something else is open, nothing."""
    desk = workspace.credentials
    if desk is None or app_of(workspace).screen is not workspace:
        return
    question = desk.question(workspace.board)
    if question is not None:
        _ask(workspace, desk, question)


def _ask(workspace: "Workspace", desk: CredentialDesk, question: Question) -> None:
    from inspector.tui.credential_screens import OriginScreen, SecretScreen

    def take_secret(given: "Header | Mint | None") -> None:
        if given is not None:
            _use(workspace, desk, given)

    def take_origin(is_allowed: bool | None) -> None:
        if is_allowed and isinstance(question, OriginDoubted):
            desk.session.allow_origin(question.url)
            workspace.notice(f"credentials go to {root(question.url)}")
        else:
            workspace.notice("credentials stay with the card's origin")

    if isinstance(question, OriginDoubted):
        app_of(workspace).push_screen(OriginScreen(question), take_origin)
    else:
        place = root(_place(workspace, desk)).rstrip("/")
        screen = SecretScreen(place, question.reason, question.scheme)
        app_of(workspace).push_screen(screen, take_secret)


def _use(workspace: "Workspace", desk: CredentialDesk, given: "Header | Mint") -> None:
    try:
        said = desk.use(given)
    except UsageError as error:
        workspace.notice(error.text)
        return
    workspace.show_credentials()
    if workspace.board.card is None:
        workspace.run_command(FetchCard())
        workspace.notice(said)
    else:
        workspace.notice(f"{said}; r resends")
        look_after(workspace)


def _place(workspace: "Workspace", desk: CredentialDesk) -> str:
    if desk.session.endpoint is not None:
        return desk.session.endpoint.url
    return next(iter(desk.session.target.card_urls), workspace.target)
