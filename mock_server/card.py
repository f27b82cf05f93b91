"""The agent card, generated from an assistant's flows (server.md CARD)."""

import re
from collections.abc import Iterator

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.model import Flow, Json
from mock_server.project.endpoints import A2AServer
from mock_server.project.load import Project
from mock_server.project.mock_file import ModelEntry

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


def card_of(project: Project, url: str) -> dict[str, Json]:
    """The hand-written card with `url` in it (CARD-6), else that of the flows (CARD-1)."""
    if project.server.agent_card is not None:
        return {**project.server.agent_card, "url": url}
    return agent_card(project.assistant, project.server, url, project.mock.settings.model)


def placeholder(project: Project, url: str) -> dict[str, Json]:
    """The card as long as the project is not loaded (CARD-7)."""
    return agent_card(Assistant(), project.server, url)


def agent_card(
    assistant: Assistant, server: A2AServer, url: str, model: ModelEntry | None = None
) -> dict[str, Json]:
    """The A2A 0.3 card, its keys in the order in which a2a-sdk 0.3.26 writes them."""
    offers_push = server.settings.push_notifications_enabled
    security = SECURITY if server.auth else {}
    return {
        "additionalInterfaces": [{"transport": TRANSPORT, "url": url}],
        "capabilities": {"pushNotifications": offers_push, "streaming": True},
        "defaultInputModes": MODES,
        "defaultOutputModes": MODES,
        "description": server.description,
        "name": assistant.assistant_id or DEFAULT_NAME,
        "preferredTransport": TRANSPORT,
        "protocolVersion": PROTOCOL_VERSION,
        **security,
        "skills": [*_skills(assistant, server.settings.include_conversation_repair)],
        "url": url,
        "version": _version(model or ModelEntry()),
    }


def _version(model: ModelEntry) -> str:
    if model.file:
        return re.split(r"[/\\]", model.file)[-1].removesuffix(MODEL_SUFFIX)
    return model.id or DEFAULT_VERSION


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
