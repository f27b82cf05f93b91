"""A command generator behind an OpenAI-compatible endpoint; off unless mock.yml has one."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial

import httpx

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.language_model import Generate, Generation, LanguageModel
from mock_server.dialogue.model import Json
from mock_server.dialogue.state import DialogueState
from mock_server.llm.prompt import prompt, read_answer

MAX_TOKENS = 256


@asynccontextmanager
async def open_generator(language_model: LanguageModel) -> AsyncGenerator[Generate]:
    """What asks the model, as long as the context lasts."""
    key = language_model.api_key
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with httpx.AsyncClient(
        headers=headers, timeout=language_model.timeout_seconds, trust_env=False
    ) as http:
        yield partial(_generate, http, language_model)


async def _generate(
    http: httpx.AsyncClient,
    language_model: LanguageModel,
    assistant: Assistant,
    state: DialogueState,
    text: str,
) -> Generation:
    """The model's commands; whatever goes wrong leaves the message to the rules."""
    body: Json = {
        "model": language_model.model,
        "messages": [{"role": "user", "content": prompt(assistant, state, text)}],
        "temperature": 0,
        "max_tokens": MAX_TOKENS,
    }
    url = f"{language_model.base_url.rstrip('/')}/chat/completions"
    try:
        response = await http.post(url, json=body)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        # A request's error may quote its headers; the name of its class cannot.
        return Generation((), f"the model cannot be had: {type(error).__name__}; the rules decide")
    answer = _content(response)
    if answer is None:
        status = response.status_code
        return Generation((), f"the model's reply {status} has no message; the rules decide")
    return read_answer(answer)


def _content(response: httpx.Response) -> str | None:
    """`choices[0].message.content` of a reply that is a success."""
    try:
        reply: Json = response.json() if response.is_success else None
    except ValueError:
        return None
    match reply:
        case {"choices": [{"message": {"content": str(content)}}, *_]}:
            return content
        case _:
            return None
