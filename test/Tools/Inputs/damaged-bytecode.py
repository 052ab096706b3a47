"""Changes one byte of a bytecode file at a time: the tools say what is wrong or read it, and never crash."""
import random
import subprocess
import sys

source, damaged = sys.argv[1:]
whole = open(source, "rb").read()
choose = random.Random(7)
tools = [["weft-opt", damaged, "-o", "/dev/null"], ["weft-compile", damaged, "--compile-to=trace", "-o", "/dev/null"]]
for trial in range(24):
    data = bytearray(whole)
    data[choose.randrange(4, len(data))] = choose.randrange(256)
    open(damaged, "wb").write(data)
    done = subprocess.run(tools[trial % 2], capture_output=True, timeout=60)
    assert done.returncode in (0, 1), (trial, done.returncode, done.stderr)
    assert done.returncode == 0 or done.stderr, trial
