"""Which task and which context a message or an operation is about."""

from mock_server.profiles import Profile
from mock_server.service.live_task import LiveTask
from mock_server.service.snapshot import Snapshot
from mock_server.service.store import TaskStore
from mock_server.service.world import World
from mock_server.tasks.log import continued, submitted
from mock_server.tasks.task import Message, Task
from mock_server.wire import jsonrpc


class Register:
    """Looks into the store; makes ids for what is new."""

    def __init__(self, store: TaskStore, world: World, profile: Profile) -> None:
        self._store = store
        self._world = world
        self._profile = profile

    def find(self, task_id: str) -> LiveTask | Snapshot:
        """The task of that id.

        Raises:
            RpcError: there is none.
        """
        found = self._store.find(task_id)
        if found is None:
            raise jsonrpc.task_not_found()
        return found

    def context_of(self, message: Message) -> str:
        """The message's own context, that of the task it names, or a new one.

        Raises:
            RpcError: the task is unknown, or of another context.
        """
        if not message.task_id:
            return message.context_id or self._world.make_id()
        context_id = self._store.context_of(message.task_id)
        if context_id is None or message.context_id not in (context_id, None, ""):
            raise jsonrpc.unknown_task(message.task_id)
        return context_id

    def task_of(self, message: Message, context_id: str) -> Task:
        """A new task, or the one that the message names, where the profile goes on with it.

        Raises:
            RpcError: the named task does not wait for a message.
        """
        if not (message.task_id and self._profile.continues_tasks):
            return submitted(self._world.make_id(), context_id, message)
        match self.find(message.task_id):
            case LiveTask():
                raise jsonrpc.unsupported()
            case Snapshot(state=state) if state.is_terminal:
                raise jsonrpc.is_terminal(message.task_id, state)
            case Snapshot(task=task):
                return continued(task, message, self._world.now())
