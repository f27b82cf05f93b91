"""The yardstick: a Starlette route that parses JSON and answers JSON of a task's size."""

from itertools import count

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from benchmarks.peers.listening import serve

numbers = count()


async def answer(request: Request) -> Response:
    body = await request.json()
    task_id = f"{next(numbers):036d}"
    message = {**body["params"]["message"], "taskId": task_id, "contextId": task_id}
    said = {"kind": "text", "text": "We are open from nine to five."}
    reply = {"kind": "message", "role": "agent", "parts": [said], "messageId": task_id}
    status = {
        "message": {**reply, "taskId": task_id, "contextId": task_id},
        "state": "completed",
        "timestamp": "2026-11-20T10:00:00.000000+00:00",
    }
    task = {"contextId": task_id, "history": [message], "id": task_id, "kind": "task"}
    return JSONResponse({"id": body["id"], "jsonrpc": "2.0", "result": {**task, "status": status}})


def make_app(_: str) -> ASGIApp:
    return Starlette(routes=[Route("/", answer, methods=["POST"])])


if __name__ == "__main__":
    serve(make_app)
