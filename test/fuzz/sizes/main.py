"""The command behind `./x fuzz sizes`: random programs of indices and ops, traced for open sizes, against NumPy and eager calls."""

import argparse
import collections
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

BATCH = 50  # programs of one process, if it lives so long
TOP = Path(__file__).resolve().parents[3]


class Fuzzer:
    """Runs batches of programs in processes that may die, and counts what they say."""

    def __init__(self, seconds: float):
        self.seconds = seconds
        self.lock = threading.Lock()
        self.counts: collections.Counter[str] = collections.Counter()
        self.failures: list[str] = []

    def batch(self, first: int, count: int) -> None:
        end = first + count
        while first < end:
            first = self._process(first, end - first)

    def _process(self, first: int, count: int) -> int:
        """Checks programs until the process ends; the seed to go on with."""
        command = [sys.executable, str(Path(__file__).parent / "check.py"), str(first), str(count)]
        path = os.environ.get("PYTHONPATH", str(TOP / "build/release/python"))
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=self.seconds * count, check=False, env={**os.environ, "PYTHONPATH": path})
            lines, ended = run.stdout.splitlines(), f"the process ended with status {run.returncode}:\n{run.stderr[-2000:]}"
        except subprocess.TimeoutExpired as late:
            lines = (late.stdout or b"").decode().splitlines()
            ended = "the process did not end"
        open_seed, said = None, collections.defaultdict(list)
        last = first
        with self.lock:
            outcomes = {}
            for line in lines:
                word, *rest = line.split(" ", 2)
                if word == "begin":
                    open_seed = last = int(rest[0])
                elif word == "end":
                    outcomes[int(rest[0])] = rest[1]
                    open_seed = None
                elif word == "|":
                    said[last].append(line[2:])
            for seed, outcome in outcomes.items():
                self.counts[outcome] += 1
                if outcome == "failed":
                    self.failures.append(f"seed {seed}: " + "\n".join(said[seed]))
            if open_seed is not None:
                self.counts["failed"] += 1
                self.failures.append(f"seed {open_seed}: {ended}")
                return open_seed + 1
            if len(outcomes) < count:
                self.counts["failed"] += count - len(outcomes)
                self.failures.append(ended)
        return first + count


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="./x fuzz sizes",
        description="Writes programs of indices and ops that move, join and reduce, traces each for sizes that are open, and "
        "compares what three calls give with NumPy and with eager calls. A process that dies, another result and an error that is "
        "not documented are failures; the documented ones are counted. The last line reads 'N passed, N failed'.",
    )
    parser.add_argument("--count", type=int, default=1000, metavar="N", help="programs (1000)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="of the first program; the next has S + 1 (1)")
    parser.add_argument("--jobs", type=int, default=int(os.environ.get("WEFT_JOBS", os.cpu_count() or 1)), metavar="N")
    parser.add_argument("--seconds", type=float, default=20, metavar="T", help="time limit of a program (20)")
    options = parser.parse_args(arguments)
    fuzzer = Fuzzer(options.seconds)
    firsts = range(options.seed, options.seed + options.count, BATCH)
    with ThreadPoolExecutor(max(options.jobs, 1)) as pool:
        list(pool.map(lambda first: fuzzer.batch(first, min(BATCH, options.seed + options.count - first)), firsts))
    for failure in fuzzer.failures:
        print(failure, end="\n\n")
    for outcome, count in sorted(fuzzer.counts.items()):
        if outcome not in ("ok", "failed"):
            print(f"{count} {outcome}")
    failed = fuzzer.counts["failed"]
    print(f"{sum(fuzzer.counts.values()) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
