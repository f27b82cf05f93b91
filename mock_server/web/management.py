"""Rasa's own routes beside A2A: `GET /status` and `PUT /model` (server.md HTTP-2, HTTP-3).

Errors have the shape of Rasa's HTTP API. Its `token` is a query parameter.
"""

import asyncio
import hmac
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send
from structlog.stdlib import get_logger

from mock_server.dialogue.model import Json
from mock_server.errors import ProjectError
from mock_server.project.load import Model
from mock_server.tasks.json_text import encode_json, parse_json
from mock_server.web.body import BodyTooLarge, ClientGone, read_body

logger = get_logger("a2a_server")

NO_CONTENT = 204
BAD_REQUEST = 400
UNAUTHORIZED = 401
CONTENT_TOO_LARGE = 413


def status(model: Model | None) -> dict[str, Json]:
    """What `/status` shows; None as long as no model is loaded."""
    return {
        "model_file": model and model.file,
        "model_id": model and model.id,
        "num_active_training_jobs": 0,
    }


class BehindToken:
    """`app` for those who know `token`; for everybody if it is None."""

    def __init__(self, app: ASGIApp, token: str | None) -> None:
        self._app = app
        self._token = None if token is None else token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        given = next(iter(Request(scope).query_params.getlist("token")), "")
        app = self._app
        if self._token is not None and not hmac.compare_digest(given.encode(), self._token):
            app = _failure(UNAUTHORIZED, "NotAuthenticated", "User is not authenticated.")
        await app(scope, receive, send)


class PutModel:
    """`load` loads a model for `/status`; turns and the card stay with that of the start."""

    def __init__(self, load: Callable[[str], None], max_body_bytes: int) -> None:
        self._load = load
        self._max_body_bytes = max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            path = _model_file(await read_body(receive, self._max_body_bytes))
        except ClientGone:
            return
        except BodyTooLarge:
            answer = _failure(CONTENT_TOO_LARGE, "BadRequest", "The request is too large.")
        else:
            answer = await self._answer(path)
        await answer(scope, receive, send)

    async def _answer(self, path: str | None) -> Response:
        if path is None:
            text = "No path to model file defined in request_body."
            return _failure(BAD_REQUEST, "BadRequest", text)
        try:
            await asyncio.to_thread(self._load, path)
        except ProjectError as error:
            logger.warning("a2a_mock.model.not_loaded", problems=str(error))
            text = f"Agent with name '{path}' could not be loaded."
            found: list[Json] = [f"{p.location}: {p.code}" for p in error.problems]
            return _failure(BAD_REQUEST, "BadRequest", text, {"problems": found})
        return Response(status_code=NO_CONTENT)


def _model_file(body: bytes) -> str | None:
    try:
        request = parse_json(body)
    except ValueError:
        return None
    match request:
        case {"model_file": str() as path} if path.isprintable() and path:
            return path
        case _:
            return None


def _failure(
    code: int, reason: str, message: str, details: dict[str, Json] | None = None
) -> Response:
    error: Json = {
        "status": "failure",
        "message": message,
        "reason": reason,
        "details": details or {},
        "help": None,
        "code": code,
    }
    return Response(encode_json(error), code, media_type="application/json")
