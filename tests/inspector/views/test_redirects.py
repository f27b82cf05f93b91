"""A turn that was redirected is one turn, wherever it is shown; the wire has both exchanges."""

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from inspector.core.entries import Entry, RequestSent, ResponseStarted
from inspector.core.saved.recording import decode_entry, encode_entry
from inspector.views import log_views
from inspector.views.outcomes import turns_of
from inspector.views.problems import problem_of
from inspector.wire.json_values import parse_json

if TYPE_CHECKING:
    from conftest import Script


def redirected(script: "Script") -> list[Entry]:
    """A turn that is answered with a page and 307 twice, then with a task; then another turn."""
    for _ in range(2):
        script.send("hi", contextId="c").respond(307, "text/html").frame(b"<html>").end()
    script.send("hi", contextId="c").reply(script.task("completed", "hello"))
    script.send("bye", contextId="c").reply(script.task("completed", "bye", id="other"))
    entries: list[Entry] = []
    for one in script.entries:
        if isinstance(one, RequestSent) and one.exchange in (2, 3):
            entries.append(replace(one, redirected_from=one.exchange - 1))
        elif isinstance(one, ResponseStarted):
            entries.append(replace(one, is_redirect=one.status == 307))
        else:
            entries.append(one)
    return entries


@pytest.mark.req("WIRE-1", "TIME-1")
def test_redirected_turn_is_shown_once(script: "Script") -> None:
    views = log_views.fold(redirected(script))
    assert [(one.speaker, one.exchange) for one in views.chat.said] == [
        ("you", 3),
        ("agent", 3),
        ("you", 4),
        ("agent", 4),
    ]
    assert not [one for one in views.chat.said if one.problem]
    assert [row.exchange for row in views.timeline.rows] == [3, 4]
    assert [update.kind for row in views.timeline.rows for update in row.updates] == ["task"] * 2
    assert all(row.elapsed_ms is not None for row in views.timeline.rows)
    assert [turn.exchange for turn in views.data.turns] == [3, 4]
    assert not views.chat.running
    assert not views.timeline.row_of_call
    assert not views.exchanges.running


@pytest.mark.req("WIRE-1")
def test_wire_has_each_exchange_and_where_it_came_from(script: "Script") -> None:
    exchanges = log_views.fold(redirected(script)).exchanges
    assert [one.redirected_from for one in exchanges] == [None, 1, 2, None]
    assert [one.is_redirect for one in exchanges] == [True, True, False, False]
    assert [problem_of(one) for one in exchanges] == [None] * 4
    assert [list(one.findings) for one in exchanges[:2]] == [[], []]


@pytest.mark.req("SESS-2")
def test_redirected_turn_is_compared_as_one(script: "Script") -> None:
    turns = turns_of(redirected(script))
    assert [(one.exchange, one.title, one.problem) for one in turns] == [
        (3, "hi", ""),
        (4, "bye", ""),
    ]
    assert all(one.has_result for one in turns)


@pytest.mark.req("SESS-1")
def test_saved_session_keeps_it(script: "Script") -> None:
    entries = redirected(script)
    lines = [encode_entry(one) for one in entries]
    again = [decode_entry(parse_json(line.encode()).value, 1) for line in lines]
    assert log_views.fold(again).chat == log_views.fold(entries).chat


def test_while_it_is_on_its_way_nothing_has_failed(script: "Script") -> None:
    entries = redirected(script)
    for length in range(len(entries)):
        views = log_views.fold(entries[:length])
        assert not [one for one in views.chat.said if one.problem]
        assert len([one for one in views.chat.said if one.speaker == "you"]) <= 2


def test_redirect_whose_beginning_is_not_in_the_log_is_a_turn(script: "Script") -> None:
    entries = [one for one in redirected(script) if one.exchange >= 3]
    views = log_views.fold(entries)
    assert [one.text for one in views.chat.said if one.speaker == "you"] == ["hi", "bye"]
    assert len(views.timeline.rows) == 2
    assert len(turns_of(entries)) == 2
