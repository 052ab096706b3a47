"""The command behind `./x fuzz text`: mutants of the text tests through all tools, which must answer each in words."""

import argparse
import os
import random
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import commands
import corpus
import judge
import reduce
from mutate import Mutator


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="./x fuzz text",
        description="Changes the text tests a little and runs each through weft-opt, weft-compile or weft-run. A crash, a "
        "run that does not end, an exit without a word and an error inside the compiler are failures; each is reduced and "
        "written to a file with the command that shows it. The last line reads 'N passed, N failed'.",
    )

    def count(text: str) -> int:
        value = int(text)
        if value < 1:
            raise ValueError
        return value

    top = Path(__file__).resolve().parents[3]
    parser.add_argument("--count", type=count, default=1000, metavar="N", help="mutants, one run of a tool each (1000)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="of the first mutant; the next has S + 1 (1)")
    parser.add_argument("--out", type=Path, default=top / "build/fuzz-text", metavar="DIR", help="where failures are written")
    parser.add_argument("--bin", type=Path, default=top / "build/release/bin", metavar="DIR", help="the tools")
    parser.add_argument("--tests", type=Path, default=top / "test", metavar="DIR", help="the text tests")
    parser.add_argument("--jobs", type=count, default=int(os.environ.get("WEFT_JOBS", os.cpu_count() or 1)), metavar="N")
    parser.add_argument("--seconds", type=float, default=20, metavar="T", help="time limit of a run (20)")
    parser.add_argument("--memory", type=float, default=8, metavar="GiB", help="memory limit of a run, 0 for none (8)")
    parser.add_argument("--no-reduce", action="store_true", help="write failures as they are")
    parser.add_argument("--print", action="store_true", help="print the first mutant and its command, and run nothing")
    return parser.parse_args(arguments)


ATTEMPTS = 6  # at a mutant that is a program


class Fuzzer:
    """Makes, runs and counts mutants."""

    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.pieces = corpus.read(options.tests)
        if not self.pieces:
            sys.exit(f"error: there are no text tests below {options.tests}")
        self.texts = [piece.text for piece in self.pieces]
        self.tools = judge.Tools(options.bin, judge.Limits(options.seconds, int(options.memory * (1 << 30))))
        self.lock = threading.Lock()
        self.seen: dict[tuple[str, str, str], int] = {}
        self.done = self.failed = self.programs = 0
        self.mutator = Mutator(self.texts, 0)

    def mutant(self, seed: int, attempt: int = 0) -> tuple[str, tuple[str, ...], str]:
        """The program of that seed, its command, and the piece that it was."""
        rng = random.Random(seed * 16 + attempt)
        piece = rng.choice(self.pieces)
        with self.lock:
            self.mutator.random = rng
            text = self.mutator.mutate(piece.text, careful=rng.random() < 0.9)
            return text, commands.choose(rng, text, piece.passes), piece.name

    def check(self, seed: int) -> None:
        """Runs one mutant, and reports it if it fails."""
        # What is no program is a test of the parser; most are to be tests of more.
        for attempt in range(ATTEMPTS):
            text, command, name = self.mutant(seed, attempt)
            outcome, accepted = self.tools.parse(text)
            if outcome is not None:
                command = judge.PARSE
                break
            if accepted or attempt + 1 == ATTEMPTS:
                outcome = self.tools.judge(command, text)
                self.programs += accepted
                break
        with self.lock:
            self.done += 1
            if self.done % 1000 == 0:
                print(f"{self.done} mutants, {self.failed} failed", file=sys.stderr, flush=True)
            if outcome is None:
                return
            self.failed += 1
            key = (command[0], outcome.kind, outcome.where)
            self.seen[key] = self.seen.get(key, 0) + 1
            if self.seen[key] > 1:
                return
        self._write(seed, text, command, name, outcome)

    def _write(self, seed: int, text: str, command: tuple[str, ...], name: str, outcome: judge.Outcome) -> None:
        """Reduces the first failure of its kind and writes it as a file."""

        def fails(candidate: str) -> bool:
            again = self.tools.judge(command, candidate)
            return again is not None and (again.kind, again.where) == (outcome.kind, outcome.where)

        if not self.options.no_reduce and fails(text):
            text = reduce.reduce(text, fails)
        self.options.out.mkdir(parents=True, exist_ok=True)
        path = self.options.out / f"{seed}.mlir"
        said = "".join(f"//   {line}\n" for line in outcome.output.splitlines()[:6])
        path.write_text(
            f"// {outcome.kind}: {outcome.where}\n// {judge.command_line(command, str(path))}\n"
            f"// from {name} by --seed {seed}\n{said}{text}"
        )
        with self.lock:
            print(f"FAILED seed {seed}: {outcome.kind}: {outcome.where}: {path}", flush=True)


def main(arguments: list[str]) -> int:
    """The exit code: 1 if a mutant failed."""
    options = _options(arguments)
    fuzzer = Fuzzer(options)
    if options.print:
        text, command, name = fuzzer.mutant(options.seed)
        print(f"// from {name}\n// {judge.command_line(command, 'FILE')}\n{text}", end="")
        return 0
    missing = [tool for tool in ("weft-opt", "weft-compile", "weft-run") if not (options.bin / tool).exists()]
    if missing:
        sys.exit(f"error: there is no {missing[0]} in {options.bin}: ./x build makes it")
    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(fuzzer.check, range(options.seed, options.seed + options.count)))
    if duplicates := fuzzer.failed - len(fuzzer.seen):
        print(f"{duplicates} of the failures are like another")
    print(f"{fuzzer.programs} of {fuzzer.done} mutants are programs")
    print(f"{fuzzer.done - fuzzer.failed} passed, {fuzzer.failed} failed")
    return 1 if fuzzer.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
