"""Which task of each context waits for the user, and whether the next message continues it."""

from dataclasses import dataclass, field, replace

from inspector.core.commands import Json
from inspector.views.persistent import Index
from inspector.views.reads import STARTS_TASK, Call, Pushed, Read, Received
from inspector.wire.dialect import Result, data_parts
from inspector.wire.states import INTERRUPTED, parse_state


@dataclass(frozen=True, slots=True)
class NewestTask:
    """The task that the newest turn of a context began or continued, in its `state`."""

    id: str
    state: str | None


@dataclass(frozen=True, slots=True, eq=False)
class Waiting:
    """`newest` is the newest task of each context; one that was superseded waits no longer.

    `is_rasa`: the agent answers as Rasa does, for which each message is a new task of its context.
    """

    newest: Index[str, NewestTask] = field(default_factory=Index[str, NewestTask])
    is_rasa: bool = False

    def task_in(self, context_id: str | None) -> str | None:
        """The task of the context that waits for the user; None where none does."""
        task = None if context_id is None else self.newest.get(context_id)
        return task.id if task is not None and task.state in INTERRUPTED else None

    def continued_in(self, context_id: str | None) -> str | None:
        """The task that a message continues unless the user says otherwise."""
        return None if self.is_rasa else self.task_in(context_id)


EMPTY = Waiting()


def step(view: Waiting, read: Read) -> Waiting:
    """Take the state of a task that is news; the same object where nothing changes."""
    match read:
        case Received(call=call, result=result) if result is not None and not call.is_replay:
            starts = call.purpose in STARTS_TASK
            return _learn(view, result, call, is_news=read.is_news, is_of_turn=starts)
        case Pushed(result=result) if result is not None:
            is_of_turn = read.turn is not None
            return _learn(view, result, None, is_news=read.is_news, is_of_turn=is_of_turn)
        case _:
            return view


def _learn(
    view: Waiting, result: Result, call: Call | None, *, is_news: bool, is_of_turn: bool
) -> Waiting:
    if not view.is_rasa and any(is_of_rasa(one) for one in data_parts(result.parts)):
        view = replace(view, is_rasa=True)
    task_id, context_id = result.task_id, result.context_id
    if call is not None:
        task_id = task_id or call.progress.task_id
        context_id = context_id or call.progress.context_id or call.context_id
    if not is_news or task_id is None or context_id is None:
        return view
    before = view.newest.get(context_id)
    is_same = before is not None and before.id == task_id
    if not is_same and not is_of_turn:
        return view
    state = parse_state(result.state) if result.state is not None else None
    if before is not None and is_same and state in (None, before.state):
        return view
    return replace(view, newest=view.newest.set(context_id, NewestTask(task_id, state)))


def is_of_rasa(content: Json) -> bool:
    """Say whether `content` is of a DataPart as Rasa writes it into its answers."""
    return (
        isinstance(content, dict)
        and isinstance(content.get("state"), str)
        and "active_flow" in content
    )
