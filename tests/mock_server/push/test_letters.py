"""Letters that a fault lets others overtake."""

from mock_server.push.letters import HeldLetters, Letter
from mock_server.push.registrations import Registration
from mock_server.tasks.push_config import PushConfig


def letter(body: bytes, task_id: str = "t", config_id: str = "c") -> Letter:
    return Letter(Registration(task_id, PushConfig("http://x/", config_id), "h"), body)


FIRST, SECOND, THIRD, ELSEWHERE = letter(b"1"), letter(b"2"), letter(b"3"), letter(b"4", "u")


def test_letter_that_nobody_holds_goes_out() -> None:
    assert HeldLetters().release(FIRST, is_held=False, is_last=False) == (FIRST,)


def test_held_letter_goes_out_after_the_tasks_next() -> None:
    held = HeldLetters()
    assert held.release(FIRST, is_held=True, is_last=False) == ()
    assert held.release(ELSEWHERE, is_held=False, is_last=False) == (ELSEWHERE,)
    other_callback = letter(b"2", config_id="d")
    assert held.release(other_callback, is_held=False, is_last=False) == (other_callback,)
    assert held.release(SECOND, is_held=False, is_last=False) == (SECOND, FIRST)
    assert held.release(THIRD, is_held=False, is_last=True) == (THIRD,)


def test_last_letter_waits_for_no_next() -> None:
    held = HeldLetters()
    held.release(FIRST, is_held=True, is_last=False)
    held.release(SECOND, is_held=True, is_last=False)
    assert held.release(THIRD, is_held=True, is_last=True) == (THIRD, FIRST, SECOND)


def test_held_letters_are_released_or_forgotten() -> None:
    held = HeldLetters()
    held.release(FIRST, is_held=True, is_last=False)
    held.release(ELSEWHERE, is_held=True, is_last=False)
    held.forget("t")
    assert held.release_all() == (ELSEWHERE,)
    assert held.release_all() == ()
