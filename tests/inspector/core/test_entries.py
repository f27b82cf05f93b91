"""The log gives each entry its number and time."""

from functools import partial

from inspector.core.entries import Entry, Log, ResponseEnded


def test_entries_are_numbered_and_timed_from_the_logs_beginning() -> None:
    times = iter([100.0, 100.5, 102.0])
    log = Log(lambda: next(times))
    log.append(partial(ResponseEnded, exchange=1))
    log.append(partial(ResponseEnded, exchange=2))
    assert list(log.entries) == [ResponseEnded(1, 500, 1), ResponseEnded(2, 2000, 2)]


def test_subscribers_are_told_until_they_leave() -> None:
    log = Log(lambda: 0)
    told: list[Entry] = []
    leave = log.subscribe(told.append)
    entry = log.append(partial(ResponseEnded, exchange=1))
    leave()
    log.append(partial(ResponseEnded, exchange=2))
    assert told == [entry]


def test_a_subscriber_may_leave_while_it_is_told() -> None:
    log = Log(lambda: 0)
    told: list[Entry] = []
    leave = log.subscribe(lambda _: leave())
    log.subscribe(told.append)
    log.append(partial(ResponseEnded, exchange=1))
    assert len(told) == 1
