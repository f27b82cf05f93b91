"""Custom actions performed by an action server over HTTP (flows.md §8)."""

import json
import ssl
from http import HTTPStatus

import httpx

from mock_server.actions.webhook import (
    ActionCall,
    Domain,
    describe_domain,
    encode_call,
    failed,
    read_reply,
)
from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.model import Json
from mock_server.dialogue.outcome import ActionResult

DOMAIN_IS_MISSING = 449
JSON_BODY = {"Content-Type": "application/json"}
LONGEST_REASON = 200


class ActionClient:
    """The action server at `url`, its `/webhook`; use as long as `http` is open."""

    def __init__(self, http: httpx.AsyncClient, url: str) -> None:
        self._http = http
        self._url = url
        self._described: tuple[Assistant, Domain] | None = None
        self._known_digest = ""

    async def perform(self, call: ActionCall) -> ActionResult:
        """Run the action there; whatever goes wrong is a failure of the action."""
        domain = self._domain(call.assistant)
        with_domain = domain.digest != self._known_digest
        try:
            response = await self._post(call, domain, with_domain=with_domain)
            if response.status_code == DOMAIN_IS_MISSING and not with_domain:
                response = await self._post(call, domain, with_domain=True)
        except httpx.HTTPError as error:
            reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            return failed(call.name, f"{self._url} cannot be had: {reason}")
        if response.status_code != HTTPStatus.OK:
            return failed(call.name, _reason(response))
        self._known_digest = domain.digest
        outcome = read_reply(call.name, call.assistant, _json(response))
        return outcome or failed(call.name, f"{self._url} sent no object with events and responses")

    def _domain(self, assistant: Assistant) -> Domain:
        if self._described is None or self._described[0] is not assistant:
            self._described = (assistant, describe_domain(assistant))
        return self._described[1]

    async def _post(self, call: ActionCall, domain: Domain, *, with_domain: bool) -> httpx.Response:
        body = encode_call(call, domain, with_domain=with_domain)
        # Escaped: what a user sends may hold half of a surrogate pair, which UTF-8 has not.
        return await self._http.post(self._url, content=json.dumps(body), headers=JSON_BODY)


def open_http(timeout_seconds: float, cafile: str | None = None) -> httpx.AsyncClient:
    """A client that trusts `cafile` alone, where one is given."""
    verify = ssl.create_default_context(cafile=cafile) if cafile else True
    return httpx.AsyncClient(timeout=timeout_seconds, verify=verify, trust_env=False)


def _reason(response: httpx.Response) -> str:
    """The status, and the `error` that the SDK's replies have."""
    body = _json(response)
    error = body.get("error") if isinstance(body, dict) else None
    said = f": {error[:LONGEST_REASON]}" if isinstance(error, str) and error else ""
    return f"the action server replied {response.status_code}{said}"


def _json(response: httpx.Response) -> Json:
    try:
        return response.json()
    except (ValueError, RecursionError):
        return None
