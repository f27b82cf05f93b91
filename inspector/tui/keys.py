"""Every key of the main screen, once; a user's config may give an action other keys."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from textual.binding import Binding

from inspector.tui.actions import (
    copying,
    credentials,
    faults,
    finding,
    live,
    opening,
    push,
    sessions,
    showing,
    turns,
    writing,
)
from inspector.tui.config import Config, unknown

if TYPE_CHECKING:
    from inspector.tui.workspace import Workspace


Action: TypeAlias = "Callable[[Workspace], Awaitable[None] | None]"


@dataclass(frozen=True, slots=True)
class Key:
    """`name` is what a user's file of keys calls it, `run` what it does.

    `letters` act outside the composer, `controls` everywhere; both as Textual spells them.
    `label` is the footer's word ("" leaves it out there), `help` that of help and palette.
    """

    name: str
    run: Action
    letters: str
    controls: str
    label: str
    help: str


# fmt: off
KEYS = (
    Key("help", showing.help_page, "?", "f1", "help", "Show all keys"),
    Key("palette", showing.palette, ":", "ctrl+p", "palette", "Find any action by its name"),
    Key("slots", writing.page("slots"), "s", "ctrl+s", "slots", "The slots of the next turn"),
    Key("options", writing.page("turn-options"), "o", "ctrl+o", "options", "How the turn goes out"),
    Key("wire", showing.wire, "w", "f2", "wire", "Show or hide what went over the wire"),
    Key("stop", turns.stop, "x", "ctrl+x", "cancel", "Cancel the running task; once more hangs up"),
    Key("edit", turns.edit, "e", "", "edit", "Edit the selected turn and send it anew"),
    Key("card", showing.card, "c", "f3", "card", "Show the agent's card and its skills"),
    Key("resend", turns.resend, "r", "ctrl+r", "resend", "Send the selected turn as a new message"),
    Key("again", turns.again, "d", "ctrl+g", "dedup", "Send the selected turn with its message id"),
    Key("twice", turns.twice, "D", "", "409", "Send the selected turn twice at once with one id"),
    Key("follow", writing.follow, "t", "ctrl+t", "stream", "Stream, await the answer, or neither"),
    Key("context", writing.context, "n", "ctrl+n", "context", "Keep the context, or begin one"),
    Key("raw", writing.raw, "b", "f6", "raw", "The turn as its JSON-RPC body, to edit as text"),
    Key("snippets", writing.snippets, "A", "f12", "", "Turns and slots kept for this target"),
    Key("editor", writing.editor, "E", "ctrl+e", "", "Write the turn in your $EDITOR"),
    Key("get_task", turns.get_task, "T", "", "task", "Ask for the selected task as it is now"),
    Key("resubscribe", turns.resubscribe, "R", "", "", "Follow the selected task's stream again"),
    Key("attach", writing.page("parts"), "a", "ctrl+f", "", "Files and parts of the next turn"),
    Key("metadata", writing.page("metadata"), "m", "", "", "The metadata of the next turn"),
    Key("headers", writing.page("headers"), "H", "", "", "The HTTP headers of the next turn"),
    Key("shape", writing.shape, "", "", "", "Change the shape in which slots travel"),
    Key("faults", faults.screen, "f", "f7", "faults", "Arm and disarm the faults of a mock"),
    Key("live", live.toggle, "L", "f8", "live", "Run the conversation again at each save"),
    Key("live_base", live.base, "B", "", "", "Compare a run with what was said, or the run before"),
    Key("push", push.screen, "P", "", "push", "Receive push notifications, and mistreat them"),
    Key("trace", live.trace, "u", "f10", "rules", "The rules by which a mock's turn went"),
    Key("sessions", sessions.screen, "S", "f9", "sessions", "Saved sessions: reopen, export, name"),
    Key("target", showing.target, "N", "ctrl+l", "", "Talk to another agent"),
    Key("picture", sessions.picture, "I", "f11", "", "Write a picture of the screen, as SVG"),
    Key("zoom", showing.zoom, "z", "f4", "zoom", "Give the whole room to the focused panel"),
    Key("filter", finding.filter_panels, "/", "", "filter", "Show only what passes a filter"),
    Key("next_trouble", finding.trouble(1), "]", "", "", "Go to the next error or finding"),
    Key("last_trouble", finding.trouble(-1), "[", "", "", "Go to the error or finding before"),
    Key("next_task", finding.task(1), "}", "", "", "Go to the next task"),
    Key("last_task", finding.task(-1), "{", "", "", "Go to the task before"),
    Key("wider", showing.resize(1), ">,+", "", "", "Give the panel more room"),
    Key("narrower", showing.resize(-1), "<,-", "", "", "Give the panel less room"),
    Key("even", showing.even, "=", "", "", "Show all panels, each with the same room"),
    Key("hide", showing.hide, "h", "", "", "Hide the panel; its number brings it back"),
    Key("renew", credentials.renew, "K", "ctrl+k", "", "Renew the token, or give credentials"),
    Key("quit", showing.quit_app, "q", "ctrl+q", "quit", "Quit; asks only while something runs"),
    Key("pager", opening.pager, "v", "", "", "Read the selected payload in $PAGER"),
    Key("view_in_editor", opening.editor, "O", "", "", "Read the selected payload in $EDITOR"),
    Key("save", opening.save, "W", "", "", "Save the file of a part, or a body, to a path"),
    Key("copy", copying.selected, "y", "", "", "Copy the selected block; in the wire view as curl"),
    Key("copy_as", copying.menu, "C", "", "", "Copy the exchange as curl, Python, JSON or HAR"),
    Key("copy_command", copying.command_line, "Y", "", "", "Copy the last turn as a command line"),
    Key("go_conversation", showing.panel("conversation"), "1", "", "", "Go to the conversation"),
    Key("go_timeline", showing.panel("timeline"), "2", "", "", "Go to the timeline"),
    Key("go_data", showing.panel("data"), "3", "", "", "Go to the data and slots"),
    Key("go_wire", showing.panel("wire"), "4", "", "", "Go to the wire view"),
    Key("write", showing.panel("compose"), "5,i", "", "", "Write a message"),
    Key("send", turns.send, "", "f5", "", "Send the turn that is written, raw or not"),
    Key("symbols", showing.symbols, "", "", "", "Change between Unicode and ASCII symbols"),
    Key("credentials", credentials.replace, "", "", "", "Give other credentials"),
    Key("theme", showing.theme, "", "", "", "Take the next theme"),
)
# fmt: on
BY_NAME = {key.name: key for key in KEYS}
# an action's group is the module of its function
GROUPS = {
    turns.__name__: "The turn and its task",
    writing.__name__: "The next turn",
    showing.__name__: "Panels and screens",
    finding.__name__: "Finding",
    sessions.__name__: "Sessions",
    copying.__name__: "Copying and opening",
    opening.__name__: "Copying and opening",
    credentials.__name__: "Credentials",
    faults.__name__: "A connected mock",
    live.__name__: "A connected mock",
    push.__name__: "Panels and screens",
}


def action_of(name: str) -> str:
    """Return what Textual calls the action of the key `name`, for bindings and clicks."""
    return f"screen.do('{name}')"


def bindings() -> list[Binding]:
    """Return the bindings of the main screen; those with Ctrl or F act inside the composer too."""
    return [binding for key in KEYS for binding in _bindings_of(key)]


def _bindings_of(key: Key) -> tuple[Binding, Binding]:
    """Return two bindings, named so that a user's keymap can give them other keys."""
    action = action_of(key.name)
    # a binding must have a key before it can be given another: these no terminal sends
    letters = key.letters or f"no_letter_{key.name}"
    controls = key.controls or f"no_control_{key.name}"
    return (
        Binding(letters, action, key.help, show=False, id=f"{key.name}.letters"),
        Binding(controls, action, key.help, show=False, priority=True, id=f"{key.name}.controls"),
    )


def group_of(key: Key) -> str:
    """Return the heading under which help lists `key`."""
    return GROUPS[key.run.__module__]


def shown(key: str) -> str:
    """Return a key as people write it: `ctrl+s` is `^S`, `f1` is `F1`."""
    return " ".join(_shown(one) for one in key.split(","))


def _shown(key: str) -> str:
    if key.startswith("ctrl+"):
        return f"^{key.removeprefix('ctrl+').upper()}"
    return key.capitalize() if len(key) > 1 else key


_CONTROL = re.compile(r"f([1-9]|1[0-2])|(ctrl|alt)\+[a-z]")
# What terminals send for other keys, and what panels and lists answer before any action.
_TAKEN = {
    "ctrl+c": "what stops a program",
    "ctrl+h": "Backspace to a terminal",
    "ctrl+i": "Tab to a terminal",
    "ctrl+j": "a new line in the composer",
    "ctrl+m": "Enter to a terminal",
    "j": "down in a panel",
    "k": "up in a panel",
    "g": "the first line of a panel",
    "G": "the last line of a panel",
}


@dataclass(frozen=True, slots=True)
class Keymap:
    """`keys` is the table with the user's keys in it; `problems` say what was left as it was."""

    keys: tuple[Key, ...] = KEYS
    problems: tuple[str, ...] = ()

    @property
    def told(self) -> str:
        """What is told at the start: the first problem, and where the others are."""
        more = len(self.problems) - 1
        return "".join(self.problems[:1]) + (f"; F1 tells {more} more" if more > 0 else "")

    def overrides(self) -> dict[str, str]:
        """Return what Textual takes as a keymap: binding ids with other keys."""
        changed = [
            (key, default) for key, default in zip(self.keys, KEYS, strict=True) if key != default
        ]
        letters = {f"{key.name}.letters": key.letters for key, _ in changed if key.letters}
        controls = {f"{key.name}.controls": key.controls for key, _ in changed if key.controls}
        return letters | controls


def keymap_of(config: Config) -> Keymap:
    """Return the table of keys as `config` wants it, as far as it can be."""
    problems = list(config.problems)
    wanted: dict[str, Key] = {}
    defaults = {key.name: key for key in KEYS}
    for name, keys in config.keys.items():
        problem = _problem_of(name, keys, defaults)
        if problem:
            problems.append(config.at(name, problem))
        else:
            wanted[name] = _with_keys(defaults[name], keys)
    while (clash := _clash({**defaults, **wanted}, wanted)) is not None:
        name, key, other = clash
        del wanted[name]
        kept = defaults[name]
        keeps = ", ".join(shown(one) for one in _all(kept)) or "none"
        problem = f"{shown(key)} is the key of {other!r}; {name!r} keeps {keeps}"
        problems.append(config.at(name, problem))
    return Keymap(tuple(wanted.get(key.name, key) for key in KEYS), tuple(problems))


def _problem_of(name: str, keys: Sequence[str], known: Mapping[str, Key]) -> str:
    if name not in known:
        return unknown("action", name, tuple(known))
    for key in keys:
        if key in _TAKEN:
            return f"{shown(key)} is {_TAKEN[key]} and cannot be the key of {name!r}"
        if not _is_letter(key) and not _CONTROL.fullmatch(key):
            return f"{key!r} is no key: one letter, f1 to f12, ctrl+a to ctrl+z or alt+a to alt+z"
    return ""


def _with_keys(key: Key, keys: Sequence[str]) -> Key:
    """Return `key` with other letters, other controls, or both; the kind not named stays."""
    letters = ",".join(one for one in keys if _is_letter(one))
    controls = ",".join(one for one in keys if not _is_letter(one))
    return replace(key, letters=letters or key.letters, controls=controls or key.controls)


def _is_letter(key: str) -> bool:
    return len(key) == 1 and key.isprintable() and key not in " ,"


def _clash(table: Mapping[str, Key], wanted: Mapping[str, Key]) -> tuple[str, str, str] | None:
    """Return a wanted action, its key, and the other action that has this key too."""
    owners: dict[str, str] = {}
    for name, key in sorted(table.items(), key=lambda item: item[0] in wanted):
        for one in _all(key):
            if one in owners:
                return name, one, owners[one]
            owners[one] = name
    return None


def _all(key: Key) -> list[str]:
    return [one for one in f"{key.letters},{key.controls}".split(",") if one]
