"""Every action by its name, for the command palette."""

from collections.abc import Callable, Sequence
from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider

from inspector.tui.keys import KEYS, Key, action_of, shown
from inspector.tui.workspace import Workspace


class Actions(Provider):
    """The table of keys, searchable; each line tells its key too."""

    async def discover(self) -> Hits:
        for key in self._keys():
            if key.name != "palette":
                yield DiscoveryHit(_title(key), self._runner(key))

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for key in self._keys():
            score = matcher.match(_title(key))
            if score > 0 and key.name != "palette":
                yield Hit(score, matcher.highlight(_title(key)), self._runner(key))

    def _keys(self) -> Sequence[Key]:
        return self.screen.keymap.keys if isinstance(self.screen, Workspace) else KEYS

    def _runner(self, key: Key) -> Callable[[], object]:
        return partial(self.screen.run_action, action_of(key.name))


def _title(key: Key) -> str:
    name = shown(key.letters) if key.letters else ""
    return f"{key.help}  {name}".rstrip()
