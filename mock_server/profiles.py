"""The dialects the mock serves: what differs between them, as data."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Profile:
    """`streams_begin_with_task`: a stream announces the submitted Task first (TURN-11).

    `keeps_to_push_specification`: push that is off is an error of its own for inline configurations
    too, and configurations are found by their ids (PUSH-1).
    `is_strict_on_the_wire`: `jsonrpc` is required, an id that is missing or cannot be read is null,
    and a message without parts or a negative `historyLength` is refused.
    `continues_tasks`: a message that names a task continues it instead of starting one (TURN-2).
    `names_missing_extended_card`: that there is no extended card has an error of its own.
    """

    name: str
    streams_begin_with_task: bool = False
    keeps_to_push_specification: bool = False
    is_strict_on_the_wire: bool = False
    continues_tasks: bool = False
    names_missing_extended_card: bool = False


# What a2a-sdk 0.3.26 sends, with Rasa's own additions.
RASA = Profile(name="rasa")
# Follows the A2A specification to the letter (HTTP-5a).
A2A = Profile(
    name="a2a",
    streams_begin_with_task=True,
    keeps_to_push_specification=True,
    is_strict_on_the_wire=True,
    continues_tasks=True,
    names_missing_extended_card=True,
)

PROFILES = {profile.name: profile for profile in (RASA, A2A)}
