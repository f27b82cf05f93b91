"""Who is registered for which task, and for how long."""

import pytest

from mock_server.errors import PushRefused
from mock_server.push.registrations import MAX_CONFIGS_PER_TASK, Registrations
from mock_server.tasks.push_config import PushConfig


def urls(registrations: Registrations, task_id: str) -> list[str]:
    return [registered.config.url for registered in registrations.of(task_id)]


@pytest.mark.req("PUSH-1")
def test_configuration_without_an_id_has_the_tasks() -> None:
    registrations = Registrations()
    added = registrations.add("t", PushConfig("http://a/"), "a")
    assert added.config.id == added.config_id == "t"
    assert registrations.of("t") == (added,)


@pytest.mark.req("PUSH-1")
def test_same_id_is_replaced_and_others_stay_in_order() -> None:
    registrations = Registrations()
    for url, config_id in (("http://a/", "1"), ("http://b/", "2"), ("http://c/", "1")):
        registrations.add("t", PushConfig(url, config_id), "h")
    assert urls(registrations, "t") == ["http://b/", "http://c/"]
    assert urls(registrations, "u") == []


def test_removed_configuration_is_gone() -> None:
    registrations = Registrations()
    registrations.add("t", PushConfig("http://a/", "1"), "h")
    registrations.add("t", PushConfig("http://b/", "2"), "h")
    for config_id, left in (("nope", 2), ("1", 1), ("1", 1), ("2", 0), ("2", 0)):
        registrations.remove("t", config_id)
        assert len(registrations.of("t")) == left


def test_forgotten_task_has_none() -> None:
    registrations = Registrations()
    registrations.add("t", PushConfig("http://a/"), "h")
    registrations.forget("t")
    registrations.forget("t")
    assert registrations.of("t") == ()


def test_task_has_room_for_so_many() -> None:
    registrations = Registrations()
    for number in range(MAX_CONFIGS_PER_TASK):
        registrations.add("t", PushConfig("http://a/", f"{number}"), "h")
    with pytest.raises(PushRefused):
        registrations.add("t", PushConfig("http://a/", "more"), "h")
    assert registrations.add("t", PushConfig("http://b/", "0"), "h")
    assert registrations.add("u", PushConfig("http://b/"), "h")


def test_task_longest_unheard_of_gives_way() -> None:
    registrations = Registrations(max_tasks=2)
    for task_id in ("a", "b"):
        registrations.add(task_id, PushConfig("http://a/"), "h")
    assert registrations.touch("a")
    assert registrations.touch("nope") == ()
    registrations.add("c", PushConfig("http://a/"), "h")
    assert [bool(registrations.of(task_id)) for task_id in "abc"] == [True, False, True]
