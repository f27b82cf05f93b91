"""The agent card, generated from an assistant's flows (server.md CARD)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.model import Flow, Json
from mock_server.project.load import Project

DEFAULT_NAME = "Rasa Agent"
DEFAULT_VERSION = "1.0.0"
MODEL_SUFFIX = ".tar.gz"
PROTOCOL_VERSION = "0.3.0"
TRANSPORT = "JSONRPC"
BEARER = "bearer"
SECURITY: dict[str, Json] = {
    "security": [{BEARER: []}],
    "securitySchemes": {BEARER: {"bearerFormat": "JWT", "scheme": "bearer", "type": "http"}},
}
MODES: list[Json] = ["text/plain", "application/json"]


@dataclass(frozen=True, slots=True)
class CardSettings:
    """What the card says beyond the flows; `model_file` and `model_id` as `mock.yml` gives them."""

    url: str
    description: str
    offers_repair: bool = True
    offers_push: bool = False
    requires_token: bool = False
    model_file: str | None = None
    model_id: str | None = None


def card_of(project: Project, url: str) -> dict[str, Json]:
    """The card that somebody wrote, with `url` in it (CARD-6), else that of the flows (CARD-1)."""
    if project.server.agent_card is not None:
        return {**project.server.agent_card, "url": url}
    return agent_card(project.assistant, _settings(project, url))


def placeholder(project: Project, url: str) -> dict[str, Json]:
    """The card as long as the project is not loaded (CARD-7)."""
    settings = replace(_settings(project, url), model_file=None, model_id=None)
    return agent_card(Assistant(), settings)


def _settings(project: Project, url: str) -> CardSettings:
    server = project.server
    return CardSettings(
        url=url,
        description=server.description,
        offers_repair=server.include_conversation_repair,
        offers_push=server.push_notifications_enabled,
        requires_token=server.auth is not None,
        model_file=project.model_file,
        model_id=project.model_id,
    )


def agent_card(assistant: Assistant, settings: CardSettings) -> dict[str, Json]:
    """The A2A 0.3 card, its keys in the order in which a2a-sdk 0.3.26 writes them."""
    security = SECURITY if settings.requires_token else {}
    return {
        "additionalInterfaces": [{"transport": TRANSPORT, "url": settings.url}],
        "capabilities": {"pushNotifications": settings.offers_push, "streaming": True},
        "defaultInputModes": MODES,
        "defaultOutputModes": MODES,
        "description": settings.description,
        "name": assistant.assistant_id or DEFAULT_NAME,
        "preferredTransport": TRANSPORT,
        "protocolVersion": PROTOCOL_VERSION,
        **security,
        "skills": [*_skills(assistant, settings.offers_repair)],
        "url": settings.url,
        "version": _version(settings),
    }


def _version(settings: CardSettings) -> str:
    if settings.model_file:
        return re.split(r"[/\\]", settings.model_file)[-1].removesuffix(MODEL_SUFFIX)
    return settings.model_id or DEFAULT_VERSION


def _skills(assistant: Assistant, offers_repair: bool) -> Iterator[Json]:
    flows = assistant.flows.values()
    yield from (_skill(flow, "flow") for flow in flows if not flow.is_pattern)
    if offers_repair:
        yield from (
            _skill(f, "conversation-repair") for f in flows if f.is_pattern and not f.is_agent
        )


def _skill(flow: Flow, tag: str) -> Json:
    name = flow.name if flow.name and flow.name != flow.id else _readable(flow.id)
    return {"description": flow.description or name, "id": flow.id, "name": name, "tags": [tag]}


def _readable(flow_id: str) -> str:
    return flow_id.replace("_", " ").replace("-", " ").strip()
