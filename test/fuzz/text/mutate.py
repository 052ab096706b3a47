"""Changes programs a little: numbers, types, attributes, names of ops and values, whole lines."""

import random
import re

_TOKEN = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|[%@^#!][\w$.#-]+|\d+x(?=[\d?a-z])|\?x|0x[0-9A-Fa-f]+|-?\d+\.\d*(?:[eE][-+]?\d+)?|-?\d+'
    r"|[A-Za-z_][\w.$]*|->|::|\S"
)
_NUMBERS = [
    "0", "1", "-1", "2", "3", "4", "7", "63", "64", "65", "255", "256", "65536", "2147483647", "2147483648", "-2147483648",
    "4294967296", "4611686018427387904", "9223372036854775807", "-9223372036854775808", "18446744073709551616",
]  # fmt: skip
_SIZES = ["0x", "1x", "2x", "3x", "4x", "?x", "?x?x", "1x1x", "65536x", "4294967296x", "4611686018427387904x", ""]
_ELEMENTS = ["i1", "i8", "i32", "i64", "f16", "f32", "f64", "index", "bf16", "i128", "ui32"]
_TYPES = [
    "tensor<f32>", "tensor<?xf32>", "tensor<*xf32>", "tensor<4xf32>", "tensor<0xf32>", "tensor<i64>", "tensor<i1>", "i1", "index",
    "memref<4xf32>", "memref<?xf32>", "!weft.token", "!weft.var<tensor<4xf32>>", "!weft.record", "none", "vector<4xf32>",
]  # fmt: skip
_ATTRIBUTES = [
    "weft.variable = @w", "weft.output = 0 : i64", "weft.arena_bytes = 64 : i64", "weft.arena_offset = 0 : i64", "weft.runtime",
    "weft.context", "weft.split = {inputs = 1 : i64, results = 1 : i64}", "weft.saved = array<i64: 0, 0>", "weft.parallel",
    "weft.pulled", "weft.again", "weft.dims = array<i64: 0>", "weft.updated", 'weft.reason = "none"', "axis = 0 : i64",
    "axes = array<i64: 0>", "keepdims = true", 'checkpoint = "sqrt"', "unsignedCmp", "nsw",
]  # fmt: skip


def tokens_of(line: str) -> list[tuple[int, int]]:
    """Where the tokens of a line begin and end."""
    return [match.span() for match in _TOKEN.finditer(line)]


def _kind(token: str) -> str:
    if re.fullmatch(r"\d+x|\?x", token):
        return "size"
    if re.fullmatch(r"-?\d+(\.\d*)?([eE][-+]?\d+)?", token):
        return "number"
    if token in _ELEMENTS:
        return "element"
    if token[0] in "%@":
        return token[0]
    if "." in token and token[0].isalpha():
        return "op"
    return "other"


class Mutator:
    """Makes mutants of programs; `texts` are where it finds ops, names and lines."""

    def __init__(self, texts: list[str], seed: int):
        self.random = random.Random(seed)
        self.lines = [line for text in texts for line in text.splitlines() if line.strip()]
        words = {text[a:b] for text in self.lines for a, b in tokens_of(text)}
        self.ops = sorted(word for word in words if _kind(word) == "op")

    def mutate(self, text: str) -> str:
        """The program after one to four changes."""
        lines = text.splitlines()
        for _ in range(self.random.choice([1, 1, 1, 2, 2, 3, 4])):
            if lines:
                self._change(lines)
        return "\n".join(lines) + "\n"

    def _change(self, lines: list[str]) -> None:
        at = self.random.randrange(len(lines))
        choice = self.random.random()
        if choice < 0.72:
            lines[at] = self._change_line(lines[at], lines)
        elif choice < 0.78:
            del lines[at]
        elif choice < 0.84:
            lines.insert(self.random.randrange(len(lines) + 1), lines[at])
        elif choice < 0.90:
            other = self.random.randrange(len(lines))
            lines[at], lines[other] = lines[other], lines[at]
        elif choice < 0.95:
            lines.insert(at, self.random.choice(self.lines))
        else:
            self._add_attribute(lines, at)

    def _add_attribute(self, lines: list[str], at: int) -> None:
        attribute = self.random.choice(_ATTRIBUTES)
        line = lines[at]
        if "func.func" in line and "attributes {" not in line and line.rstrip().endswith("{"):
            lines[at] = line.rstrip()[:-1] + "attributes {" + attribute + "} {"
        elif "{" in line:
            place = self.random.choice([match.end() for match in re.finditer(r"\{", line)])
            lines[at] = line[:place] + attribute + (", " if line[place : place + 1] not in ("", "}") else "") + line[place:]
        elif " : " in line:
            lines[at] = line.replace(" : ", " {" + attribute + "} : ", 1)

    def _change_line(self, line: str, lines: list[str]) -> str:
        spans = tokens_of(line)
        if not spans:
            return line
        # Numbers, sizes and types say more than brackets do.
        weights = [{"size": 6, "number": 6, "element": 5, "op": 4, "%": 3, "@": 2}.get(_kind(line[a:b]), 1) for a, b in spans]
        begin, end = self.random.choices(spans, weights)[0]
        token = line[begin:end]
        kind = _kind(token)
        roll = self.random.random()
        if roll < 0.04:
            new = ""
        elif roll < 0.07:
            new = token + " " + token
        elif kind == "size":
            new = self.random.choice(_SIZES)
        elif kind == "number":
            nearby = str(int(token) + self.random.choice([-1, 1])) if re.fullmatch(r"-?\d+", token) else "1.0e308"
            new = nearby if roll < 0.4 else self.random.choice(_NUMBERS)
        elif kind == "element":
            new = self.random.choice(_ELEMENTS)
        elif kind == "op":
            new = self.random.choice(self.ops)
        elif kind in "%@":
            pattern = re.escape(kind) + r"[\w$.#-]+"
            new = self.random.choice(re.findall(pattern, "\n".join(lines)) or [token])
        elif token in ("tensor", "memref", "true", "false") or roll < 0.3:
            return self._change_word(line, begin, end, token)
        else:
            other = self.random.choice(self.lines)
            a, b = self.random.choice(tokens_of(other) or [(0, 0)])
            new = other[a:b]
        return line[:begin] + new + line[end:]

    def _change_word(self, line: str, begin: int, end: int, token: str) -> str:
        if token in ("true", "false"):
            return line[:begin] + ("false" if token == "true" else "true") + line[end:]
        whole = re.match(r"(tensor|memref)<[^<>]*>", line[begin:])
        if whole:
            return line[:begin] + self.random.choice(_TYPES) + line[begin + whole.end() :]
        return line[:begin] + self.random.choice(["tensor", "memref", "array", "dense", "loc", "none"]) + line[end:]
