"""Runs a tool on a program, under limits, and says whether it did what a tool must not do."""

import os
import re
import resource
import shlex
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

# Words that are no answer to a person: an invariant of the compiler's own, or of a library below it.
_INTERNAL = re.compile(
    r"LLVM ERROR|UNREACHABLE|[Aa]ssertion `.*failed\.|Stack dump|PLEASE submit|invariant violated"
    r"|ERROR: (Address|Leak|Undefined)|runtime error:|terminate called|std::bad_alloc|\w\.(cpp|h): "
)
# The same, where only whole phases run: a single pass may be given what it is not meant for.
_INTERNAL_IN_PHASES = re.compile(
    r"failed to legalize|remained live|cannot be converted to LLVM IR|dialect .* not found|could not be translated"
)
_PHASE_FAILED = re.compile(r"the phase [\w-]+ failed")


# What MLIR itself does that no check of ours comes before, and why it is no failure of ours.
_UPSTREAM = [
    # Its parser makes room for as many operands as the written type has elements before it counts those that are there.
    re.compile(r"SmallVector unable to grow.*custom op parser 'tensor\.from_elements'", re.DOTALL),
    # Its verifier of tensor.expand_shape takes an output_shape that contradicts the result type; that of memref.expand_shape, which
    # its bufferization makes of it, does not.
    re.compile(r"'memref\.expand_shape' op invalid output shape provided"),
]
PARSE = ("weft-opt", "-")  # the command that does nothing else


@dataclass(frozen=True)
class Limits:
    """What a run may take."""

    seconds: float = 20
    bytes: int = 8 << 30  # of address space; 0 for no limit, which sanitizers need


@dataclass(frozen=True)
class Outcome:
    """What is wrong with a run: of which kind, and where, so that equal ones can be told."""

    kind: str
    where: str
    output: str


class Tools:
    """The programs of one build."""

    def __init__(self, folder: Path, limits: Limits):
        self.folder = folder
        self.limits = limits
        # The compiler writes a file to reproduce each error of a phase.
        self.scratch = tempfile.TemporaryDirectory(prefix="weft-fuzz-")
        self.environment = dict(
            os.environ, WEFT_CACHE="off", LLVM_DISABLE_SYMBOLIZATION="1", OMP_NUM_THREADS="1", TMPDIR=self.scratch.name
        )

    def run(self, command: tuple[str, ...], text: str) -> tuple[int | None, str]:
        """The exit code of a tool that reads `text`, None after the time limit, and what it wrote to standard error."""

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if self.limits.bytes:
                resource.setrlimit(resource.RLIMIT_AS, (self.limits.bytes, self.limits.bytes))

        with tempfile.TemporaryFile() as errors:
            with subprocess.Popen(
                [str(self.folder / command[0]), *command[1:]],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                preexec_fn=limit,
                env=self.environment,
                start_new_session=True,
            ) as process:
                try:
                    process.communicate(text.encode(), timeout=self.limits.seconds)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
                    return None, ""
            errors.seek(0)
            return process.returncode, errors.read(1 << 20).decode(errors="replace")

    def judge(self, command: tuple[str, ...], text: str) -> Outcome | None:
        """What is wrong with that run, or nothing."""
        return self._classify(command, text, *self.run(command, text))

    def parse(self, text: str) -> tuple[Outcome | None, bool]:
        """What is wrong with the parser's run, and whether the text is a program."""
        code, output = self.run(PARSE, text)
        return self._classify(PARSE, text, code, output), code == 0

    def _classify(self, command: tuple[str, ...], text: str, code: int | None, output: str) -> Outcome | None:
        if code is None:
            return None if self._loops_itself(command, text) else Outcome("time-out", command[0], "")
        if any(known.search(output) for known in _UPSTREAM):
            return None
        if code < 0:
            return Outcome(f"signal {signal.Signals(-code).name}", _place_of_crash(output), output)
        if code == 0:
            return None
        if not output.strip():
            return Outcome("silent", command[0], output)
        whole = command[0] != "weft-opt"
        if found := _INTERNAL.search(output) or (whole and _INTERNAL_IN_PHASES.search(output)):
            return Outcome("internal", _shape_of(_first_error(output) or found.group()), output)
        if code not in (1, 2):
            return Outcome(f"exit code {code}", command[0], output)
        if not re.search(r"error|assertion failed in|Unknown command line argument", output):
            return Outcome("no error", _shape_of(output[:200]), output)
        return self._invalid_after_pass(command, text, output)

    def _loops_itself(self, command: tuple[str, ...], text: str) -> bool:
        """Whether the program ran out of time, not the compiler."""
        if command[0] != "weft-run":
            return False
        code, _ = self.run(("weft-compile", "-", "-o", "/dev/null"), text)
        return code is not None

    def _invalid_after_pass(self, command: tuple[str, ...], text: str, output: str) -> Outcome | None:
        """Whether it was the verifier that complained, of what a pass made of a program that is valid."""
        error = _first_error(output)
        if not _PHASE_FAILED.search(output) and "see current operation" not in output:
            return None
        if command == PARSE or self.run(PARSE, text)[0] != 0:
            return None
        code, unverified = self.run((*command, "--verify-each=false"), text)
        if code is not None and error and error in unverified:
            return None
        return Outcome("invalid after a pass", _shape_of(error), output)


def _first_error(output: str) -> str:
    found = re.search(r"error: (.*)", output)
    return found.group(1) if found else ""


def _shape_of(message: str) -> str:
    """A message without what differs from program to program."""
    return re.sub(r"'[^']*'|\"[^\"]*\"|@\w+|-?\d+", "_", message)[:120]


def _place_of_crash(output: str) -> str:
    """The first frames that are not the signal handler's."""
    frames = re.findall(r"^ *#?\d+ +(\S+) +0x[0-9a-f]+ *(.*)$", output, re.MULTILINE)
    names = [name or library for library, name in frames if not library.startswith(("libc.so", "libc.musl"))]
    names = [name for name in names if "PrintStackTrace" not in name and "RunSignalHandlers" not in name]
    names = [re.sub(r"\(.*\)|<.*>| \+ \d+$", "", name)[:60] for name in names if name != "libLLVM.so.22.1"]
    return ", ".join(names[:2]) or "no stack"


def command_line(command: tuple[str, ...], file: str) -> str:
    """The command as a person types it."""
    return " ".join(file if word == "-" else shlex.quote(word) for word in command)
