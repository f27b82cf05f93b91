"""The options of the next turn as a form: what goes out beside its content, and how."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from textual import on
from textual.app import ComposeResult
from textual.containers import HorizontalGroup, VerticalGroup
from textual.message import Message
from textual.widgets import Input, Static

from inspector.core.commands import Also, FollowMode
from inspector.tui.composing.choices import Choices
from inspector.tui.composing.options_line import FOLLOW_NAMES
from inspector.tui.composing.turn_options import TurnOptions

_ALSO_NAMES = {
    Also.SUBSCRIBE.value: "resubscribe",
    Also.POLL.value: "poll",
    Also.PUSH.value: "push",
}


@dataclass(frozen=True, slots=True)
class Field:
    """One line of text. `change` applies what was typed, `typed` is what to type for it."""

    id: str
    label: str
    placeholder: str
    typed: Callable[[TurnOptions], str]
    change: Callable[[TurnOptions, str], TurnOptions]
    allowed: str | None = None


def _with_context(options: TurnOptions, typed: str) -> TurnOptions:
    """Return `options` for the context that is typed; an empty field leaves it."""
    return options.with_context(typed) if typed else replace(options, chosen_context=None)


def _with_history(options: TurnOptions, typed: str) -> TurnOptions:
    return replace(options, history_length=int(typed) if typed else None)


def _with_modes(options: TurnOptions, typed: str) -> TurnOptions:
    modes = tuple(mode.strip() for mode in typed.split(",") if mode.strip())
    return replace(options, accepted_output_modes=modes)


CONTEXT = Field(
    "context-id",
    "or id",
    "of another context",
    lambda options: options.chosen_context or "",
    lambda options, typed: _with_context(options, typed.strip()),
)
MESSAGE = Field(
    "message-id",
    "message id",
    "a new one",
    lambda options: options.message_id or "",
    lambda options, typed: options.with_message_id(typed.strip() or None),
)
TASK = Field(
    "task-id",
    "task id",
    "none",
    lambda options: options.task_id or "",
    lambda options, typed: replace(options, task_id=typed.strip() or None),
)
HISTORY = Field(
    "history",
    "history",
    "messages to ask for",
    lambda options: "" if options.history_length is None else str(options.history_length),
    _with_history,
    r"[0-9]{0,9}",
)
MODES = Field(
    "modes",
    "modes",
    "any; text/plain, application/json",
    lambda options: ", ".join(options.accepted_output_modes),
    _with_modes,
)
FIELDS = (CONTEXT, MESSAGE, TASK, HISTORY, MODES)


class OptionsForm(VerticalGroup):
    @dataclass
    class Changed(Message):
        """`change` is what the user did to the options."""

        change: Callable[[TurnOptions], TurnOptions]

    def __init__(self) -> None:
        super().__init__(id="turn-options", classes="page")

    def compose(self) -> ComposeResult:
        with HorizontalGroup():
            yield Choices("context", {"keep": "keep", "new": "new"}, id="which-context")
            yield from _field(CONTEXT)
        with HorizontalGroup():
            yield from _field(MESSAGE)
            yield from _field(TASK)
        follow = {mode.value: name for mode, name in FOLLOW_NAMES.items()}
        yield Choices("follow", follow, id="which-follow")
        yield Choices("and also", _ALSO_NAMES, id="which-also")
        with HorizontalGroup():
            yield from _field(HISTORY)
            yield from _field(MODES)

    def on_mount(self) -> None:
        for field in self.query(Input):
            field.cursor_blink = False

    def show(self, options: TurnOptions) -> None:
        """Show `options`, leaving alone what a field says already in other words."""
        in_context = options.chosen_context or options.is_new_context or options.context_id is None
        is_new = options.is_new_context or (in_context and not options.chosen_context)
        chosen = "new" if is_new else "" if in_context else "keep"
        self.query_one("#which-context", Choices).show({chosen})
        self.query_one("#which-follow", Choices).show({options.follow.value})
        self.query_one("#which-also", Choices).show({way.value for way in options.also})
        for field in FIELDS:
            shown = self.query_one(f"#{field.id}", Input)
            if field.change(options, shown.value) != options:
                with self.prevent(Input.Changed):
                    shown.value = field.typed(options)

    def focus_first(self) -> None:
        self.query_one("#which-context Button").focus()

    @on(Input.Changed)
    def take_text(self, event: Input.Changed) -> None:
        event.stop()
        field = next(field for field in FIELDS if field.id == event.input.id)
        typed = event.value
        self.post_message(self.Changed(lambda options: field.change(options, typed)))

    @on(Input.Submitted)
    def next_field(self, event: Input.Submitted) -> None:
        event.stop()
        self.screen.focus_next()

    @on(Choices.Toggled, "#which-context")
    def take_context(self, event: Choices.Toggled) -> None:
        event.stop()
        is_new = event.value == "new"
        self._change(lambda of: replace(of, is_new_context=is_new, chosen_context=None))

    @on(Choices.Toggled, "#which-follow")
    def take_follow(self, event: Choices.Toggled) -> None:
        event.stop()
        mode = FollowMode(event.value)
        self._change(lambda of: replace(of, follow=mode))

    @on(Choices.Toggled, "#which-also")
    def take_also(self, event: Choices.Toggled) -> None:
        event.stop()
        way = Also(event.value)
        self._change(lambda of: of.toggled_also(way))

    def _change(self, change: Callable[[TurnOptions], TurnOptions]) -> None:
        self.post_message(self.Changed(change))


def _field(field: Field) -> ComposeResult:
    yield Static(field.label, classes="label", markup=False)
    yield Input(
        placeholder=field.placeholder,
        id=field.id,
        classes="field",
        compact=True,
        restrict=field.allowed,
    )
