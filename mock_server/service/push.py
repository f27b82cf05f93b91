"""The push operations on tasks, and the news of tasks for those who registered (server.md PUSH)."""

from structlog.stdlib import get_logger

from mock_server.errors import PushRefused
from mock_server.profiles import Profile
from mock_server.push.notifier import Checked, Notifier
from mock_server.service.store import Store
from mock_server.tasks.task import PushConfig, Task
from mock_server.wire import jsonrpc
from mock_server.wire.operations import (
    CallContext,
    DeletePushConfig,
    GetPushConfig,
    ListPushConfigs,
    SetPushConfig,
)

logger = get_logger("a2a_server")


class PushOperations:
    """Without a `notifier` push is off, which every operation answers with an error."""

    def __init__(self, store: Store, notifier: Notifier | None, profile: Profile) -> None:
        self._store = store
        self._notifier = notifier
        self._profile = profile

    @property
    def is_open(self) -> bool:
        return self._notifier is not None

    async def check(self, config: PushConfig | None) -> Checked | None:
        """Judge the configuration that came with a message; off, it counts for nothing.

        Raises:
            RpcError: it is refused, or is one too many for a profile that says so.
        """
        if config is None:
            return None
        if self._notifier:
            return await _checked(self._notifier, config)
        if self._profile.keeps_to_push_specification:
            raise jsonrpc.push_not_supported()
        logger.warning("a2a_server.push.disabled", text="a message's configuration is ignored")
        return None

    def open(self, task: Task, call: CallContext, checked: Checked | None) -> None:
        """Register what came with the message of `task`, and announce the task."""
        if self._notifier and checked:
            self._notifier.register(task.id, checked, call.codec.encode_push)
            self.tell(task)

    def tell(self, task: Task) -> None:
        """Post `task` as it is now to those who registered."""
        if self._notifier:
            self._notifier.notify(task)

    async def set(self, operation: SetPushConfig, call: CallContext) -> PushConfig:
        """Register a configuration and return it with its id.

        Raises:
            RpcError: push is off, the task is unknown or the configuration is refused.
        """
        if self._notifier is None and not self._profile.keeps_to_push_specification:
            raise jsonrpc.push_not_offered()
        checked = await _checked(self._serving(operation.task_id), operation.config)
        # The task may have been forgotten meanwhile.
        notifier = self._serving(operation.task_id)
        try:
            return notifier.register(operation.task_id, checked, call.codec.encode_push)
        except PushRefused as refused:
            raise jsonrpc.push_refused(refused.reason) from None

    def get(self, operation: GetPushConfig) -> PushConfig:
        """The configuration of that id; a2a-sdk 0.3.26 returns the first, whatever its id."""
        configs = self._serving(operation.task_id).configs(operation.task_id)
        if self._profile.keeps_to_push_specification and operation.config_id:
            configs = tuple(config for config in configs if config.id == operation.config_id)
        if not configs:
            raise jsonrpc.push_config_not_found()
        return configs[0]

    def list(self, operation: ListPushConfigs) -> tuple[PushConfig, ...]:
        return self._serving(operation.task_id).configs(operation.task_id)

    def delete(self, operation: DeletePushConfig) -> None:
        """Tell that callback no more; it need not be registered."""
        self._serving(operation.task_id).remove(operation.task_id, operation.config_id)

    def clear(self) -> None:
        """Drop every configuration."""
        if self._notifier:
            self._notifier.clear()

    async def drain(self, seconds: float) -> None:
        """Give what is to be posted `seconds`."""
        if self._notifier:
            await self._notifier.drain(seconds)

    def _serving(self, task_id: str) -> Notifier:
        if self._notifier is None:
            is_told = self._profile.keeps_to_push_specification
            raise jsonrpc.push_not_supported() if is_told else jsonrpc.unsupported()
        if self._store.task(task_id) is None:
            raise jsonrpc.task_not_found()
        return self._notifier


async def _checked(notifier: Notifier, config: PushConfig) -> Checked:
    try:
        return await notifier.check(config)
    except PushRefused as refused:
        logger.warning("a2a_server.push.refused", reason=refused.detail)
        raise jsonrpc.push_refused(refused.reason) from None
