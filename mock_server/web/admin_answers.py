"""How the admin API reads and answers: JSON both ways, and what is wrong said in words."""

from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import Response

from mock_server.dialogue.model import Json
from mock_server.tasks.json_text import encode_json, parse_json
from mock_server.web.body import BodyTooLarge, read_body

MAX_BODY_BYTES = 1024 * 1024

OK = 200
BAD_REQUEST = 400
NOT_FOUND = 404
CONTENT_TOO_LARGE = 413
UNPROCESSABLE = 422

ModelT = TypeVar("ModelT", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Problem:
    """`path` is where in what was sent, its steps joined by dots."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Complaint:
    """The body of every answer that is no success."""

    error: str
    problems: tuple[Problem, ...] = ()


class Refused(Exception):
    """A request that is answered with `complaint`."""

    def __init__(self, status: int, error: str, problems: tuple[Problem, ...] = ()) -> None:
        self.status = status
        self.complaint = Complaint(error, problems)
        super().__init__(error)


def answer(value: object, status: int = OK) -> Response:
    # The newline is for those who read it in a terminal.
    return Response(encode_json(value) + b"\n", status, media_type="application/json")


async def read_json(request: Request) -> Json:
    """The body; an empty one is an empty object.

    Raises:
        Refused: it is too long, or no JSON.
    """
    try:
        body = await read_body(request.receive, MAX_BODY_BYTES)
    except BodyTooLarge:
        raise Refused(CONTENT_TOO_LARGE, f"expected at most {MAX_BODY_BYTES} bytes") from None
    if not body.strip():
        return {}
    try:
        return parse_json(body)
    except ValueError as error:
        raise Refused(BAD_REQUEST, f"this is no JSON: {error}") from None


def as_model(kind: type[ModelT], value: Json) -> ModelT:
    """`value` as a `kind`.

    Raises:
        Refused: it is none.
    """
    try:
        return kind.model_validate_json(encode_json(value))
    except ValidationError as error:
        raise _refusal(error) from None


def query_as(kind: type[ModelT], request: Request) -> ModelT:
    """The query's parameters as a `kind`.

    Raises:
        Refused: they are none.
    """
    try:
        return kind.model_validate_strings(dict(request.query_params))
    except ValidationError as error:
        raise _refusal(error) from None


def _refusal(error: ValidationError) -> Refused:
    problems = tuple(
        Problem(".".join(map(str, problem["loc"])), problem["msg"])
        for problem in error.errors(include_url=False, include_context=False, include_input=False)
    )
    return Refused(UNPROCESSABLE, "this is not what was expected", problems)
