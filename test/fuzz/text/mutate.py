"""Changes programs a little: sizes, types, numbers, attributes, ops, values, whole lines.

Most changes keep a program one that the parser takes: a type changes everywhere at once, an op becomes one that stands in
such a line elsewhere. Others change any token.
"""

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


_VALUE = re.compile(r"%[\w$.#-]+")
_TENSOR = re.compile(r"(?:tensor|memref)<[^<>]*>")
_NAME = re.compile(r"\b[a-z]\w*\.[a-z]\w*(?:\.\w+)*\b")


def _template(line: str) -> str:
    """A line without what may differ between two uses of an op: the op, values, types and numbers."""
    line = re.sub(r'"(?:[^"\\]|\\.)*"', '"', line.strip())
    line = _TENSOR.sub("T", line)
    line = _NAME.sub("OP", line, count=1)
    return re.sub(r"-?\d+(\.\d*)?([eE][-+]?\d+)?", "N", _VALUE.sub("%", line))


class Mutator:
    """Makes mutants of programs; `texts` are where it finds ops, names and lines."""

    def __init__(self, texts: list[str], seed: int):
        self.random = random.Random(seed)
        self.lines = [line for text in texts for line in text.splitlines() if line.strip()]
        self.by_template: dict[str, set[str]] = {}
        for line in self.lines:
            if name := _NAME.search(line):
                self.by_template.setdefault(_template(line), set()).add(name.group())
        words = {text[a:b] for text in self.lines for a, b in tokens_of(text)}
        self.ops = sorted(word for word in words if _kind(word) == "op")
        self.careful = [
            (self._retype, 5), (self._resize, 5), (self._rename_op, 5), (self._use_other, 3), (self._renumber, 4),
            (self._drop_attribute, 1), (self._attribute, 2), (self._repeat, 2), (self._insert, 2), (self._drop_line, 1),
        ]  # fmt: skip

    def mutate(self, text: str, careful: bool = False) -> str:
        """The program after one to four changes, of those that a parser may take if `careful`."""
        lines = text.splitlines()
        for _ in range(self.random.choice([1, 1, 1, 2, 2, 3, 4])):
            if not lines:
                break
            if careful:
                change = self.random.choices([f for f, _ in self.careful], [weight for _, weight in self.careful])[0]
                change(lines)
            else:
                self._change(lines)
        return "\n".join(lines) + "\n"

    # Changes that a parser may take.

    def _span(self, lines: list[str]) -> range:
        """The lines of one function, or all."""
        starts = [number for number, line in enumerate(lines) if "func.func" in line]
        if not starts or self.random.random() < 0.5:
            return range(len(lines))
        at = self.random.randrange(len(starts))
        return range(starts[at], starts[at + 1] if at + 1 < len(starts) else len(lines))

    def _types(self, lines: list[str]) -> list[str]:
        return _TENSOR.findall("\n".join(lines))

    def _retype(self, lines: list[str]) -> None:
        """Another element type for one type, or another rank, everywhere."""
        types = self._types(lines)
        if not types:
            return
        old = self.random.choice(types)
        inner = re.match(r"(tensor|memref)<((?:[\d?]+x)*)(.*)>$", old)
        if not inner:
            return
        word, sizes, element = inner.groups()
        roll = self.random.random()
        if roll < 0.5:
            element = re.sub(r"^\w+", self.random.choice(_ELEMENTS[:1] + _ELEMENTS[2:3] * 2 + ["i64", "f32", "f64", "index"]), element)
        elif roll < 0.7:
            sizes += self.random.choice(_SIZES[:8])
        elif roll < 0.8:
            sizes = re.sub(r"^[\d?]+x", "", sizes)
        else:
            word = "tensor" if word == "memref" else "memref"
        for number in self._span(lines):
            lines[number] = lines[number].replace(old, f"{word}<{sizes}{element}>")

    def _resize(self, lines: list[str]) -> None:
        """Another size instead of one, in all types or in all of one type."""
        sizes = re.findall(r"(?<=[<x])(?:\d+|\?)x", "\n".join(self._types(lines)))
        if not sizes:
            return
        old, new = self.random.choice(sizes), self.random.choice(["?x", "?x", *_SIZES[:11]])
        only = self.random.choice(self._types(lines)) if self.random.random() < 0.4 else None
        first = self.random.random() < 0.4  # of the sizes of a type

        def change(match: re.Match[str]) -> str:
            if only and match.group() != only:
                return match.group()
            return re.sub(rf"(?<=[<x]){re.escape(old)}", new, match.group(), count=1 if first else 0)

        for number in self._span(lines):
            lines[number] = _TENSOR.sub(change, lines[number])

    def _line(self, lines: list[str], pattern: str) -> int | None:
        found = [number for number, line in enumerate(lines) if re.search(pattern, line)]
        return self.random.choice(found) if found else None

    def _rename_op(self, lines: list[str]) -> None:
        """An op instead of another that stands in such a line somewhere."""
        at = self._line(lines, _NAME.pattern)
        if at is not None:
            others = sorted(self.by_template.get(_template(lines[at]), ()))
            if others:
                lines[at] = _NAME.sub(self.random.choice(others), lines[at], count=1)

    def _use_other(self, lines: list[str]) -> None:
        """Another value as an operand, or as what is yielded."""
        at = self._line(lines, r"%")
        if at is None:
            return
        begin = lines[at].find("=") + 1 if re.match(r"\s*%[^=]*=[^=]", lines[at]) else 0
        uses = [match.span() for match in _VALUE.finditer(lines[at], begin)]
        values = sorted(set(_VALUE.findall("\n".join(lines[: at + 1]))))
        if uses and values:
            a, b = self.random.choice(uses)
            lines[at] = lines[at][:a] + self.random.choice(values) + lines[at][b:]

    def _renumber(self, lines: list[str]) -> None:
        """Another number in an attribute or a constant."""
        at = self._line(lines, r"(?:= |: |, |<|\[|constant )-?\d")
        if at is None:
            return
        numbers = [m.span() for m in re.finditer(r"(?<![\w%@.#x-])-?\d+(?![\w.x])", lines[at])]
        if numbers:
            a, b = self.random.choice(numbers)
            value = int(lines[at][a:b])
            near = [str(value + 1), str(value - 1), str(-value), str(value * 2)]
            lines[at] = lines[at][:a] + self.random.choice(near + _NUMBERS[:9] + _NUMBERS) + lines[at][b:]

    def _drop_attribute(self, lines: list[str]) -> None:
        at = self._line(lines, r"\{\w+ = ")
        if at is not None:
            entries = [m.span() for m in re.finditer(r"\w[\w.]* = (?:[^,{}<>\[\]]|<[^<>]*>|\[[^\[\]]*\])+,?\s?", lines[at])]
            if entries:
                a, b = self.random.choice(entries)
                lines[at] = lines[at][:a] + lines[at][b:]

    def _attribute(self, lines: list[str]) -> None:
        at = self._line(lines, r"func\.func| : ")
        if at is not None:
            self._add_attribute(lines, at)

    def _fresh(self, line: str) -> str:
        """A line that defines another value."""
        return re.sub(r"^(\s*)%[\w$.-]+(?=(:\d+)? =)", rf"\g<1>%new{self.random.randrange(10000)}", line)

    def _repeat(self, lines: list[str]) -> None:
        """A line twice, or later than it was."""
        at = self.random.randrange(len(lines))
        if not lines[at].rstrip().endswith(("{", "}")):
            lines.insert(self.random.randrange(at, len(lines)) if self.random.random() < 0.5 else at + 1, self._fresh(lines[at]))

    def _insert(self, lines: list[str]) -> None:
        """A line of another program, on values of this one."""
        at = self._line(lines, r"^\s+%?\w")
        line = self.random.choice(self.lines)
        if at is None or line.rstrip().endswith(("{", "}")) or not _NAME.search(line):
            return
        values = sorted(set(_VALUE.findall("\n".join(lines[: at + 1]))))
        types = self._types(lines)
        head, equals, tail = self._fresh(line).partition(" = ") if re.match(r"\s*%[^=]*=", line) else ("", "", line)
        if values:
            tail = _VALUE.sub(lambda _: self.random.choice(values), tail)
        if types and self.random.random() < 0.7:
            kind = self.random.choice(types)
            tail = _TENSOR.sub(lambda _: kind, tail)
        lines.insert(at, head + equals + tail)

    def _drop_line(self, lines: list[str]) -> None:
        """A line whose value nobody uses, or that gives none."""
        text = "\n".join(lines)
        unused = []
        for number, line in enumerate(lines):
            value = re.match(r"\s*(%[\w$.-]+)(?::\d+)? =", line)
            if not line.rstrip().endswith(("{", "}")) and (value is None or len(re.findall(re.escape(value[1]) + r"\b", text)) == 1):
                unused.append(number)
        if unused:
            del lines[self.random.choice(unused)]

    # Changes of any token.

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
            position = self.random.choice([match.end() for match in re.finditer(r"\{", line)])
            lines[at] = line[:position] + attribute + (", " if line[position : position + 1] not in ("", "}") else "") + line[position:]
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
