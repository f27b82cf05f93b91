"""How fast the programs start, beside bare Python and an empty Textual app.

The peers alternate in every round; what counts is the median of the rounds' differences and ratios.
The first frame is measured in processor time from the first import on, in a process of its own.

    python -m benchmarks.start [--rounds N]
"""

import argparse
import subprocess
import sys
import time
from statistics import median

EMPTY_APP = "from textual.app import App\napp = App()\n"
OUR_APP = """
from inspector.tui.app import InspectorApp
InspectorApp.connect = lambda self, target: self.exit()
app = InspectorApp({target!r})
"""
FIRST_FRAME = """
import time
began = time.process_time()
{app}
app.call_later(lambda: app.screen.call_after_refresh(app.exit))
app.run(headless=True, size=(160, 48))
print(time.process_time() - began)
"""
HELP = (("a2a-inspect", "inspector"), ("a2a-mock", "mock_server"))
TARGETS = (("no target", None), ("a target", "localhost:1"))


def seconds_of(*arguments: str) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    return time.perf_counter() - began


def first_frame_seconds(app: str) -> float:
    program = FIRST_FRAME.format(app=app)
    run = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    return float(run.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure how fast the programs start.")
    parser.add_argument("--rounds", type=int, default=7)
    rounds = range(parser.parse_args().rounds)
    for program, module in HELP:
        above = [seconds_of("-m", module, "--help") - seconds_of("-c", "pass") for _ in rounds]
        print(f"{program} --help: {median(above) * 1000:.0f} ms above bare Python")
    for name, target in TARGETS:
        app = OUR_APP.format(target=target)
        ratios = [first_frame_seconds(app) / first_frame_seconds(EMPTY_APP) for _ in rounds]
        print(f"first frame with {name}: {median(ratios):.2f} of an empty Textual app")


if __name__ == "__main__":
    main()
