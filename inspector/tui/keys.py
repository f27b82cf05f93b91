"""Every key of the main screen, once: bindings, footer, help and palette are made from it."""

from dataclasses import dataclass

from textual.binding import Binding


@dataclass(frozen=True, slots=True)
class Key:
    """`letters` act outside the composer, `controls` everywhere; both as Textual spells them.

    `label` is the footer's word ("" leaves it out there), `help` the sentence of help and palette.
    """

    action: str
    letters: str
    controls: str
    label: str
    help: str


KEYS = (
    Key("help", "question_mark", "f1", "help", "Show all keys"),
    Key("palette", "colon", "ctrl+p", "palette", "Find any action by its name"),
    Key("slots", "s", "ctrl+s", "slots", "Open or close the table of slots for the next turn"),
    Key("wire", "w", "f2", "wire", "Show or hide what went over the wire"),
    Key("stop", "x", "ctrl+x", "cancel", "Cancel the running task; once more hangs up"),
    Key("card", "c", "f3", "card", "Show the agent's card and its skills"),
    Key("resend", "r", "ctrl+r", "resend", "Send the last turn as a new message"),
    Key("follow", "t", "ctrl+t", "stream", "Stream, wait for the answer, or return at once"),
    Key("context", "n", "ctrl+n", "context", "Keep the context or begin a new one"),
    Key("again", "d", "ctrl+g", "dedup", "Send the last turn with the same message id"),
    Key("shape", "o", "ctrl+o", "shape", "Change the shape in which slots travel"),
    Key("zoom", "z", "f4", "zoom", "Give the whole room to the focused panel"),
    Key("quit", "q", "ctrl+q", "quit", "Quit; asks only while something runs"),
    Key("copy", "y", "", "", "Copy the selected block; in the wire view as curl"),
    Key("copy_command", "Y", "", "", "Copy the selected turn as an a2a-inspect command line"),
    Key("panel('conversation')", "1", "", "", "Go to the conversation"),
    Key("panel('timeline')", "2", "", "", "Go to the timeline"),
    Key("panel('data')", "3", "", "", "Go to the data and slots"),
    Key("panel('wire')", "4", "", "", "Go to the wire view"),
    Key("panel('compose')", "5,i", "", "", "Write a message"),
    Key("symbols", "", "", "", "Change between Unicode and ASCII symbols"),
    Key("theme", "", "", "", "Change between dark and light"),
)
NAMES = {"question_mark": "?", "colon": ":", "5,i": "5 i"}


def bindings() -> list[Binding]:
    """Return the bindings of the main screen; those with Ctrl or F act inside the composer too."""
    letters = [
        Binding(key.letters, f"screen.{key.action}", key.help, show=False)
        for key in KEYS
        if key.letters
    ]
    controls = [
        Binding(key.controls, f"screen.{key.action}", key.help, show=False, priority=True)
        for key in KEYS
        if key.controls
    ]
    return letters + controls


def shown(key: str) -> str:
    """Return a key as people write it: `ctrl+s` is `^S`, `f1` is `F1`."""
    if key in NAMES:
        return NAMES[key]
    if key.startswith("ctrl+"):
        return f"^{key.removeprefix('ctrl+').upper()}"
    return key.upper() if len(key) > 1 else key
