"""The keys that a card's signatures are checked with, fetched so that the log has them."""

from pathlib import Path

from inspector.core.entries import FailureKind, Purpose
from inspector.core.exchanger import Exchanger
from inspector.core.requests import ACCEPT_JSON
from inspector.net.events import Broken, Chunk, Ended, Outgoing, Sending
from inspector.wire.json_values import Json, list_at
from inspector.wire.signatures import key_urls

MOST_KEY_URLS = 3


async def fetch_card_keys(
    exchanger: Exchanger, card: Json, source_url: str, jwks_file: Path | None
) -> None:
    """Log the keys of `card`: those of the user's file, else what its own origin publishes.

    Keys are public, so no credentials go with the request.
    """
    if not list_at(card, "signatures"):
        return
    if jwks_file is not None:
        read_file(exchanger, Purpose.KEYS, jwks_file)
        return
    for url in key_urls(card, source_url)[:MOST_KEY_URLS]:
        await exchanger.follow(Purpose.KEYS, Outgoing("GET", url, ACCEPT_JSON))


def read_file(exchanger: Exchanger, purpose: Purpose, path: Path) -> tuple[int, bytes | None]:
    """Read a file as an exchange, so that views and saved logs have its bytes; None without."""
    outgoing = Outgoing("READ", path.absolute().as_uri())
    number, recorder = exchanger.begin(purpose, outgoing)
    recorder.take(Sending(()))
    try:
        content = path.read_bytes()
    except OSError as error:
        recorder.take(Broken(FailureKind.CONNECT, f"{path}: {error.strerror}"))
        return number, None
    recorder.take(Chunk(content))
    if not recorder.is_done:
        recorder.take(Ended())
    return number, content
