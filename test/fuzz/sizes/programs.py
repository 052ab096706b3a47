"""Random programs of indices and ops that move, join and reduce, as text in NumPy's names, with the shapes they are called with."""

import dataclasses
import random
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

MOST = 3000  # elements of a value
SIZES = (0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 6)


class NumPy:
    """What the programs call, by NumPy."""

    reshape, transpose, moveaxis, expand_dims = np.reshape, np.transpose, np.moveaxis, np.expand_dims
    concatenate, stack, roll, diff = np.concatenate, np.stack, np.roll, np.diff
    tile, repeat, where, sort, flip, broadcast_to = np.tile, np.repeat, np.where, np.sort, np.flip, np.broadcast_to
    unique, compress, split, array_split, diagonal, diag = np.unique, np.compress, np.split, np.array_split, np.diagonal, np.diag

    @staticmethod
    def sum(x, axis=None, keepdims=False):
        return np.sum(x, axis=axis, keepdims=keepdims, dtype=x.dtype)

    @staticmethod
    def max(x, axis=None, keepdims=False):
        return np.max(x, axis=axis, keepdims=keepdims)

    @staticmethod
    def min(x, axis=None, keepdims=False):
        return np.min(x, axis=axis, keepdims=keepdims)

    @staticmethod
    def argmax(x, axis=None):
        return np.argmax(x, axis=axis).astype(x.dtype)

    @staticmethod
    def cumsum(x, axis):
        return np.cumsum(x, axis=axis, dtype=x.dtype)

    @staticmethod
    def pad(x, low, high):
        return np.pad(x, list(zip(low, high, strict=True)), constant_values=7)

    @staticmethod
    def size(x, axis):
        return x.shape[axis]

    @staticmethod
    def nonzero(x, axis):
        return np.nonzero(x)[axis].astype(np.float32)

    @staticmethod
    def up_to(x, axis, size):
        found = np.nonzero(x)[axis][:size]
        return np.pad(found, (0, size - found.size), constant_values=7).astype(np.float32)

    @staticmethod
    def argwhere(x):
        return np.argwhere(x).astype(np.float32)

    @staticmethod
    def part(parts, i):
        return parts[i]

    @staticmethod
    def arange(x, axis):
        return np.arange(x.shape[axis], dtype=x.dtype)


def weft_names() -> Any:
    """The same by Weft."""
    import weft as wf

    class Weft:
        reshape, transpose, moveaxis, expand_dims = wf.reshape, wf.transpose, wf.moveaxis, wf.expand_dims
        concatenate, stack, roll, diff = wf.concatenate, wf.stack, wf.roll, wf.diff
        tile, repeat, where, sort, flip, broadcast_to = wf.tile, wf.repeat, wf.where, wf.sort, wf.reverse, wf.broadcast_to
        unique, compress, split, array_split, diagonal, diag = wf.unique, wf.compress, wf.split, wf.array_split, wf.diagonal, wf.diag
        sum, max, min, cumsum, size = wf.sum, wf.max, wf.min, wf.cumsum, wf.size

        @staticmethod
        def argmax(x, axis=None):
            return wf.cast(wf.argmax(x, axis), x.dtype)

        @staticmethod
        def nonzero(x, axis):
            return wf.cast(wf.nonzero(x)[axis], wf.float32)

        @staticmethod
        def up_to(x, axis, size):
            return wf.cast(wf.nonzero(x, size=size, fill_value=7)[axis], wf.float32)

        @staticmethod
        def argwhere(x):
            return wf.cast(wf.argwhere(x), wf.float32)

        @staticmethod
        def part(parts, i):
            return parts[i]

        @staticmethod
        def pad(x, low, high):
            return wf.pad_interior(x, 7, low, high, [0] * len(low))

        @staticmethod
        def arange(x, axis):
            return wf.arange(wf.size(x, axis), dtype=x.dtype)

    return Weft


@dataclasses.dataclass
class Program:
    """Steps on a value x; i is a vector of positions that are 0 or -1, which are in range wherever there is an element."""

    seed: int
    steps: list[str]
    shapes: list[tuple[int, ...]]
    counts: list[int]
    open_axes: list[bool]
    signature: bool

    @property
    def text(self) -> str:
        return "\n".join(["def program(x, i):", *(f"    x = {step}" for step in self.steps), "    return x"])

    def compiled(self, names: Any) -> Any:
        scope = {"m": names}
        exec(compile(self.text, f"<program {self.seed}>", "exec"), scope)
        return scope["program"]

    def inputs(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for shape, count in zip(self.shapes, self.counts, strict=True):
            rng = np.random.default_rng(self.seed)
            yield rng.integers(-9, 99, shape).astype(np.float32), rng.integers(-1, 1, count)


class Writer:
    """Writes one program: every step is one that NumPy can do on most of the values."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.seed = seed

    def write(self) -> Program:
        draw = self.random
        rank = draw.choice((1, 2, 2, 3, 3, 3, 4))
        opened = [draw.random() < 0.7 for _ in range(rank)]
        if not any(opened):
            opened[draw.randrange(rank)] = True
        fixed = [draw.choice(SIZES) for _ in range(rank)]
        shapes = []
        while len(shapes) < 3:
            shapes.append(tuple(draw.choice(SIZES) if o else n for o, n in zip(opened, fixed, strict=True)))
        counts = [draw.choice((0, 1, 2, 3)) for _ in shapes]
        program = Program(self.seed, [], shapes, counts, opened, draw.random() < 0.6)
        values = list(program.inputs())
        for _ in range(draw.choice((1, 1, 2, 2, 3, 4))):
            for _attempt in range(12):
                step = self._step(next((x for x, _ in values if x is not None), None), program)
                after = [(self._done(step, x, i), i) for x, i in values]
                ranks = {x.ndim for x, _ in after if x is not None}
                lost = sum(x is None for x, _ in after) - sum(x is None for x, _ in values)
                if len(ranks) != 1 or lost > (draw.random() < 0.15) or any(x is not None and x.size > MOST for x, _ in after):
                    continue
                program.steps.append(step)
                values = after
                break
        if not program.steps:
            program.steps.append("x")
        return program

    @staticmethod
    def _done(step: str, x: Any, i: Any) -> Any:
        if x is None:
            return None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return eval(step, {"m": NumPy, "x": x, "i": i})
        except (ValueError, IndexError, TypeError):
            return None

    def _axis(self, x: Any) -> int:
        return self.random.randrange(x.ndim) - self.random.choice((0, 0, 0, x.ndim))

    def _axes(self, x: Any) -> tuple[int, ...]:
        return tuple(sorted(self.random.sample(range(x.ndim), self.random.randint(1, x.ndim))))

    def _step(self, x: Any, program: Program) -> str:
        draw = self.random
        if x.ndim == 0:
            return draw.choice(["x[None]", "x + 1", "m.expand_dims(x, 0)", "x[...]", "m.reshape(x, [1, -1])"])
        kind = draw.random()
        if kind < 0.5:
            return f"x[{self._key(x)}]"
        axis, axes = self._axis(x), self._axes(x)
        keep = draw.random() < 0.4
        order = draw.sample(range(x.ndim), x.ndim)
        some = self._slice()
        before = ":, " * (axis % x.ndim)
        by = draw.choice((-7, -2, -1, 1, 2, 3, 11))
        choices = [
            f"m.transpose(x, {order})",
            f"m.sum(x, axis={axes}, keepdims={keep})",
            f"m.max(x, axis={axes}, keepdims={keep})",
            f"m.min(x, axis={axis}, keepdims={keep})",
            f"m.argmax(x, axis={axis})",
            f"m.concatenate([x, x], {axis % x.ndim})",
            f"m.concatenate([x[{before}{some}], x], {axis % x.ndim})",
            f"m.stack([x, x], {draw.randint(0, x.ndim)})",
            f"m.flip(x, {axis})",
            f"m.roll(x, {by}, {axis})",
            f"m.roll(x, {by})",
            f"m.diff(x, {draw.choice((1, 1, 2))}, {axis})",
            f"m.cumsum(x, {axis % x.ndim})",
            f"m.pad(x, {[draw.choice((0, 0, 1, 2)) for _ in range(x.ndim)]}, {[draw.choice((0, 0, 1, 3)) for _ in range(x.ndim)]})",
            f"m.repeat(x, {draw.choice((0, 1, 2))}, {axis})",
            f"m.tile(x, {[draw.choice((1, 2)) for _ in range(x.ndim)]})",
            f"m.expand_dims(x, {draw.randint(0, x.ndim)})",
            f"m.moveaxis(x, {axis}, {self._axis(x)})",
            f"m.where(x > 9, x, {draw.choice(('0', '-x', 'x + 1'))})",
            f"m.sort(x, {axis})",
            "m.reshape(x, -1)",
            f"m.reshape(x, {self._shape(x)})",
            f"m.reshape(x, [{', '.join(f'm.size(x, {n})' for n in order)}])",
            f"m.reshape(x, [-1, m.size(x, {axis})])",
            f"m.reshape(x, [m.size(x, {axis}), -1])",
            f"m.broadcast_to(x, [2, {', '.join(f'm.size(x, {n})' for n in range(x.ndim))}])",
            f"x[{before}:m.size(x, {axis}) - 1]",
            f"x[{before}m.size(x, {self._axis(x)}) - 2:]",
            f"x[{before}m.size(x, {self._axis(x)})::-{draw.choice((1, 2))}]",
            f"x + m.arange(x, {x.ndim - 1})",
            f"x - m.max(x, axis={axes}, keepdims=True)",
            f"x + m.sum(x, axis={axes}, keepdims=True)",
            f"m.roll(x, m.size(x, {axis}) - {by}, {axis})",
            f"m.repeat(x, m.size(x, {self._axis(x)}), {axis})",
            f"m.part(m.split(m.concatenate([x, x], {axis % x.ndim}), 2, {axis}), {draw.randrange(2)})",
            f"m.part(m.split(x, [m.size(x, {axis}) - 1], {axis}), {draw.randrange(2)})",
            f"m.part(m.array_split(x, 3, {axis}), {draw.randrange(3)})",
            "x[x > 9]",
            f"x[{before}m.sum(x, axis={tuple(a for a in range(x.ndim) if a != axis % x.ndim)}) > 30]",
            f"m.compress(m.max(m.moveaxis(x, {axis}, 0) * 0 + m.moveaxis(x, {axis}, 0), axis={tuple(range(1, x.ndim))}) > 9, x, {axis})",
            "m.unique(x)",
            f"m.nonzero(x > 9, {axis})",
            f"m.up_to(x > 9, {axis}, {draw.choice((0, 1, 3, 30))})",
            "m.argwhere(x > 50)",
            *([f"m.diagonal(x, {by}, 0, {x.ndim - 1})"] if x.ndim > 1 else [f"m.diag(x, {by})"]),
        ]
        return draw.choice(choices)

    def _shape(self, x: Any) -> list[int]:
        """A shape of as many elements, as the first value has them, or one that follows."""
        draw = self.random
        shape = list(x.shape)
        if draw.random() < 0.5 and x.ndim > 1:
            at = draw.randrange(x.ndim - 1)
            shape[at : at + 2] = [shape[at] * shape[at + 1]]
        elif draw.random() < 0.5:
            shape.insert(draw.randint(0, len(shape)), 1)
        if shape and draw.random() < 0.8:
            shape[draw.randrange(len(shape))] = -1
        return shape

    def _bound(self) -> str:
        return self.random.choice(("", "", "", "0", "1", "2", "3", "4", "5", "9", "-1", "-1", "-2", "-3", "-4", "-9"))

    def _slice(self) -> str:
        draw = self.random
        step = draw.choice(("", "", "", "", ":1", ":2", ":3", ":-1", ":-2", ":7", ":-9"))
        return f"{self._bound()}:{self._bound()}{step}"

    def _key(self, x: Any) -> str:
        draw = self.random
        taken = draw.randint(0, x.ndim)
        style = draw.random()
        entries = []
        arrays = 0
        for axis in range(taken):
            kind = draw.random()
            if kind < 0.45:
                entries.append(self._slice())
            elif kind < 0.6:
                entries.append(":")
            elif kind < 0.75 or style < 0.6:
                entries.append(str(draw.choice((0, 0, 0, -1, -1, 1, 2, -2))))
            elif arrays < 2:
                arrays += 1
                entries.append(draw.choice(("i", "i", "[0, -1]", "[0]", "[1, 0, 0]", "[[0], [-1]]", "[]", "i[:, None]", self._mask(x, axis))))
            else:
                entries.append(":")
        if draw.random() < 0.3:
            entries.insert(draw.randint(0, len(entries)), "...")
        elif draw.random() < 0.2 and entries:
            # the last axes
            entries.insert(0, "...")
        while draw.random() < 0.3:
            entries.insert(draw.randint(0, len(entries)), "None")
        return ", ".join(entries) + ("," if len(entries) == 1 and draw.random() < 0.3 else "") if entries else "..."

    def _mask(self, x: Any, axis: int) -> str:
        return str([self.random.random() < 0.5 for _ in range(x.shape[axis])])
