"""./x gpu: what only a GPU can tell, in ten minutes of one, as one JSON file.

Four parts: the instruction corpus, results of all kernels beside the emulator's, compute-sanitizer, and times. Each that cannot be done
here says why; the others go on. Exit status 1 if something differs or failed.
"""

import argparse
import datetime
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True
import corpus as corpora  # noqa: E402
from driver import Driver, DriverError  # noqa: E402

PARTS = ("corpus", "kernels", "sanitizer", "times")
ROW_SECONDS = 40  # for a row of times, its process whole


class Unavailable(Exception):
    """Why a part cannot be done here."""


class Run:
    def __init__(self, options):
        self.options = options
        self.build = os.path.abspath(options.build)
        self.emulator = os.path.join(self.build, "lib/libweft-gpu-emulator.so")
        self.emulated = options.emulated
        self.end = time.monotonic() + options.seconds
        self.scratch = tempfile.mkdtemp(prefix="weft-gpu-")
        packed = os.path.join(self.build, "lib/packed")  # what the machine that packed it has of libraries
        if os.path.isdir(packed):
            os.environ["LD_LIBRARY_PATH"] = packed

    def left(self, share=1.0):
        """Seconds that a part may take."""
        return max(self.end - time.monotonic(), 1.0) * share

    def program(self, name, folder="bin"):
        path = os.path.join(self.build, folder, name)
        if not os.path.exists(path):
            raise Unavailable(f"{os.path.relpath(path, TOP)} is not built")
        return path

    def python(self):
        """An interpreter with NumPy, which the text tests and the oracle need."""
        for path in (os.path.join(TOP, "build/venv/bin/python"), sys.executable, shutil.which("python3")):
            if path and os.path.exists(path) and subprocess.run([path, "-c", "import numpy"], capture_output=True).returncode == 0:
                return path
        raise Unavailable("no Python with NumPy is here")

    def environment(self, emulated, **more):
        environment = dict(os.environ, WEFT_CACHE="off", **more)
        if emulated:
            environment["WEFT_CUDA_DRIVER"] = self.emulator
            environment.setdefault("WEFT_GPU_EMULATOR", "seed=1")
        return environment

    def command(self, words, seconds, **environment):
        try:
            return subprocess.run(words, capture_output=True, text=True, timeout=seconds, cwd=TOP,
                                  env=self.environment(self.emulated, **environment))
        except subprocess.TimeoutExpired as error:
            raise Unavailable(f"{os.path.basename(words[0])} was not done after {seconds:.0f} s") from error

    # The parts ---------------------------------------------------------------------------------------------------------------------

    def corpus(self):
        """Every instruction form on the edges of its operands, bit by bit."""
        path = os.path.join(self.scratch, "corpus.json")
        tests = self.program("emulator_tests", "unit")
        done = subprocess.run([tests, "--gtest_brief=1"], capture_output=True, text=True, timeout=self.left(0.3),
                              env=dict(os.environ, WEFT_GPU_CORPUS=path))
        if done.returncode != 0 or not os.path.exists(path):
            raise Unavailable(f"emulator_tests failed: {done.stdout[-300:]}")
        all_of_it = corpora.read(path)[:: 40 if self.emulated else 1]
        forms, refused = corpora.replay(Driver(self.driver_path()), all_of_it)
        different = {name: form for name, form in forms.items() if form["different"]}
        return {"forms": len(forms), "rows": sum(form["rows"] for form in forms.values()), "refused": refused,
                "different": different, "failed": bool(different)}

    def kernels(self):
        """Functions of the text tests and calls of the oracle: results beside the emulator's."""
        python = self.python()
        found = {}
        for name in ("weft-opt", "weft-run", "weft-compile"):
            self.program(name)
        # Each ends by itself; what it has begun by then may take a minute more.
        def in_time(share):
            return ["--seconds", str(max(10, round(self.left(share))))]

        def limit(share):
            return self.left(share) + 60

        every = ["--every", str(self.options.every or (120 if self.emulated else 1))]
        functions = [python, "test/Gpu/every-function.py", os.path.join(self.build, "bin"), "test",
                     os.path.join(self.scratch, "functions"), "--against-emulator", *every, *in_time(0.4)]
        done = self.command(functions, limit(0.4))
        found["functions"] = summary(done)
        digests = []
        for where in ("here", "emulator"):
            file = os.path.join(self.scratch, f"digests-{where}.json")
            oracle = [python, "test/Oracle/every-op.py", self.program("weft-run"), os.path.join(self.build, "generated/test/samples.json"),
                      os.path.join(self.scratch, "oracle"), "--device", "gpu:0", "--digests", file,
                      "--every", str(self.options.every or (1500 if self.emulated else 3)), *in_time(0.4)]
            environment = {"PYTHONPATH": os.path.join(TOP, "test/Oracle/Inputs")}
            if where == "emulator":
                environment |= {"WEFT_CUDA_DRIVER": self.emulator, "WEFT_GPU_EMULATOR": "seed=2"}
            done = self.command(oracle, limit(0.4), **environment)
            found[f"oracle_{where}"] = summary(done)
            with open(file) as given:
                digests.append(json.load(given))
        here, there = digests
        both = here.keys() & there.keys()
        found["oracle_different_bits"] = sorted(case for case in both if here[case] != there[case])
        found["oracle_digests"] = len(both)
        found["failed"] = any(part["status"] != 0 for part in found.values() if isinstance(part, dict))
        return found

    def sanitizer(self):
        """Drawn calls under compute-sanitizer."""
        tool = shutil.which("compute-sanitizer")
        if self.emulated:
            raise Unavailable("the emulator looks for races and for accesses outside by itself")
        if tool is None:
            raise Unavailable("compute-sanitizer is not on the PATH")
        found = {}
        fuzz = self.program("weft-fuzz")
        for name, count in (("memcheck", 20), ("racecheck", 8), ("initcheck", 8)):
            words = [tool, "--tool", name, "--error-exitcode", "9", fuzz, "calls", "--device", "gpu:0", "--count", str(count), "--seed", "1",
                     "--out", os.path.join(self.scratch, "fuzz")]
            found[name] = summary(self.command(words, self.left(0.5), WEFT_GPU_CACHE="off"))
        found["failed"] = any(part["status"] != 0 for part in found.values())
        return found

    def times(self):
        """The rows of the group gpu, medians, beside the peers that are installed."""
        # Each row is a process of its own, so that one that fails or takes too long does not take the others with it.
        bench = self.program("weft-bench")
        small = {"WEFT_GPU_ROWS": "small", "WEFT_GPU_EMULATOR": "seed=1,races=off"} if self.emulated else {}
        listed = self.command([bench, "--group", "gpu", "--list"], 60)
        names = [line.split()[0] for line in listed.stdout.splitlines() if line.startswith("gpu_")]
        rows, wrong = {}, []
        for name in names:
            file = os.path.join(self.scratch, f"{name}.json")
            words = [bench, "--only", name, "--repeats", "1" if self.emulated else "5", "--json", file]
            try:
                done = self.command(words, min(ROW_SECONDS, self.left(0.6)), **small)
            except Unavailable as error:
                wrong.append(f"{name}: {error}")
                continue
            wrong += [line for line in done.stderr.splitlines() if "error:" in line]
            if done.returncode == 0:
                with open(file) as given:
                    rows |= {row["name"]: row for row in json.load(given)}
        found = {"rows": rows, "errors": wrong, "failed": bool(wrong) or len(rows) != len(names)}
        found["peers"], found["peers_missing"] = ({}, "--no-peers") if self.options.no_peers else self.peers()
        return found

    def peers(self):
        """What torch makes of the same rows."""
        if self.emulated:
            return {}, "an emulated GPU has no peers"
        for python in (os.environ.get("WEFT_PEERS_PYTHON"), os.path.join(TOP, "build/peers/bin/python"), shutil.which("python3"), sys.executable):
            if not python or not os.path.exists(python):
                continue
            ready = "import torch, sys; sys.exit(not torch.cuda.is_available())"
            if subprocess.run([python, "-c", ready], capture_output=True).returncode == 0:
                file = os.path.join(self.scratch, "peers")
                with open(file, "w") as lines:
                    words = [python, os.path.join(TOP, "benchmarks/peers/torch_gpu.py")]
                    try:  # what it has printed counts, whenever it ends
                        done = subprocess.run(words, stdout=lines, stderr=subprocess.PIPE, text=True, timeout=self.left(), cwd=TOP)
                        missing = done.stderr[-300:] if done.returncode else ""
                    except subprocess.TimeoutExpired as error:
                        missing = f"PyTorch was not done after {error.timeout:.0f} s"
                with open(file) as lines:
                    rows = [json.loads(line) for line in lines if line.startswith("{")]
                return {row.pop("name"): row for row in rows}, missing
        return {}, "no Python with torch that finds the GPU is here (WEFT_PEERS_PYTHON names one)"

    # -------------------------------------------------------------------------------------------------------------------------------

    def driver_path(self):
        return self.emulator if self.emulated else os.environ.get("WEFT_CUDA_DRIVER") or "libcuda.so.1"

    def facts(self):
        """The card in the words of its driver, asked in a process of its own."""
        code = ("import json, sys; from driver import *\n"
                "try: d = Driver(sys.argv[1]); print(json.dumps([d.name, d.chip, d.version]))\n"
                "except DriverError as error: print(json.dumps(str(error)))")
        done = subprocess.run([sys.executable, "-c", code, self.driver_path()], capture_output=True, text=True, cwd=HERE,
                              env=self.environment(self.emulated))
        facts = json.loads(done.stdout) if done.stdout else done.stderr.strip()[-200:]
        return facts

    def commit(self):
        if os.path.exists(os.path.join(TOP, "build/gpu-commit")):  # of what ./x gpu --pack packed
            with open(os.path.join(TOP, "build/gpu-commit")) as file:
                return file.read().strip()
        try:
            done = subprocess.run(["git", "-C", TOP, "rev-parse", "HEAD"], capture_output=True, text=True)
        except FileNotFoundError:  # a machine without git
            return "unknown"
        return done.stdout.strip() if done.returncode == 0 else "unknown"


def summary(done):
    """How a program ended, and its last line."""
    lines = (done.stdout.strip() or done.stderr.strip()).splitlines()
    found = {"status": done.returncode, "words": lines[-1] if lines else ""}
    if done.returncode != 0:
        found["lines"] = (done.stdout + done.stderr).splitlines()[-40:]
    return found


def line_of(part, found):
    """What a part found, for people."""
    if "unavailable" in found:
        return found["unavailable"]
    if part == "corpus":
        words = f"{found['forms']} forms, {found['rows']} rows, {len(found['different'])} forms differ"
        return words + (f", {len(found['refused'])} are not of this chip" if found["refused"] else "")
    if part == "kernels":
        return (f"{found['functions']['words']}; {found['oracle_here']['words']}; of {found['oracle_digests']} calls "
                f"{len(found['oracle_different_bits'])} have not the emulator's bits")
    if part == "sanitizer":
        return "; ".join(f"{name}: {one['words']}" for name, one in found.items() if isinstance(one, dict))
    return f"{len(found['rows'])} rows, {len(found['peers'])} of torch" + (f" ({found['peers_missing']})" if found["peers_missing"] else "")


def print_rows(found):
    for name, row in found["rows"].items():
        words = f"  {name:<22} {row['value']:>12.4g} {row['unit']}"
        if row.get("peer_value"):
            words += f"   {row['ratio']:.2f} of {row['peer']}"
        peer = found["peers"].get(name)
        if peer:
            words += f"   {peer['with']}: {peer['value']:.4g} ({row['value'] / peer['value']:.2f})"
        print(words)
    for line in found["errors"]:
        print("  " + line)


def main():
    parser = argparse.ArgumentParser(prog="./x gpu", description="What only a GPU can tell, in ten minutes of one, as one JSON file.")
    parser.add_argument("--build", default=os.path.join(TOP, "build/release"), help="the built tree")
    parser.add_argument("--emulated", action="store_true", help="on the emulator, of each part a little")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this; may come again")
    parser.add_argument("--json", help="the file; by default benchmarks/gpu/CARD.json, and none for --emulated")
    parser.add_argument("--seconds", type=float, default=600, help="how long all of it may take")
    parser.add_argument("--no-peers", action="store_true", help="times of Weft alone")
    parser.add_argument("--every", type=int, default=0, help="one of so many functions and calls")
    options = parser.parse_args()
    run = Run(options)
    try:
        facts = run.facts()
        if isinstance(facts, str):
            sys.exit(f"there is nothing to measure on: {facts} (--emulated runs a little of each part on the emulator)")
        card, chip, driver = facts
        file = options.json
        if file is None and not options.emulated:
            file = os.path.join(TOP, "benchmarks/gpu", re.sub(r"\W+", "-", card).strip("-").lower() + ".json")
        driver = f"CUDA {driver // 1000}.{driver % 1000 // 10}"
        result = {"card": card, "chip": chip, "emulated": options.emulated}
        if file is not None and os.path.exists(file):  # the other parts of the same card stay
            with open(file) as given:
                result = json.load(given) | result
        print(f"{card}, {chip}, {driver}", flush=True)
        for part in options.part or PARTS:
            start = time.monotonic()
            try:
                found = getattr(run, part)()
            except (Unavailable, DriverError, OSError, json.JSONDecodeError, subprocess.TimeoutExpired) as error:
                found = {"unavailable": str(error), "failed": not isinstance(error, Unavailable)}
            found["seconds"] = round(time.monotonic() - start, 1)
            date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
            found |= {"driver": driver, "date": date, "commit": run.commit()}
            result[part] = found
            print(f"{part:<10} {'FAILED' if found['failed'] else 'ok':<7} {found['seconds']:>5.0f} s  {line_of(part, found)}", flush=True)
            if part == "times" and "rows" in found:
                print_rows(found)
    finally:
        shutil.rmtree(run.scratch, ignore_errors=True)
    if file is not None:
        os.makedirs(os.path.dirname(os.path.abspath(file)), exist_ok=True)
        with open(file, "w") as out:
            json.dump(result, out, indent=1)
            out.write("\n")
        print(f"written to {os.path.relpath(file)}")
    sys.exit(any(result[part]["failed"] for part in options.part or PARTS))


if __name__ == "__main__":
    main()
