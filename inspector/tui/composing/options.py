"""How the next turn goes out: its options, the line that says them, the form that sets them."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import HorizontalGroup, VerticalGroup
from textual.content import Content
from textual.message import Message
from textual.widgets import Button, Input, Static

from inspector.core.commands import Also, FollowMode, SlotShape, Turn
from inspector.tui.ask_line import LineInput
from inspector.tui.drawing import styles
from inspector.tui.drawing.safe_text import safe_line, size
from inspector.views import waiting
from inspector.views.waiting import Waiting
from inspector.wire.endpoints import DEFAULT
from inspector.wire.json_values import Json, parse_json


@dataclass(frozen=True, slots=True)
class TurnOptions:
    """`context_id` is the conversation on screen; `chosen_context` another one for this turn.

    `waiting` has the tasks that wait for an answer; `continues` is whether this turn is one, None
    as it is usual for the agent. `task_id` is any task that the user named. `message_id` is set
    where the agent shall see an id that it may have seen before.
    """

    follow: FollowMode = FollowMode.STREAM
    also: frozenset[Also] = frozenset()
    shapes: tuple[SlotShape, ...] = (SlotShape.METADATA,)
    context_id: str | None = None
    waiting: Waiting = waiting.EMPTY
    continues: bool | None = None
    chosen_context: str | None = None
    is_new_context: bool = False
    message_id: str | None = None
    task_id: str | None = None
    history_length: int | None = None
    accepted_output_modes: tuple[str, ...] = ()

    def next_follow(self) -> "TurnOptions":
        modes = (FollowMode.STREAM, FollowMode.BLOCKING, FollowMode.NO_BLOCKING)
        return replace(self, follow=modes[(modes.index(self.follow) + 1) % len(modes)])

    def next_shape(self) -> "TurnOptions":
        """Return these options with the one shape after the last chosen one."""
        shapes = list(SlotShape)
        return replace(self, shapes=(shapes[(shapes.index(self.shapes[-1]) + 1) % len(shapes)],))

    def toggled_shape(self, shape: SlotShape) -> "TurnOptions":
        """Return these options with `shape` chosen or not; the last chosen one stays."""
        chosen = set(self.shapes) ^ {shape}
        return replace(self, shapes=tuple(one for one in SlotShape if one in chosen or not chosen))

    def toggled_also(self, way: Also) -> "TurnOptions":
        return replace(self, also=self.also ^ {way})

    def toggled_context(self) -> "TurnOptions":
        return replace(self, is_new_context=not self.is_new_context, chosen_context=None)

    def in_context(self, context_id: str | None, waiting: Waiting) -> "TurnOptions":
        return replace(self, context_id=context_id, waiting=waiting)

    @property
    def waiting_task(self) -> str | None:
        """The task that waits for an answer in the context of the turn."""
        if self.is_new_context:
            return None
        return self.waiting.task_in(self.chosen_context or self.context_id)

    @property
    def is_continuing(self) -> bool:
        """Say whether the turn goes to the task that waits, where the user named no other."""
        if self.task_id is not None or self.waiting_task is None:
            return False
        return not self.waiting.is_rasa if self.continues is None else self.continues

    def continuing(self, continues: bool) -> "TurnOptions":
        """Return these options for a turn that answers the task that waits, or begins another."""
        return replace(self, continues=continues, task_id=None)

    def with_context(self, context_id: str | None) -> "TurnOptions":
        """Return these options for a turn in `context_id`; None stays in that on screen."""
        chosen = None if context_id == self.context_id else context_id
        return replace(self, chosen_context=chosen, is_new_context=False)

    def after_sending(self) -> "TurnOptions":
        """What was for one turn only is gone: context, ids; the ways of following stay."""
        return replace(
            self,
            is_new_context=False,
            chosen_context=None,
            message_id=None,
            task_id=None,
            continues=None,
        )

    def of(self, turn: Turn) -> "TurnOptions":
        """Return the options with which `turn` was composed, in the context that it names."""
        return replace(
            self.with_context(turn.context_id),
            follow=turn.follow,
            also=turn.also,
            shapes=turn.slot_shapes,
            message_id=turn.message_id,
            task_id=turn.task_id,
            continues=None,
            history_length=turn.history_length,
            accepted_output_modes=turn.accepted_output_modes,
        )

    def turn(self, text: str, slots: Mapping[str, Json]) -> Turn:
        kept = self.chosen_context or self.context_id
        return Turn(
            text=text,
            slots=slots,
            slot_shapes=self.shapes,
            context_id=None if self.is_new_context else kept,
            message_id=self.message_id,
            task_id=self.waiting_task if self.is_continuing else self.task_id,
            history_length=self.history_length,
            accepted_output_modes=self.accepted_output_modes,
            follow=self.follow,
            also=self.also,
        )


SHORT_ID = 6
FOLLOW_NAMES = {
    FollowMode.STREAM: "stream",
    FollowMode.BLOCKING: "wait for answer",
    FollowMode.NO_BLOCKING: "return at once",
}


def options_line(options: TurnOptions, turn: Turn) -> Content:
    """Return what `turn` carries and how it goes out; what is not set is not said."""
    words = [*_carried(turn), (_context_words(options), _context_style(options), "context")]
    if options.waiting_task is not None and options.task_id is None:
        task = f"continue {_short(options.waiting_task)}" if options.is_continuing else "new task"
        words.append((task, styles.ACCENT if options.continues is None else styles.WARN, "task"))
    ways = " + ".join([FOLLOW_NAMES[options.follow], *sorted(options.also)])
    words.append((ways, styles.ACCENT if options.also else styles.DIM, "follow"))
    if turn.history_length is not None or turn.accepted_output_modes:
        words.append(("configuration", styles.ACCENT, "options"))
    if turn.headers:
        words.append((f"headers {len(turn.headers)}", styles.ACCENT, "headers"))
    if turn.task_id is not None and not options.is_continuing:
        words.append((f"task {_short(turn.task_id)}", styles.WARN, "options"))
    if turn.message_id is not None:
        words.append((f"same id {_short(turn.message_id)}", styles.WARN, "again"))
    return _joined(words)


def raw_line(turn: Turn) -> Content:
    """Return what is to be known of a raw body before it goes out, broken or not."""
    raw = turn.raw or b""
    problem = parse_json(raw).problem
    says = (
        f"✗ {problem}" if problem else f"✓ JSON, {DEFAULT.read_request(raw).method or 'no method'}"
    )
    return _joined(
        [
            (f"raw {size(len(raw))}", styles.ACCENT, "write"),
            (safe_line(says), styles.WARN if problem else styles.DIM, "write"),
            ("F5 sends it all the same" if problem else "F5 sends", styles.DIM, "send"),
            ("F6 fields", styles.DIM, "raw"),
        ]
    )


def _carried(turn: Turn) -> list[tuple[str, str, str]]:
    slots = f"slots {len(turn.slots)} → {' + '.join(turn.slot_shapes)}"
    words = [(slots, styles.ACCENT, "slots")] if turn.slots else [("no slots", styles.DIM, "slots")]
    if turn.metadata:
        words.append((f"metadata {len(turn.metadata)}", styles.ACCENT, "metadata"))
    if turn.parts:
        words.append((f"parts {len(turn.parts)}", styles.ACCENT, "attach"))
    return words


def _context_style(options: TurnOptions) -> str:
    return styles.WARN if options.is_new_context or options.chosen_context else styles.DIM


def _context_words(options: TurnOptions) -> str:
    if options.chosen_context is not None and not options.is_new_context:
        return f"in ctx {_short(options.chosen_context)}"
    if options.is_new_context or options.context_id is None:
        return "new context"
    return f"keep ctx {_short(options.context_id)}"


def _short(id: str) -> str:
    return safe_line(id)[:SHORT_ID]


def _joined(words: list[tuple[str, str, str]]) -> Content:
    line = Content("")
    for text, style, action in words:
        button = styles.clickable(Content.styled(text, style), f"screen.do('{action}')")
        line = line + Content.styled("  ·  ", styles.DIM) + button if line else button
    return line


class Toggle(Button):
    """Enter and Space press it; its word shows that it was pressed."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("space", "press", show=False)]

    def __init__(self, label: Content | str, *, name: str | None = None, classes: str) -> None:
        super().__init__(label, name=name, classes=classes, compact=True)
        self.active_effect_duration = 0


class Choices(HorizontalGroup):
    """`names` are the words by their value. Who holds the choice answers Toggled with `show`.

    Of exclusive choices one holds, and their marks are round.
    """

    @dataclass
    class Toggled(Message):
        choices: "Choices"
        value: str

    def __init__(
        self, label: str, names: Mapping[str, str], *, id: str, is_exclusive: bool = False
    ) -> None:
        super().__init__(id=id)
        self._label = label
        self._names = names
        self._marks = ("( )", "(•)") if is_exclusive else ("[ ]", "[x]")

    def compose(self) -> ComposeResult:
        yield Static(self._label, classes="label", markup=False)
        for value, name in self._names.items():
            yield Toggle(Content(f"{self._marks[0]} {name}"), name=value, classes="choice")

    def show(self, chosen: Collection[str]) -> None:
        for button in self.query(Button):
            value = button.name or ""
            is_chosen = value in chosen
            button.label = Content(f"{self._marks[is_chosen]} {self._names[value]}")
            button.set_class(is_chosen, "-chosen")

    @on(Button.Pressed)
    def report(self, event: Button.Pressed) -> None:
        event.stop()
        self.post_message(self.Toggled(self, event.button.name or ""))


_ALSO_NAMES = {
    Also.SUBSCRIBE.value: "resubscribe",
    Also.POLL.value: "poll",
    Also.PUSH.value: "push",
}


@dataclass(frozen=True, slots=True)
class Field:
    """One line of text. `change` applies what was typed, `typed` is the text for it."""

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
    lambda options, typed: replace(options, message_id=typed.strip() or None),
)
TASK = Field(
    "task-id",
    "or id",
    "of any task",
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
FIELDS = (CONTEXT, TASK, MESSAGE, HISTORY, MODES)
# What the user's choice changes, by the id of its widget.
_CHOICES: Mapping[str, Callable[[TurnOptions, str], TurnOptions]] = {
    "which-context": lambda options, value: replace(
        options, is_new_context=value == "new", chosen_context=None
    ),
    "which-task": lambda options, value: options.continuing(value == "continue"),
    "which-follow": lambda options, value: replace(options, follow=FollowMode(value)),
    "which-also": lambda options, value: options.toggled_also(Also(value)),
}


class OptionsForm(VerticalGroup):
    @dataclass
    class Changed(Message):
        """`change` is what the user did to the options."""

        change: Callable[[TurnOptions], TurnOptions]

    def __init__(self) -> None:
        super().__init__(id="turn-options", classes="page")

    def compose(self) -> ComposeResult:
        with HorizontalGroup():
            context = {"keep": "keep", "new": "new"}
            yield Choices("context", context, id="which-context", is_exclusive=True)
            yield from _field(CONTEXT)
        with HorizontalGroup():
            task = {"continue": "continue", "new": "new"}
            yield Choices("task", task, id="which-task", is_exclusive=True)
            yield from _field(TASK)
        with HorizontalGroup():
            yield from _field(MESSAGE)
        follow = {mode.value: name for mode, name in FOLLOW_NAMES.items()}
        yield Choices("follow", follow, id="which-follow", is_exclusive=True)
        yield Choices("and also", _ALSO_NAMES, id="which-also")
        with HorizontalGroup():
            yield from _field(HISTORY)
            yield from _field(MODES)

    def show(self, options: TurnOptions) -> None:
        """Show `options`, leaving alone what a field says already in other words."""
        in_context = options.chosen_context or options.is_new_context or options.context_id is None
        is_new = options.is_new_context or (in_context and not options.chosen_context)
        chosen = "new" if is_new else "" if in_context else "keep"
        self.query_one("#which-context", Choices).show({chosen})
        task = "continue" if options.is_continuing else "" if options.task_id else "new"
        self.query_one("#which-task", Choices).show({task})
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

    @on(Choices.Toggled)
    def take_choice(self, event: Choices.Toggled) -> None:
        event.stop()
        change = _CHOICES[event.choices.id or ""]
        self.post_message(self.Changed(lambda options: change(options, event.value)))


def _field(field: Field) -> ComposeResult:
    yield Static(field.label, classes="label", markup=False)
    yield LineInput(
        placeholder=field.placeholder,
        id=field.id,
        classes="field",
        compact=True,
        restrict=field.allowed,
    )
