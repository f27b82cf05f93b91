"""The card of a project at the address of a server."""

from mock_server.dialogue.model import Json
from mock_server.project.load import Project
from mock_server.tasks.card import CardSettings, agent_card, placeholder_card


def card_of(project: Project, url: str) -> dict[str, Json]:
    """The card that somebody wrote, with `url` in it (CARD-6), else that of the flows (CARD-1)."""
    if project.server.agent_card is not None:
        return {**project.server.agent_card, "url": url}
    return agent_card(project.assistant, _settings(project, url))


def placeholder(project: Project, url: str) -> dict[str, Json]:
    """The card as long as the project is not loaded (CARD-7)."""
    return placeholder_card(_settings(project, url))


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
