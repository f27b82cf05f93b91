"""What a key does to the turn that is being written: its pages, its options, its raw body."""

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from inspector.errors import UsageError
from inspector.tui.composing.composer import Composer
from inspector.tui.composing.pairs_table import hints_of
from inspector.tui.drawing.safe_text import safe_line
from inspector.tui.running_app import app_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from inspector.tui.composing.snippets import Kept
    from inspector.tui.workspace import Workspace


def page(name: str) -> "Callable[[Workspace], None]":
    """Return the action that opens the drawer's page `name`, or closes the drawer there."""

    def turn_to(workspace: "Workspace") -> None:
        composer = workspace.query_one(Composer)
        if composer.drawer.is_open and composer.drawer.page == name and not composer.is_raw:
            composer.close_drawer()
        else:
            composer.open_page(name, hints_of(workspace))

    return turn_to


def shape(workspace: "Workspace") -> None:
    composer = workspace.query_one(Composer)
    composer.options = composer.options.next_shape()


def follow(workspace: "Workspace") -> None:
    composer = workspace.query_one(Composer)
    composer.options = composer.options.next_follow()


def context(workspace: "Workspace") -> None:
    composer = workspace.query_one(Composer)
    composer.options = composer.options.toggled_context()


async def raw(workspace: "Workspace") -> None:
    """Show the turn as its JSON-RPC body, or take that body back into the fields."""
    composer = workspace.query_one(Composer)
    await composer.settle()
    if not composer.is_raw:
        composer.open_raw(composer.turn())
    elif not await composer.leave_raw():
        workspace.notice("the fields cannot hold this body: F5 sends it, F6 again drops it")


async def editor(workspace: "Workspace") -> None:
    """Edit the text, or the raw body, in the user's own editor."""
    from inspector.tui.external_programs import edit_outside, editor_of

    composer = workspace.query_one(Composer)
    await composer.settle()
    before = composer.raw.body if composer.is_raw else composer.prompt.text.encode()
    suffix = ".json" if composer.is_raw else ".md"
    try:
        after = await edit_outside(app_of(workspace), before, suffix, editor_of(os.environ))
    except UsageError as error:
        workspace.notice(str(error))
        return
    if composer.is_raw:
        composer.raw.write(after)
    else:
        composer.prompt.write(after.decode(errors="replace").rstrip("\n"))


async def snippets(workspace: "Workspace") -> None:
    """Take up a turn or slots kept for this target, or keep what is written."""
    from inspector.core.saved.targets import targets_file
    from inspector.tui.composing.snippets import SnippetsScreen

    composer = workspace.query_one(Composer)
    await composer.settle()

    async def take(chosen: "Kept | None") -> None:
        if chosen is None:
            return
        if chosen.is_new:
            workspace.notice(f"kept as {safe_line(chosen.name)}")
        elif chosen.turn is not None:
            await composer.write(replace(chosen.turn, context_id=composer.options.context_id))
        else:
            await composer.drawer.slots.set_pairs(chosen.slots or {})
            page("slots")(workspace)

    screen = SnippetsScreen(targets_file(), workspace.target, composer.turn())
    app_of(workspace).push_screen(screen, take)
