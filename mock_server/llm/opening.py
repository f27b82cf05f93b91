"""The language model of a project, if it has one."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from mock_server.dialogue.language_model import Generate, LanguageModel


@asynccontextmanager
async def open_language_model(
    language_model: LanguageModel | None,
) -> AsyncGenerator[Generate | None]:
    """What asks the model as long as the context lasts; None where there is none."""
    if language_model is None:
        yield None
        return
    # httpx is worth its import only to those who have a model.
    from mock_server.llm.client import open_generator

    async with open_generator(language_model) as generate:
        yield generate
