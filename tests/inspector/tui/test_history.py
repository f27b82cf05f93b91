"""The turns of before, one step at a time, and what was written back at the end."""

import pytest

from inspector.core.commands import Turn
from inspector.tui.composing.composer import History

FIRST, SECOND, DRAFT = Turn("first"), Turn("second"), Turn("half a sen")


@pytest.fixture
def history() -> History:
    history = History()
    history.keep_unsent(FIRST)
    history.keep_unsent(SECOND)
    return history


@pytest.mark.req("COMP-4")
def test_what_was_written_comes_back_after_the_newest(history: History) -> None:
    assert history.step((), -1, DRAFT) == SECOND
    assert history.step((), -1, SECOND) == FIRST
    assert history.step((), -1, FIRST) == FIRST
    assert history.step((), 1, FIRST) == SECOND
    assert history.is_recalling
    assert history.step((), 1, SECOND) == DRAFT
    assert not history.is_recalling


@pytest.mark.req("COMP-4")
def test_nothing_comes_after_what_is_written(history: History) -> None:
    assert history.step((), 1, DRAFT) is None
    assert History().step((), -1, DRAFT) is None
