"""The table of keys as a help page, as the command palette and as a page of the reference."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Protocol, runtime_checkable

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from inspector.core.saved.quota import DEFAULT_MB, FILE, SETTING
from inspector.tui.config import SYMBOLS
from inspector.tui.drawing import styles
from inspector.tui.drawing.safe_text import safe_line
from inspector.tui.drawing.themes import THEMES
from inspector.tui.key_line import QUIT, quit_key
from inspector.tui.keys import GROUPS, KEYS, Key, Keymap, action_of, shown

_KEY_WIDTH = 12
_MOVING = (
    ("↑ ↓  k j", "Move; the same place is marked in every panel"),
    ("Home End", "To the first, to the newest; there the view follows"),
    ("Space", "Open or close a task or a branch of data"),
    ("Tab", "To the next panel"),
    ("Esc", "One step back; in the composer to the panels"),
)
_WRITING = (
    ("Enter", "Send; the number of a button sends the button"),
    ("Ctrl+J", "Begin a new line"),
    ("↑ ↓", "What was sent before"),
)


class HelpScreen(ModalScreen[None]):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,f1,enter", "dismiss", "Close", show=False),
        QUIT,
    ]

    def __init__(self, keymap: Keymap) -> None:
        super().__init__()
        self._keymap = keymap

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help") as scroll:
            scroll.border_title = "Keys"
            yield Static(help_text(self._keymap), markup=False)

    def on_mount(self) -> None:
        self.query_one("#help").border_subtitle = f"Esc closes   {quit_key(self)} quits"


def help_text(keymap: Keymap) -> Content:
    """Return all keys by group, after what is wrong in the user's own."""
    lines = [Content.styled(safe_line(problem), styles.WARN) for problem in keymap.problems]
    lines += [Content("")] if lines else []
    lines += [
        Content.styled("outside · inside the composer; all of them in the palette", styles.DIM)
    ]
    for group in GROUPS:
        keys = [key for key in keymap.keys if key.group == group]
        rows = [
            _row(_names(key.letters), key.help, _names(key.controls))
            for key in keys
            if key.letters or key.controls
        ]
        lines += [_title(group), *rows, Content("")]
    lines += [_title("In a panel"), *(_row(name, text) for name, text in _MOVING)]
    lines += [_row("p", "In the wire view: pretty or raw")]
    lines += [Content(""), _title("In the composer"), *(_row(*row) for row in _WRITING)]
    return Content("\n").join(lines)


def _title(text: str) -> Content:
    return Content.styled(text, "bold")


def _row(name: str, text: str, control: str = "") -> Content:
    keys = Content.assemble(
        (name.ljust(_KEY_WIDTH - 6), styles.KEY), (control.ljust(6), styles.KEY)
    )
    return keys + Content(text)


def _names(keys: str) -> str:
    return shown(keys) if keys else ""


@runtime_checkable
class HasKeymap(Protocol):
    """A screen whose keys the user may have changed."""

    keymap: Keymap


class Actions(Provider):
    """The table of keys and the themes, searchable by synonyms too; each line shows its key."""

    async def discover(self) -> Hits:
        for entry in self._entries():
            yield DiscoveryHit(entry.title, self._runner(entry))

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for entry in self._entries():
            score = entry.score(query) or matcher.match(entry.title)
            if score > 0:
                yield Hit(score, matcher.highlight(entry.title), self._runner(entry))

    def _entries(self) -> Iterator["PaletteEntry"]:
        keys = self.screen.keymap.keys if isinstance(self.screen, HasKeymap) else KEYS
        for key in keys:
            if key.name != "palette":
                pressed = shown(key.letters or key.controls) if key.letters or key.controls else ""
                title = f"{key.word}: {key.help}  {pressed}".rstrip()
                names = f"{key.word} {key.name} {key.also}"
                yield PaletteEntry(title, names, key.help, action_of(key.name))
        for name in THEMES:
            note = _THEME_NOTES[name]
            names = f"theme {name} {name.replace('-', ' ')}"
            yield PaletteEntry(
                f"theme {name}: For {note}", names, note, f"app.take_theme('{name}')"
            )

    def _runner(self, entry: "PaletteEntry") -> Callable[[], object]:
        return partial(self.screen.run_action, entry.action)


@dataclass(frozen=True, slots=True)
class PaletteEntry:
    """`names` are the words that mean it, `help` those that describe it."""

    title: str
    names: str
    help: str
    action: str

    def score(self, query: str) -> float:
        """Return how well it is meant by the words of `query`; 0 where one of them is unknown.

        A name counts more than the beginning of one, that more than a word of the description,
        and each of them more than any letters that Textual finds scattered over the title.
        """
        names, described = self.names.lower().split(), re.findall(r"[\w$-]+", self.help.lower())
        scores = [_word_score(word, names, described) for word in query.lower().split()]
        return _WHOLE_WORDS + sum(scores) / len(scores) if scores and all(scores) else 0


# above every score that Textual gives to a title
_WHOLE_WORDS = 1000.0


def _word_score(word: str, names: Sequence[str], described: Sequence[str]) -> float:
    if word in names:
        # the first names are those that the footer and the user's file have for it
        return 100 - names.index(word)
    if any(name.startswith(word) for name in names):
        return 40
    return 20 if any(one.startswith(word) for one in described) else 0


_HEAD = f"""# Keys, config and themes of the terminal app

Generated by `scripts/reference`; do not edit.

Letters act in the panels. While the composer has the focus only keys with Ctrl, F keys and Esc act.
Ctrl-A and Ctrl-B stay free for `screen` and `tmux`. Every action is also in the palette (`:`), and
each key in the footer can be clicked.

## {FILE}

The file lies in the user's config folder: `$XDG_CONFIG_HOME/a2a-inspect/`, else
`~/.config/a2a-inspect/`. All of it is optional:

```toml
theme = "clear"
symbols = "ascii"
sessions_mb = 500

[keys]
resend = "X"                # another letter; Ctrl-R stays
wire = ["ctrl+w", "W"]      # both
```

A key is one letter or sign, `f1` to `f12`, `ctrl+a` to `ctrl+z` or `alt+a` to `alt+z`. What cannot
be taken (an unknown action, a key that another action has) is shown at the start and on the help
page with its line; the default stays.

`symbols` is one of {", ".join(f"`{one}`" for one in SYMBOLS)}; `auto` draws ASCII where the
locale or the terminal knows no other letters.

`{SETTING}` is how many megabytes the saved sessions may take: {DEFAULT_MB} by default, 0 for any
number. The commands of `a2a-inspect` follow it, too. See
[Keep, reopen and share sessions](../how-to/keep-sessions.md#delete-old-sessions).

## Themes

Without `theme` the one that was last chosen by hand is taken. With `NO_COLOR` set it is `plain`.

| Theme | For |
| --- | --- |
"""
_THEME_NOTES = {
    "calm-dark": "dark terminals; the default",
    "calm-light": "light terminals",
    "clear": "colour-blind people: the palette of Okabe and Ito",
    "contrast": "high contrast",
    "plain": "no colour at all",
}
_TABLE = "| In the panels | Everywhere | Name | What it does |\n| --- | --- | --- | --- |\n"
_FOOT = """
## In a panel

| Key | What it does |
| --- | --- |
| `↑` `↓`, `k` `j` | move; the same place is marked in every panel |
| `Home` `End`, `g` `G` | to the first, to the newest; there the view follows |
| `Space` | open or close a task or a branch of data |
| `p` | in the wire view: pretty or raw |
| `Tab` | to the next panel |
| `Esc` | one step back: the filter, the zoom, the wire view |

The border between two panels can be moved with the mouse. What is wider, narrower or hidden is
remembered, as is the theme, in `layout.json` of the state folder.

## Filters

`/` filters conversation, timeline and wire together while it is typed; in the data panel it keeps
the lines that hold the words. All terms must hold.

| Term | Keeps |
| --- | --- |
| `state:working` | what is in this state; several with commas |
| `task:91c`, `context:7f3` | what belongs to the task or context whose id begins so |
| `status:err`, `status:ok`, `status:open` | what failed, went well, still runs |
| `status:4`, `status:409` | what has such an HTTP status |
| `method:send`, `lane:push` | the method, the way by which it came |
| `finding:late` | what has such a finding |
| `.status.state=working` | where a path into the JSON leads there; `!=`, `~` holds |
| `refund`, `"two words"` | text that is anywhere |
| `!term` | what the term does not keep |
"""


def keys_page() -> str:
    themes = "".join(f"| `{name}` | {_THEME_NOTES[name]} |\n" for name in THEMES)
    return f"{_HEAD}{themes}{''.join(map(_section, GROUPS))}{_FOOT}"


def _section(group: str) -> str:
    rows = "".join(_reference_row(key) for key in KEYS if key.group == group)
    return f"\n## {group}\n\n{_TABLE}{rows}"


def _reference_row(key: Key) -> str:
    letters, controls = (_keys(one) for one in (key.letters, key.controls))
    return f"| {letters} | {controls} | `{key.name}` | {key.help} |\n"


def _keys(written: str) -> str:
    return " ".join(f"`{shown(one)}`" for one in written.split(",") if one)
