"""The code of a child process: `python -m rasa_sdk`, which ends when its starter has ended.

The child's interpreter is the project's own and does not have this package. Standard input is a
pipe from the starter: it closes even when that one is killed.
"""

import os
import runpy
import signal
import sys
import threading
import time

GRACE_SECONDS = 5.0
STDIN = 0


def hold() -> None:
    """Wait for the end of standard input, then end the process and all that it has started."""
    while os.read(STDIN, 1024):
        pass
    os.killpg(0, signal.SIGTERM)
    time.sleep(GRACE_SECONDS)
    os.killpg(0, signal.SIGKILL)


def main() -> None:
    threading.Thread(target=hold, daemon=True).start()
    sys.argv[0] = "rasa_sdk"
    runpy.run_module("rasa_sdk", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
