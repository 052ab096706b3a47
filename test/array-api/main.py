"""Runs the array API's own tests, of a checkout of data-apis/array-api-tests, on the Python package.

    python main.py FOLDER [--max-examples N] [TEST..]

skips.txt, beside this file, names tests that fail, with a reason each: ID : REASON. The program fails where another test
does, and where one of these passes now, whose line is to be taken out.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

MOST_SKIPS = 20


def skips() -> dict[str, str]:
    """The tests that are known to fail, with reasons."""
    found: dict[str, str] = {}
    for line in (pathlib.Path(__file__).parent / "skips.txt").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        test, between, reason = line.rpartition(" : ")
        if not between or not reason.strip() or not test.startswith("array_api_tests/"):
            sys.exit(f"skips.txt: {line!r} is not 'array_api_tests/FILE::TEST : REASON'")
        found[test] = reason
    if len(found) > MOST_SKIPS:
        sys.exit(f"skips.txt names {len(found)} tests, and may name {MOST_SKIPS}")
    return found


def main() -> int:
    """Runs the tests; 1 if something is not as it must be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", help="a checkout of data-apis/array-api-tests, with its submodule")
    parser.add_argument("--max-examples", type=int, default=60, help="how often each test draws its operands (60)")
    parser.add_argument("tests", nargs="*", default=["array_api_tests"], help="tests in the words of pytest")
    options = parser.parse_intermixed_args()
    folder = pathlib.Path(options.folder).resolve()
    if not (folder / "array-api" / "src").is_dir():
        sys.exit(f"{folder} is no checkout of data-apis/array-api-tests with its submodule array-api")
    known = skips()
    with tempfile.TemporaryDirectory() as scratch:
        excused = pathlib.Path(scratch, "xfails.txt")
        excused.write_text("".join(test + "\n" for test in known))
        environment = {
            **os.environ, "ARRAY_API_TESTS_MODULE": "weft", "PYTHONDONTWRITEBYTECODE": "1",
            "HYPOTHESIS_STORAGE_DIRECTORY": str(pathlib.Path(scratch, "hypothesis")),
        }  # fmt: skip
        run = subprocess.run(
            [
                sys.executable, "-m", "pytest", "-q", "-rfEX", "-p", "no:cacheprovider", "--disable-warnings", "--hypothesis-seed=0",
                "--disable-deadline",  # a machine may be busy while OpenBLAS is loaded
                f"--max-examples={options.max_examples}", f"--xfails-file={excused}", *options.tests,
            ],
            cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    print(run.stdout)
    passing = [line.removeprefix("XPASS ").split(" - ")[0] for line in run.stdout.splitlines() if line.startswith("XPASS ")]
    for test in passing:
        print(f"passes now: {test}: take its line out of skips.txt")
    counts = {word: int(number) for number, word in re.findall(r"(\d+) (\w+)", run.stdout.rstrip().rpartition("\n")[2])}
    passed, failed = counts.get("passed", 0), counts.get("failed", 0) + counts.get("errors", 0) + counts.get("error", 0)
    print(f"{passed} pass, {failed} fail, {counts.get('xfailed', 0)} fail as skips.txt says, {len(passing)} of it pass now")
    return 1 if run.returncode != 0 or passing or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
