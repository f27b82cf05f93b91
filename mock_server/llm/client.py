"""A command generator behind an OpenAI-compatible endpoint; off unless mock.yml has one."""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from functools import partial

import httpx

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.language_model import Generate, Generation, LanguageModel
from mock_server.dialogue.model import Json
from mock_server.dialogue.state import DialogueState
from mock_server.llm.prompt import prompt, read_answer

MAX_TOKENS = 256
JSON = {"Content-Type": "application/json"}
KEYS_OF_STATUS: Mapping[int, str] = {
    401: "llm.api_key",
    403: "llm.api_key",
    404: "llm.base_url and llm.model",
}


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
        # Escaped: what a user sends may hold half of a surrogate pair, which UTF-8 has not.
        response = await http.post(url, content=json.dumps(body), headers=JSON)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        # A request's error may quote its headers; the name of its class cannot.
        return _left_to_rules(f"the model cannot be reached: {type(error).__name__}")
    if not response.is_success:
        return _left_to_rules(f"the model's endpoint replied {_status(response.status_code)}")
    answer = _content(response)
    if answer is None:
        return _left_to_rules("the model's reply has no message")
    return read_answer(answer)


def _left_to_rules(reason: str) -> Generation:
    return Generation((), f"{reason}; the rules decide")


def _status(status: int) -> str:
    """The status, and which key of `llm` it is about; what the reply says may quote a key."""
    about = KEYS_OF_STATUS.get(status)
    return f"{status}: look at {about}" if about else str(status)


def _content(response: httpx.Response) -> str | None:
    """`choices[0].message.content` of a reply."""
    try:
        reply: Json = response.json()
    except (ValueError, RecursionError):
        return None
    match reply:
        case {"choices": [{"message": {"content": str(content)}}, *_]}:
            return content
        case _:
            return None
