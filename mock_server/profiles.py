"""The dialects the mock serves: what differs between them, as data."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Profile:
    """`streams_begin_with_task`: a stream announces the submitted Task first (TURN-11).

    `keeps_to_push_specification`: push that is off is an error of its own for inline configurations
    too, and configurations are found by their ids (PUSH-1).
    """

    name: str
    streams_begin_with_task: bool
    keeps_to_push_specification: bool = False


RASA = Profile(name="rasa", streams_begin_with_task=False)

PROFILES = {profile.name: profile for profile in (RASA,)}
