"""Every key of the main screen, once, and what is made of them: bindings and the footer."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto

from textual.binding import Binding
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from inspector.tui.config import Config, unknown
from inspector.tui.drawing import styles
from inspector.tui.layout import PANELS
from inspector.tui.log_view import LogView
from inspector.tui.notice_line import say

# The headings of help and reference, in their order
TURN = "The turn and its task"
NEXT = "The next turn"
SCREEN = "Panels and screens"
FIND = "Finding"
SAVED = "Sessions"
TAKE = "Copying and opening"
SECRET = "Credentials"
MOCK = "A connected mock"
GROUPS = (TURN, NEXT, SCREEN, FIND, SAVED, TAKE, SECRET, MOCK)


@dataclass(frozen=True, slots=True)
class Key:
    """`name` is what a user's file of keys calls it, `action` what it does.

    `also` are words by which the palette finds it too.

    An action belongs to the screen unless it names another owner (`app.`, `composer.`, `panels.`,
    `data.`, `live.`), on which it is the method `action_…`. `letters` act outside the composer,
    `controls` everywhere; both as Textual spells them. `label` is the footer's word ("" leaves it
    out there), `help` that of help and palette.
    """

    name: str
    action: str
    group: str
    letters: str
    controls: str
    label: str
    help: str
    also: str = ""

    @property
    def word(self) -> str:
        """The word for it in footer and palette."""
        return self.label or self.name.replace("_", " ")


# fmt: off
KEYS = (
    Key("help", "help", SCREEN, "?", "f1", "help", "Show all keys",
        also="keys shortcuts"),
    Key("palette", "palette", SCREEN, ":", "ctrl+p", "palette", "Find any action by its name"),
    Key("slots", "composer.page('slots')", NEXT, "s", "ctrl+s", "slots",
        "The slots of the next turn",
        also="set slot values"),
    Key("options", "composer.page('turn-options')", NEXT, "o", "ctrl+o", "options",
        "How the turn is sent",
        also="configuration history modes"),
    Key("wire", "panels.wire", SCREEN, "w", "f2", "wire", "Show or hide what went over the wire",
        also="bytes http json headers exchange"),
    Key("stop", "stop", TURN, "x", "ctrl+x", "cancel",
        "Cancel the running task; again to hang up",
        also="stop abort hang up"),
    Key("edit", "composer.edit", TURN, "e", "", "edit", "Edit the selected turn and send it again",
        also="change again"),
    Key("card", "card", SCREEN, "c", "f3", "card", "Show the agent's card and its skills",
        also="agent skills"),
    Key("resend", "resend", TURN, "r", "ctrl+r", "resend",
        "Send the selected turn as a new message",
        also="repeat retry fetch card"),
    Key("again", "again", TURN, "d", "ctrl+g", "dedup",
        "Send the selected turn with its message id",
        also="dedup deduplicate duplicate same id replay idempotent"),
    Key("twice", "twice", TURN, "D", "", "409", "Send the selected turn twice at once with one id",
        also="conflict concurrent race duplicate"),
    Key("follow", "composer.follow", NEXT, "t", "ctrl+t", "stream",
        "Stream, await the answer, or neither",
        also="blocking wait poll"),
    Key("context", "composer.context", NEXT, "n", "ctrl+n", "context",
        "Keep the context, or start a new one",
        also="new conversation session"),
    Key("task", "composer.task", NEXT, "F", "ctrl+d", "",
        "Continue the task that waits for you, or begin a new one",
        also="continue answer new"),
    Key("raw", "composer.raw", NEXT, "b", "f6", "raw",
        "The turn as its JSON-RPC body, to edit as text",
        also="body json rpc"),
    Key("snippets", "composer.snippets", NEXT, "A", "f12", "",
        "Turns and slots saved for this target",
        also="saved turns favourites"),
    Key("editor", "composer.editor", NEXT, "E", "ctrl+e", "", "Write the turn in your $EDITOR",
        also="write compose"),
    Key("get_task", "get_task", TURN, "T", "", "task", "Get the selected task as it is now",
        also="poll state status"),
    Key("resubscribe", "resubscribe", TURN, "R", "", "", "Follow the selected task's stream again",
        also="reconnect continue stream"),
    Key("attach", "composer.page('parts')", NEXT, "a", "ctrl+f", "",
        "Files and parts of the next turn",
        also="file parts upload"),
    Key("metadata", "composer.page('metadata')", NEXT, "m", "", "",
        "The metadata of the next turn"),
    Key("headers", "composer.page('headers')", NEXT, "H", "", "",
        "The HTTP headers of the next turn",
        also="http"),
    Key("shape", "composer.shape", NEXT, "", "", "", "Change the shape in which slots are sent"),
    Key("faults", "faults", MOCK, "f", "f7", "faults", "Arm and disarm the faults of a mock",
        also="inject failure error arm"),
    Key("live", "live", MOCK, "L", "f8", "live", "Run the conversation again at each save",
        also="replay reload watch rerun"),
    Key("live_base", "live.base", MOCK, "B", "", "",
        "Compare a run with the conversation, or the previous run"),
    Key("push", "push", SCREEN, "P", "", "push", "Receive push notifications, or fail on purpose",
        also="webhook callback receiver notifications"),
    Key("trace", "data.rules", MOCK, "u", "f10", "rules", "The rules that decided a mock's turn",
        also="explain why mock"),
    Key("sessions", "sessions", SAVED, "S", "f9", "sessions",
        "Saved sessions: reopen, export, name",
        also="history saved reopen export"),
    Key("target", "target", SCREEN, "N", "ctrl+l", "", "Talk to another agent",
        also="connect agent url switch"),
    Key("picture", "app.picture", SAVED, "I", "f11", "", "Write a picture of the screen, as SVG",
        also="screenshot svg"),
    Key("zoom", "panels.zoom", SCREEN, "z", "f4", "zoom",
        "Show the focused panel alone",
        also="maximize fullscreen full screen alone"),
    Key("filter", "panels.filter", FIND, "/", "", "filter", "Show only what matches a filter",
        also="search find"),
    Key("next_trouble", "panels.trouble(1)", FIND, "]", "", "", "Go to the next error or finding",
        also="problem wrong"),
    Key("last_trouble", "panels.trouble(-1)", FIND, "[", "", "",
        "Go to the previous error or finding",
        also="problem wrong"),
    Key("next_task", "panels.task(1)", FIND, "}", "", "", "Go to the next task"),
    Key("last_task", "panels.task(-1)", FIND, "{", "", "", "Go to the previous task"),
    Key("wider", "panels.resize(1)", SCREEN, ">,+", "", "", "Make the panel larger",
        also="bigger grow resize"),
    Key("narrower", "panels.resize(-1)", SCREEN, "<,-", "", "", "Make the panel smaller",
        also="smaller shrink resize"),
    Key("even", "panels.even", SCREEN, "=", "", "", "Show all panels at the same size",
        also="equal reset resize"),
    Key("hide", "panels.hide", SCREEN, "h", "", "", "Hide the panel; its number brings it back",
        also="close column"),
    Key("renew", "renew", SECRET, "K", "ctrl+k", "", "Renew the token, or enter credentials",
        also="token login auth credentials"),
    Key("quit", "app.quit", SCREEN, "q", "ctrl+q", "quit", "Quit; asks only while something runs",
        also="exit leave close"),
    Key("pager", "panels.pager", TAKE, "v", "", "", "Read the selected payload in $PAGER",
        also="less read"),
    Key("view_in_editor", "panels.editor", TAKE, "O", "", "",
        "Read the selected payload in $EDITOR"),
    Key("save", "panels.save", TAKE, "W", "", "", "Save the file of a part, or a body, to a path",
        also="download write file"),
    Key("copy", "panels.copy", TAKE, "y", "", "",
        "Copy the selected block; in the wire view as curl",
        also="clipboard"),
    Key("copy_as", "panels.copy_as", TAKE, "C", "", "",
        "Copy the exchange as curl, Python, JSON or HAR",
        also="curl har export clipboard"),
    Key("copy_command", "copy_command", TAKE, "Y", "", "", "Copy the last turn as a command line",
        also="cli command line headless"),
    *(Key(f"go_{one.id}", f"panels.go('{one.id}')", SCREEN, str(one.number), "", "", one.help)
      for one in PANELS),
    Key("write", "composer.write", SCREEN, "5,i", "", "", "Write a message",
        also="compose message prompt"),
    Key("send", "composer.send", TURN, "", "f5", "", "Send the turn as written, raw or not"),
    Key("symbols", "app.symbols", SCREEN, "", "", "", "Switch between Unicode and ASCII symbols",
        also="ascii unicode font"),
    Key("credentials", "credentials", SECRET, "", "", "", "Enter other credentials",
        also="token key auth login jwt"),
    Key("theme", "app.next_theme", SCREEN, "", "", "", "Switch to the next theme",
        also="colours colors light dark"),
)
# fmt: on
BY_NAME = {key.name: key for key in KEYS}


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
    "ctrl+c": "what says how to quit",
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
    def remark(self) -> str:
        """What is shown at the start: the first problem, and where the others are."""
        more = len(self.problems) - 1
        return "".join(self.problems[:1]) + (f"; F1 shows {more} more" if more > 0 else "")

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
            return (
                f"{key!r} is not a key: one letter, f1 to f12, ctrl+a to ctrl+z or alt+a to alt+z"
            )
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


class Area(Enum):
    """Where the focus is; Enter, Esc and letters do something else in each."""

    PANELS = auto()
    PROMPT = auto()
    RAW = auto()
    DRAWER = auto()
    FILTER = auto()
    SAVE = auto()


_OWN_KEYS = {
    Area.PANELS: (("i", "write", action_of("write")),),
    Area.PROMPT: (("Enter", "send", action_of("send")), ("Esc", "panels", "screen.back")),
    Area.RAW: (("Esc", "panels", "screen.back"),),
    Area.DRAWER: (("Esc", "back", "screen.back"),),
    Area.FILTER: (("Enter", "keep the filter", ""), ("Esc", "drop it", "")),
    Area.SAVE: (("Enter", "save", ""), ("Esc", "back", "")),
}


class KeyBar(Widget):
    """One line; a `notice` stands above it for a moment, and no longer than until the next key."""

    area: reactive[Area] = reactive(Area.PROMPT)
    notice: reactive[str] = reactive("", init=False, always_update=True)
    found: reactive[int] = reactive(0)

    def __init__(self, keys: Sequence[Key] = KEYS) -> None:
        super().__init__()
        self.keys = keys
        self.auto_links = False

    def show_view(self, view: LogView) -> None:
        self.found = view.trouble_count.total

    def watch_notice(self, notice: str) -> None:
        say(self.screen, notice)

    def render(self) -> Content:
        right = self._found()
        room = max(0, self.content_size.width - right.cell_length)
        return self._keys(room).truncate(room, pad=True) + right

    def _found(self) -> Content:
        """Return how many places have something wrong, and the key that goes to the next."""
        if not self.found:
            return Content("")
        key = self._key("next_trouble")
        badge = Content.assemble(
            (f" {shown(key.letters)}", f"{styles.KEY} bold"), (f" {self.found} wrong ", styles.BAD)
        )
        return styles.clickable(badge, action_of(key.name))

    def _keys(self, room: int) -> Content:
        """Return as many keys as have room, in the order of the table; the last one quits."""
        way_out = self._key("quit")
        acting = way_out.letters if self.area is Area.PANELS else way_out.controls
        last = _entry(shown(acting), way_out.label, action_of(way_out.name))
        bar = Content("")
        for entry in self._entries():
            button = _entry(*entry)
            if bar.cell_length + button.cell_length + last.cell_length > room:
                break
            bar += button
        return bar + last

    def _entries(self) -> Iterator[tuple[str, str, str]]:
        """Yield each key's name, its word and its action."""
        if self.area in (Area.RAW, Area.DRAWER):
            yield shown(self._key("send").controls), "send", action_of("send")
        yield from _OWN_KEYS[self.area]
        if self.area in (Area.FILTER, Area.SAVE):
            return
        for key in self.keys:
            acting = key.letters if self.area is Area.PANELS else key.controls
            if key.label and acting and key.name != "quit":
                yield shown(acting), key.label, action_of(key.name)

    def _key(self, name: str) -> Key:
        return next(key for key in self.keys if key.name == name)


def _entry(name: str, label: str, action: str) -> Content:
    entry = Content.assemble(" ", (name, f"{styles.KEY} bold"), " ", (label, styles.DIM), " ")
    return styles.clickable(entry, action) if action else entry
