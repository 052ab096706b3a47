"""Functions of the text tests, run by weft-run on the processor and twice on an emulated GPU: the same results, output and errors.

Each public function is alone in its program, with random arguments. The two runs on the GPU differ in the order of all that has none, and
must agree in every bit; with the processor's results they agree within rounding. Whoever compiles for the processor has to run there.

With --against-emulator the second run is on the GPU of this machine, whose results may have other bits than the emulator's within rounding,
as sums of mma have.

REQUIRES: numpy
RUN: %python %s %weft_bin %weft_src/test %t --every 8
"""

import argparse
import collections
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys
import time
import zlib

import numpy as np

# What cannot be compared: results that nobody has written, loops that do not end, more memory than there may be, sums whose rounding grows
# in a loop.
NOT_COMPARED = {"what-is-kept.mlir:narrow", "split-writers.mlir:two", "lift-state.mlir:while", "control-flow.mlir:double", "weft-to-linalg-constants.mlir:of_linalg"}
TOLERANCE = {"f4": 1e-5, "c8": 1e-5, "f8": 1e-12, "c16": 1e-12, "f2": 1e-2}
HEAD = re.compile(r'^  func\.func (?:public )?@("[^"]*"|[\w$.-]+)\((.*)\{$', re.M)


def commas(text):
    """Splits a list at the commas that are not inside of brackets."""
    parts, depth, at = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "<({[") - (c in ">)}]" and text[i - 1 : i + 1] != "->")
        if c == "," and depth == 0:
            parts.append(text[at:i])
            at = i + 1
    return [part.strip() for part in [*parts, text[at:]] if part.strip()]


def signature(rest):
    """Types of arguments and number of results of `%x: T, ...) -> R attributes`."""
    depth, end = 1, 0
    for end, c in enumerate(rest):
        depth += (c == "(") - (c == ")")
        if depth == 0:
            break
    results = re.sub(r"\battributes\b.*", "", rest[end + 1 :]).strip().removeprefix("->").strip()
    if results.startswith("("):
        results = results[1:-1]
    return [argument.split(":", 1)[1].strip() for argument in commas(rest[:end])], len(commas(results))


def argument(number, type_, small):
    type_ = re.sub(r"(?<=[<x])\?(?=x)", "4", re.sub(r'\s*\{.*|"[^"]*"', "", type_))
    if small and re.search(r"[<x]u?i\d+>$", type_):
        return f"--arg=dense<{number % 2}> : {type_}"
    return f"--arg=random<{number + 1}> : {type_}"


def near(found, wanted):
    """Whether the elements are those that are wanted, within rounding."""
    finite = np.abs(wanted[np.isfinite(wanted)])
    tolerance = TOLERANCE.get(wanted.dtype.str[1:], 0) * max(1, finite.max(initial=0))
    with np.errstate(invalid="ignore"):
        return ((found == wanted) | ((found != found) & (wanted != wanted)) | (np.abs(found - wanted) <= tolerance)).all()


class Functions:
    def __init__(self, options):
        self.options = options
        self.driver = os.path.join(os.path.dirname(os.path.abspath(options.bin)), "lib/libweft-gpu-emulator.so")

    def tool(self, name, *arguments, seconds=120, **environment):
        environment = dict(os.environ, WEFT_CACHE="off", WEFT_DUMP_DIR=self.options.scratch, **environment)
        command = [os.path.join(self.options.bin, name), *arguments]
        try:
            return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=seconds)
        except subprocess.TimeoutExpired:
            return None

    def programs(self, file, number, chunk):
        """Each public function of a chunk as a program of its own: name, file, types, number of results."""
        folder = os.path.join(self.options.scratch, f"{os.path.basename(os.path.dirname(file))}-{os.path.basename(file)}-{number}")
        os.makedirs(folder, exist_ok=True)
        source = os.path.join(folder, "chunk.mlir")
        with open(source, "w") as out:
            out.write(chunk)
        read = self.tool("weft-opt", source)
        if read is None or read.returncode != 0:
            return
        heads = HEAD.findall(read.stdout)
        for name, rest in heads:
            text = read.stdout
            for other, _ in heads:
                if other != name:
                    text = re.sub(rf"^  func\.func (?:public )?@{re.escape(other)}\(", lambda m, o=other: f"  func.func private @{o}(", text, flags=re.M)
            path = os.path.join(folder, re.sub(r"\W", "_", name) + ".mlir")
            with open(path, "w") as out:
                out.write(text)
            yield name.strip('"'), path, *signature(rest)

    def run(self, path, types, results, small, where):
        saves = [f"{path}.{where}.{i}.npy" for i in range(results)]
        place = [] if where == "cpu" else ["--device=gpu:0"]
        words = "seed=1" if where == "one" else "seed=2,stress"
        arguments = [argument(i, t, small) for i, t in enumerate(types)] + [f"--save={save}" for save in saves]
        here = where == "two" and self.options.against_emulator
        driver = {} if here else {"WEFT_CUDA_DRIVER": self.driver, "WEFT_GPU_EMULATOR": words}
        done = self.tool("weft-run", path, *arguments, *place, seconds=20 if where == "cpu" else 120, **driver)
        if done is not None and done.returncode == 0:
            return done, [np.load(save) for save in saves]
        return done, []

    def compare(self, path, types, results, small):
        """How the GPU does: 'bits', 'near', 'error' if both fail alike; another word and what is wrong."""
        here, expected = self.run(path, types, results, small, "cpu")
        if here is None:
            return "endless", ""
        if here.returncode != 0:  # for an argument, a type, or by the compiler
            compiled = self.tool("weft-compile", path, "-o", "/dev/null")
            if compiled is None or compiled.returncode != 0:
                return None, ""
        runs = [self.run(path, types, results, small, where) for where in ("one", "two")]
        for there, _ in runs:
            if there is None:
                return "LATE", "it does not end on the GPU"
            if (there.returncode, there.stdout, there.stderr) != (here.returncode, here.stdout, here.stderr):
                return "WORDS", f"{there.stdout[-300:]}{there.stderr[-600:]}instead of {here.stdout[-300:]}{here.stderr[-300:]}"
        if here.returncode != 0:
            return "error", here.stderr
        word = "bits"
        for i, (one, two, wanted) in enumerate(zip(runs[0][1], runs[1][1], expected)):
            if one.tobytes() != two.tobytes():
                if not self.options.against_emulator:
                    return "ORDER", f"result {i} depends on the order of work"
                if not near(one, two):
                    return "EMULATOR", f"result {i} is {two.ravel()[:4]}.. instead of the emulator's {one.ravel()[:4]}.."
                word = "otherwise rounded"
            if one.dtype != wanted.dtype or one.shape != wanted.shape:
                return "TYPE", f"result {i} is {one.dtype}{one.shape} instead of {wanted.dtype}{wanted.shape}"
            if ((one == wanted) | ((one != one) & (wanted != wanted))).all():
                continue
            if not near(one, wanted):
                return "VALUES", f"result {i} is {one.ravel()[:4]}.. instead of {wanted.ravel()[:4]}.."
            word = "near" if word == "bits" else word
        return word, ""

    def chunk(self, file, number, text):
        found = []
        for name, path, types, results in self.programs(file, number, text):
            if f"{os.path.basename(file)}:{name}" in NOT_COMPARED:
                continue
            word, why = self.compare(path, types, results, small=False)
            if word == "error":
                word, why = self.compare(path, types, results, small=True)
            if word is not None:
                found.append((word, f"{os.path.relpath(file, self.options.tests)}:{name}", why))
        return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin")
    parser.add_argument("tests")
    parser.add_argument("scratch")
    parser.add_argument("--every", type=int, default=1, help="take one of so many chunks of the tests")
    parser.add_argument("--shard", type=int, default=0, help="which of these, counted from 0")
    parser.add_argument("--against-emulator", action="store_true", help="on this machine's GPU beside the emulator")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no chunk after so many, and take them in mixed order")
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    shutil.rmtree(options.scratch, ignore_errors=True)
    chunks = []
    for file in sorted(glob.glob(options.tests + "/**/*.mlir", recursive=True)):
        if "/Inputs/" in file:
            continue
        for number, text in enumerate(re.split(r"^// -----.*$", open(file).read(), flags=re.M)):
            key = f"{os.path.relpath(file, options.tests)}:{number}"
            if zlib.crc32(key.encode()) % options.every == options.shard:
                chunks.append((file, number, text))
    if options.seconds < float("inf"):
        chunks.sort(key=lambda chunk: zlib.crc32(chunk[2].encode()))
    functions, counts, late = Functions(options), collections.Counter(), 0
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("WEFT_JOBS", 0)) or os.cpu_count()) as workers:
        for found in workers.map(lambda chunk: functions.chunk(*chunk) if time.monotonic() < end else None, chunks):
            if found is None:
                late += 1
                continue
            for word, name, why in found:
                counts[word] += 1
                if word.isupper():
                    print(f"{word} {name}: {why}")
    shutil.rmtree(options.scratch, ignore_errors=True)
    words = ", ".join(f"{word} {count}" for word, count in counts.most_common())
    print(f"{counts.total()} functions: {words}" + (f"; no time for {late} of {len(chunks)} chunks" if late else ""))
    wrong = sum(count for word, count in counts.items() if word.isupper())
    return 1 if wrong or counts.total() == 0 else 0


sys.exit(main())
