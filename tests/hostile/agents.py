"""Agents that mean ill or know no better: each answers the card or the turn in its own way."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeAlias

# Sent by the agent under test, and never to be seen in what it makes of the answers.
SECRET = "s3cret-T0ken/4242"
MIB = 1024 * 1024
CONTROLS = "\x1b[31mred\x1b[2J\x1b]52;c;cHduZWQ=\x07\x9b5n\r\x08\x00"
BIDI = "\u202eevil\u202c \u2066isolated\u2069 pa\u200bss\u2060wo\ufeffrd"
MARKUP = "[bold red]red[/bold red] [@click=app.quit]quit[/] [/] [link=file:///etc/passwd]x[/link]"
SURROGATE = "\ud800 alone \udfff"


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as the agent got it; `origin` is where the agent itself listens."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    origin: str

    @property
    def id(self) -> Any:
        try:
            return json.loads(self.body)["id"]
        except (ValueError, KeyError, TypeError):
            return None

    @property
    def is_stream(self) -> bool:
        return b"message/stream" in self.body or b"tasks/resubscribe" in self.body


Wire: TypeAlias = "bytes | Iterator[bytes] | AsyncIterator[bytes]"
Answer: TypeAlias = Callable[[Asked], Wire]


def http(
    body: bytes, *heads: str, status: str = "200 OK", media: str = "application/json"
) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {media}", f"Content-Length: {len(body)}"]
    head = "\r\n".join([*lines, *heads, "Connection: close", "", ""])
    return head.encode("utf-8", "surrogateescape") + body


def as_json(value: Any, **more: Any) -> bytes:
    return http(json.dumps(value).encode(), **more)


def open_head(media: str = "text/event-stream") -> bytes:
    return f"HTTP/1.1 200 OK\r\nContent-Type: {media}\r\nConnection: close\r\n\r\n".encode()


def card(asked: Asked, **fields: Any) -> dict[str, Any]:
    return {
        "name": "Hostile",
        "version": "1",
        "description": "means ill",
        "url": f"{asked.origin}/",
        "protocolVersion": "0.3.0",
        "preferredTransport": "JSONRPC",
        "capabilities": {"streaming": True, "pushNotifications": True},
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "s", "name": "S", "description": "d", "tags": []}],
        **fields,
    }


def task(state: Any = "completed", text: Any = "done", **fields: Any) -> dict[str, Any]:
    return {
        "kind": "task",
        "id": "t",
        "contextId": "c",
        "status": {"state": state, "message": message(text)},
        **fields,
    }


def message(text: Any, *parts: Any) -> dict[str, Any]:
    told = parts or ({"kind": "text", "text": text},)
    return {"kind": "message", "role": "agent", "messageId": "m", "parts": list(told)}


def update(state: Any, text: Any = "…", *, final: bool = False, **fields: Any) -> dict[str, Any]:
    status = {"state": state, "message": message(text)}
    base = {"kind": "status-update", "taskId": "t", "contextId": "c"}
    return {**base, "final": final, "status": status, **fields}


def event(asked: Asked, result: Any) -> bytes:
    envelope = {"jsonrpc": "2.0", "id": asked.id, "result": result}
    return b"data: " + json.dumps(envelope).encode() + b"\n\n"


def good_card(asked: Asked) -> bytes:
    return as_json(card(asked))


def result(value: Any) -> Answer:
    """Answers with a result; a stream is that one event."""

    def answer(asked: Asked) -> bytes:
        if asked.is_stream:
            return open_head() + event(asked, value)
        return as_json({"jsonrpc": "2.0", "id": asked.id, "result": value})

    return answer


def stream(*results: Any) -> Answer:
    return lambda asked: open_head() + b"".join(event(asked, one) for one in results)


def says(text: str) -> Answer:
    return result(task("input-required", text))


def raw(wire: bytes) -> Answer:
    return lambda _: wire


def body(content: bytes, media: str = "application/json") -> Answer:
    return raw(http(content, media=media))


def with_card(**fields: Any) -> Answer:
    return lambda asked: as_json(card(asked, **fields))


def endless(head: bytes, piece: bytes) -> Answer:
    def pour(_: Asked) -> Iterator[bytes]:
        yield head
        while True:
            yield piece

    return pour


def slow(head: bytes, piece: bytes, seconds: float) -> Answer:
    async def drip(_: Asked) -> AsyncIterator[bytes]:
        yield head
        while True:
            yield piece
            await asyncio.sleep(seconds)

    return drip


def echo_secret(asked: Asked) -> bytes:
    """Tells what it was sent, in every place where a client may show it, escaped as well."""
    sent = asked.headers.get("authorization", "")
    spelled = "".join(f"\\u{ord(one):04x}" for one in sent)
    told = json.dumps(task("failed", f"{sent} X", metadata={"authorization": [sent]}))
    told = told.replace('"contextId": "c"', f'"contextId": "{spelled}"')
    reply = f'{{"jsonrpc":"2.0","id":{json.dumps(asked.id)},"result":{told}}}'.encode()
    return http(reply, f"X-Got: {sent}", f"Set-Cookie: got={sent}")


def refuse_with_secret(asked: Asked) -> bytes:
    sent = asked.headers.get("authorization", "")
    error = {"code": -32000, "message": f"bad token {sent}{CONTROLS}", "data": {"sent": sent}}
    return as_json({"jsonrpc": "2.0", "id": asked.id, "error": error})


def backwards(asked: Asked) -> Wire:
    states = [
        "completed",
        "working",
        "submitted",
        "failed",
        "canceled",
        "input-required",
        "on-fire",
    ]
    return stream(*(update(state, final=state == "completed") for state in states))(asked)


def ever_new_ids(asked: Asked) -> Iterator[bytes]:
    yield open_head()
    for number in range(2_000):
        yield event(asked, update("working", taskId=f"t{number}", contextId=f"c{number}"))


def storm(asked: Asked) -> Iterator[bytes]:
    yield open_head()
    for number in range(20_000):
        yield event(asked, update("working", f"step {number}"))
    yield event(asked, update("completed", final=True))


def never_final(asked: Asked) -> bytes:
    return open_head() + event(asked, update("working")) * 3


def artifact(parts: list[Any], **fields: Any) -> dict[str, Any]:
    return {"artifactId": "a", "name": "a", "parts": parts, **fields}


def chunks(asked: Asked) -> Iterator[bytes]:
    yield open_head()
    for number in count():
        part = {"kind": "text", "text": "x" * 500}
        chunk = artifact([part], artifactId=f"a{number % 7}")
        base = {"kind": "artifact-update", "taskId": "t", "contextId": "c", "append": number > 6}
        yield event(asked, {**base, "artifact": chunk})


def redirect(status: str, where: str) -> Answer:
    return lambda asked: http(b"", f"Location: {where.format(origin=asked.origin)}", status=status)


DEEP = b'{"a":' * 20_000 + b"1" + b"}" * 20_000
HTML = b"<html><script>alert(1)</script><body>\x1b[2JWelcome</body></html>"
MANY = 20_000
TEXT_PART = {"kind": "text", "text": "p"}

# What answers GET, where the card is; turns are answered well.
CARDS: dict[str, Answer] = {
    "card of HTML": body(HTML, "text/html"),
    "card of nothing": body(b""),
    "card null": body(b"null"),
    "card a list": body(b"[1, [2, {}]]"),
    "card 20,000 deep": body(DEEP),
    "card not UTF-8": body(b'{"name": "\xff\xfe"}'),
    "card with twins": body(b'{"name": 1, "name": "a", "url": "", "url": 5, "skills": {}}'),
    "card of wrong types": with_card(
        name=[1], version={}, skills="all", capabilities=7, url=None, defaultInputModes=[[]]
    ),
    "card of controls": with_card(
        name=CONTROLS,
        description=CONTROLS + BIDI + MARKUP,
        skills=[{"id": CONTROLS, "name": MARKUP, "description": BIDI, "tags": [CONTROLS]}] * 3,
        provider={"organization": CONTROLS, "url": f"javascript:{CONTROLS}"},
    ),
    "card with lone surrogates": with_card(name=SURROGATE, description=SURROGATE),
    "card of 20,000 skills": with_card(
        skills=[
            {"id": f"s{n}", "name": "n", "description": "d", "tags": ["t"]} for n in range(MANY)
        ]
    ),
    "card of huge numbers": lambda asked: http(
        json.dumps(card(asked, version="V")).replace('"V"', "1e999").encode()[:-1]
        + b', "x": '
        + b"9" * 6_000
        + b"}"
    ),
    "card that leads to a file": with_card(url="file:///etc/passwd"),
    "card that leads to a script": with_card(url="javascript:alert(1)"),
    "card that leads elsewhere": with_card(url="http://127.0.0.1:9/"),
    "card that leads to a broken URL": with_card(url="http://[::1:70000\x1b[2J/"),
    "card of 60 MiB": lambda asked: http(b'{"name": "' + b"x" * (60 * MIB) + b'"}'),
    "card without end": endless(open_head("application/json"), b" " * 65_536),
    "card a byte at a time": slow(open_head("application/json"), b" ", 0.05),
    "card never": slow(b"", b"", 0.2),
    "card gzip bomb": lambda asked: http(
        gzip.compress(b" " * (200 * MIB), 9), "Content-Encoding: gzip"
    ),
    "card redirects in a circle": redirect(
        "302 Found", "{origin}/.well-known/agent-card.json?again"
    ),
    "card redirects abroad": redirect("302 Found", "http://127.0.0.1:9/card"),
    "card 500": raw(http(HTML, status=f"500 {CONTROLS[:9]}", media="text/html")),
    "card 401": raw(http(b"{}", f'WWW-Authenticate: Bearer realm="{BIDI}"', status="401 No")),
    "card behind 10,000 headers": raw(http(b"{}", *(f"X-{n}: {n}" for n in range(10_000)))),
    "card behind a header of 5 MiB": raw(http(b"{}", f"X-Long: {'x' * (5 * MIB)}")),
    "no HTTP": raw(b"\x16\x03\x01SSH-2.0-OpenSSH\x1b[2J\r\n\r\n"),
    "status that is none": raw(b"HTTP/1.1 999999 \x1b[31m\r\nContent-Length: 0\r\n\r\n"),
    "shorter than promised": raw(http(b"{}").replace(b"Length: 2", b"Length: 2000")),
    "chunks of garbage": raw(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZZ\r\n{}\r\n-1\r\n"
    ),
    "closes at once": raw(b""),
    "switches protocols": raw(b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n\x00\x01"),
}

# What answers POST; the card is a good one.
TURNS: dict[str, Answer] = {
    "turn: nothing": body(b""),
    "turn: HTML": body(HTML, "text/html"),
    "turn: deep": body(DEEP),
    "turn: 204": raw(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"),
    "turn: another id": lambda _: as_json({"jsonrpc": "2.0", "id": [CONTROLS], "result": task()}),
    "turn: result and error": lambda asked: as_json(
        {"jsonrpc": "1.0", "id": asked.id, "result": task(), "error": {"code": "x", "message": []}}
    ),
    "turn: error of controls": lambda asked: as_json(
        {
            "jsonrpc": "2.0",
            "id": asked.id,
            "error": {"code": -32603, "message": f"Traceback\n{CONTROLS}", "data": [CONTROLS]},
        }
    ),
    "turn: wrong types": result(
        {"kind": "task", "id": 5, "contextId": {}, "status": [], "history": 1}
    ),
    "turn: kinds of its own": result({"kind": CONTROLS, "id": "t", "contextId": "c"}),
    "turn: state of controls": result(task(CONTROLS, CONTROLS)),
    "turn: text of controls": says(CONTROLS * 20),
    "turn: both directions": says(BIDI * 20),
    "turn: markup": says(MARKUP * 20),
    "turn: lone surrogates": says(SURROGATE),
    "turn: one long line": says("x" * (2 * MIB)),
    "turn: 200,000 lines": says("a\n" * 200_000),
    "turn: Markdown all the way down": says(
        ">" * 5_000 + "* " * 5_000 + "[" * 5_000 + "|-" * 5_000
    ),
    "turn: ids of controls": result(task(id=f"t\n{CONTROLS}", contextId=f"c\r\nX: {CONTROLS}")),
    "turn: times of its own": result(
        task(status={"state": "completed", "timestamp": "99999-99-99T99:99:99Z"})
    ),
    "turn: huge numbers": lambda asked: http(
        json.dumps({"jsonrpc": "2.0", "id": asked.id, "result": task(metadata={"n": "N"})})
        .replace('"N"', "[1e999, NaN, -Infinity, " + "9" * 6_000 + "]")
        .encode()
    ),
    "turn: 20,000 artifacts": result(
        task(artifacts=[artifact([TEXT_PART], artifactId=f"a{n}") for n in range(MANY)])
    ),
    "turn: 20,000 parts": result(
        task(status={"state": "completed", "message": message("", *[TEXT_PART] * MANY)})
    ),
    "turn: 20,000 of history": result(task(history=[message(f"h{n}") for n in range(MANY)])),
    "turn: 20,000 slots": result(
        task(
            status={
                "state": "input-required",
                "message": message(
                    "",
                    {
                        "kind": "data",
                        "data": {
                            "state": "input_required",
                            "active_flow": CONTROLS,
                            "slots": {f"s{n}": CONTROLS for n in range(MANY)},
                        },
                    },
                ),
            }
        )
    ),
    "turn: files that climb": result(
        task(
            artifacts=[
                artifact(
                    [
                        {"kind": "file", "file": {"name": "../../../etc/x", "bytes": "!!!"}},
                        {"kind": "file", "file": {"name": CONTROLS, "uri": "file:///etc/passwd"}},
                        {"kind": "file", "file": {"bytes": 5, "uri": []}},
                    ]
                )
            ]
        )
    ),
    "turn: tells the secret": echo_secret,
    "turn: refuses with the secret": refuse_with_secret,
    "turn: redirects to itself": redirect("307 Temporary Redirect", "{origin}/"),
    "turn: redirects abroad": redirect("307 Temporary Redirect", "http://127.0.0.1:9/"),
    "turn: 503 forever": raw(http(HTML, "Retry-After: 1e999", status="503 No", media="text/html")),
    "turn: never": slow(b"", b"", 0.2),
    "turn: a byte at a time": slow(open_head("application/json"), b" ", 0.05),
    "turn: body without end": endless(open_head("application/json"), b"[" * 65_536),
    "stream: line without end": endless(open_head(), b"data: " + b"x" * 65_536),
    "stream: keep-alives only": slow(open_head(), b": ping\n\n", 0.05),
    "stream: never final": never_final,
    "stream: states backwards": backwards,
    "stream: ever new ids": ever_new_ids,
    "stream: 20,000 updates": storm,
    "stream: chunks without end": chunks,
    "stream: fields of its own": raw(
        open_head()
        + b"\xff\xfe: x\nid: \x1b[2J\x00\nretry: 1e999\nevent: \x9b5n\ndata\rdata: [\r\n\r\n"
    ),
    "stream: an event of 20 MiB": lambda asked: (
        open_head() + event(asked, task("completed", "x" * (20 * MIB)))
    ),
    "stream: breaks in an event": lambda asked: open_head() + event(asked, task())[:60],
    "stream: for what was none": stream(update("working"), task()),
    "stream: JSON instead": lambda asked: as_json(
        {"jsonrpc": "2.0", "id": asked.id, "result": task()}
    ),
}

# What is posted to a receiver of notifications; `{token}` is the token that it expects.
NOTIFICATIONS: dict[str, bytes] = {
    "nothing": b"",
    "no JSON": HTML,
    "deep": DEEP,
    "controls": json.dumps(task(CONTROLS, CONTROLS + BIDI)).encode(),
    "lone surrogates": json.dumps(task("completed", SURROGATE)).encode(),
    "huge numbers": json.dumps(task(metadata={"n": "N"})).replace('"N"', "1e999").encode(),
    "ids of controls": json.dumps(task(id=CONTROLS, contextId=[])).encode(),
    "9 MiB": json.dumps(task("completed", "x" * (9 * MIB))).encode(),
    "20,000 artifacts": json.dumps(
        task(artifacts=[artifact([TEXT_PART], artifactId=f"a{n}") for n in range(MANY)])
    ).encode(),
    "the token": json.dumps(task("failed", SECRET, metadata={"token": SECRET})).encode(),
}
