"""Which layer a box stands in: below all that lead to it, once ways back are turned around."""

from collections import defaultdict
from collections.abc import Sequence

from mock_server.diagrams.geometry import Tie


def turned_ties(count: int, ties: Sequence[Tie], plain: Sequence[int]) -> set[int]:
    """The ties that lead back to where a walk in depth came from."""
    outgoing: dict[int, list[int]] = defaultdict(list)
    for number in plain:
        outgoing[ties[number].source].append(number)
    turned: set[int] = set()
    is_done = [False] * count
    for root in range(count):
        if is_done[root]:
            continue
        path = [(root, iter(outgoing[root]))]
        on_path = {root}
        while path:
            box, rest = path[-1]
            number = next(rest, None)
            if number is None:
                path.pop()
                on_path.remove(box)
                is_done[box] = True
            elif ties[number].target in on_path:
                turned.add(number)
            elif not is_done[ties[number].target]:
                target = ties[number].target
                path.append((target, iter(outgoing[target])))
                on_path.add(target)
    return turned


def rank_boxes(
    count: int, ties: Sequence[Tie], plain: Sequence[int], turned: set[int]
) -> list[int]:
    """The layer of each box; a tie with a label leaves one layer free for it."""
    below: dict[int, list[tuple[int, int]]] = defaultdict(list)
    waiting = [0] * count
    for number in plain:
        tie = ties[number]
        top, bottom = (tie.target, tie.source) if number in turned else (tie.source, tie.target)
        below[top].append((bottom, 2 if tie.label else 1))
        waiting[bottom] += 1
    ranks = [0] * count
    ready = [box for box in range(count) if not waiting[box]]
    while ready:
        box = ready.pop()
        for other, length in below[box]:
            ranks[other] = max(ranks[other], ranks[box] + length)
            waiting[other] -= 1
            if not waiting[other]:
                ready.append(other)
    return ranks
