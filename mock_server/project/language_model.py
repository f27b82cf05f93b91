"""`mock.yml: llm`: the language model beside the rules."""

from collections.abc import Mapping

from mock_server.dialogue.language_model import TIMEOUT_SECONDS, LanguageModel
from mock_server.project.findings import Findings
from mock_server.project.nodes import Node
from mock_server.project.reading import as_map, as_number, as_text
from mock_server.project.stubs import refuse_unknown_keys
from mock_server.project.variables import expand_map

KEYS = ("base_url", "model", "api_key", "timeout_seconds")
SCHEMES = ("http://", "https://")


def read_language_model(
    node: Node | None, environment: Mapping[str, str], found: Findings
) -> LanguageModel | None:
    """The model that mock.yml names; None is none. No message quotes the key."""
    written = as_map(node, found, "llm")
    if written is None:
        return None
    refuse_unknown_keys(written, KEYS, found, "llm")
    get = expand_map(written, environment, found).entries.get
    base_url = as_text(get("base_url"), found, "llm.base_url")
    model = as_text(get("model"), found, "llm.model")
    api_key = as_text(get("api_key"), found, "llm.api_key")
    seconds = as_number(get("timeout_seconds"), found, "llm.timeout_seconds")
    if base_url is None or model is None:
        text = "llm needs `base_url` and `model`"
        found.error(written.location, "mock.llm", text)
        return None
    if not base_url.startswith((*SCHEMES, "${")):
        text = f"llm.base_url: found {base_url!r}, expected an address with http:// or https://"
        found.error(written.place("base_url"), "mock.llm", text)
    if seconds is not None and not 0 < seconds < float("inf"):
        text = f"llm.timeout_seconds: found {seconds:g}, expected more than 0"
        found.error(written.place("timeout_seconds"), "mock.seconds", text)
        seconds = None
    return LanguageModel(base_url, model, api_key or "", seconds or TIMEOUT_SECONDS)
