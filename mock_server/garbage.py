"""Python's garbage collector, set for a server that keeps what it has."""

import gc

# Finished tasks are kept as bytes, so there is little garbage to look for.
COLLECT_AFTER_ALLOCATIONS = 50_000


def settle_garbage() -> None:
    """Leave alone what there is by now, and look for garbage more seldom."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER_ALLOCATIONS, 50, 100)
