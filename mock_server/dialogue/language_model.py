"""The language model that a project may have beside its rules: what mock.yml says of it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.commands import Command
from mock_server.dialogue.state import DialogueState

TIMEOUT_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class LanguageModel:
    """An OpenAI-compatible endpoint; `api_key` is a secret, and no message shows it."""

    base_url: str
    model: str
    api_key: str = field(default="", repr=False)
    timeout_seconds: float = TIMEOUT_SECONDS


@dataclass(frozen=True, slots=True)
class Generation:
    """What a model made of a message, and why there is nothing if there is nothing."""

    commands: tuple[Command, ...]
    reason: str


Generate: TypeAlias = Callable[[Assistant, DialogueState, str], Awaitable[Generation]]
