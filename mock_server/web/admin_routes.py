"""A route of the admin API: how it reads and answers JSON, and how OpenAPI describes it."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.json_schema import JsonSchemaMode, JsonSchemaValue
from starlette.convertors import IntegerConvertor
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import compile_path

from mock_server.dialogue.model import Json
from mock_server.tasks.json_text import encode_json, parse_json
from mock_server.web.http_server import BodyTooLarge, read_body

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
    """The body of every answer that reports an error."""

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
        Refused: it is too long, or not JSON.
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
        raise Refused(BAD_REQUEST, f"not JSON: {error}") from None


def as_model(kind: type[ModelT], value: Json) -> ModelT:
    """`value` as a `kind`.

    Raises:
        Refused: it does not fit.
    """
    try:
        return kind.model_validate_json(encode_json(value))
    except ValidationError as error:
        raise _refusal(error) from None


def query_as(kind: type[ModelT], request: Request) -> ModelT:
    """The query's parameters as a `kind`.

    Raises:
        Refused: they do not fit.
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
    return Refused(UNPROCESSABLE, "not what was expected", problems)


PREFIX = "/__admin"
SCHEMAS = "#/components/schemas/{model}"
EVENT_STREAM = "text/event-stream"

Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class AdminRoute:
    """A route below the prefix; `answer` None is a stream or a document of its own.

    `query` and `body` are the models that it reads.
    """

    verb: str
    path: str
    endpoint: Endpoint
    summary: str
    answer: type | None = None
    query: type[BaseModel] | None = None
    body: type[BaseModel] | None = None
    status: int = 200
    media_type: str = "application/json"


def openapi(routes: Sequence[AdminRoute], version: str) -> dict[str, object]:
    """The OpenAPI 3.1 document."""
    schemas, components = _schemas(routes)
    paths: dict[str, dict[str, object]] = {}
    for route in routes:
        path = compile_path(route.path)[1]
        paths.setdefault(PREFIX + path, {})[route.verb.lower()] = _described(route, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "a2a-mock admin API", "version": version},
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"adminToken": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"adminToken": []}],
    }


def _schemas(
    routes: Sequence[AdminRoute],
) -> tuple[Mapping[type, JsonSchemaValue], JsonSchemaValue]:
    """The schema of each type by the type, and those that they refer to by name."""
    types: dict[type, JsonSchemaMode] = {Complaint: "serialization"}
    for route in routes:
        if route.answer:
            types[route.answer] = "serialization"
        if route.body:
            types[route.body] = "validation"
    inputs: list[tuple[type, JsonSchemaMode, TypeAdapter[type]]] = [
        (kind, mode, TypeAdapter(kind)) for kind, mode in types.items()
    ]
    made, definitions = TypeAdapter.json_schemas(inputs, ref_template=SCHEMAS)
    return {kind: made[kind, mode] for kind, mode in types.items()}, definitions["$defs"]


def _described(route: AdminRoute, schemas: Mapping[type, JsonSchemaValue]) -> dict[str, object]:
    described: dict[str, object] = {
        "operationId": f"{route.verb.lower()}{_identifier(route.path)}",
        "summary": route.summary,
        "parameters": [*_path_parameters(route.path), *_query_parameters(route.query)],
        "responses": {
            str(route.status): _success(route, schemas),
            "default": {
                "description": "Refused: why, and where",
                "content": {"application/json": {"schema": schemas[Complaint]}},
            },
        },
    }
    if route.body:
        content = {"application/json": {"schema": schemas[route.body]}}
        described["requestBody"] = {"required": True, "content": content}
    return described


def _success(route: AdminRoute, schemas: Mapping[type, JsonSchemaValue]) -> dict[str, object]:
    schema: JsonSchemaValue = {}
    if route.answer:
        schema = schemas[route.answer]
    elif route.media_type == EVENT_STREAM:
        schema = {"type": "string"}
    return {"description": "Done", "content": {route.media_type: {"schema": schema}}}


def _identifier(path: str) -> str:
    words = re.findall(r"\w+", compile_path(path)[1])
    return "".join(word.capitalize() for word in words)


def _path_parameters(path: str) -> list[dict[str, object]]:
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "integer" if isinstance(kind, IntegerConvertor) else "string"},
        }
        for name, kind in compile_path(path)[2].items()
    ]


def _query_parameters(query: type[BaseModel] | None) -> list[dict[str, object]]:
    if query is None:
        return []
    schema = TypeAdapter(query).json_schema(ref_template=SCHEMAS)
    return [
        {
            "name": name,
            "in": "query",
            "description": described.pop("description", ""),
            "schema": described,
        }
        for name, described in schema["properties"].items()
    ]
