"""`wf.save` and `wf.load`: trees there and back, what is refused, damaged and hostile files."""

import math
from collections import OrderedDict, defaultdict, namedtuple
from dataclasses import dataclass, field

import numpy as np
import pytest

import weft as wf

Point = namedtuple("Point", "x y")


@dataclass
class Config:
    rate: float
    sizes: list = field(default_factory=list)
    derived: int = field(init=False, default=0)

    def __post_init__(self):
        Config.calls += 1


Config.calls = 0


@dataclass(frozen=True, slots=True)
class Frozen:
    a: object


def same(a, b):
    """Whether two trees are alike, in types and elements too."""
    assert type(a) is type(b), (a, b)
    if isinstance(a, wf.Tensor | wf.Variable | np.ndarray | np.generic):
        assert a.dtype == b.dtype and tuple(a.shape) == tuple(b.shape)
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))
    elif isinstance(a, dict):
        assert list(a) == list(b) and [type(k) for k in a] == [type(k) for k in b]
        for key in a:
            same(a[key], b[key])
    elif isinstance(a, list | tuple):
        assert len(a) == len(b)
        for one, other in zip(a, b, strict=True):
            same(one, other)
    elif isinstance(a, Config | Frozen):
        for name in type(a).__dataclass_fields__:
            same(getattr(a, name), getattr(b, name))
    elif isinstance(a, float) and math.isnan(a):
        assert math.isnan(b)
    else:
        assert (a == b or a != a) and str(a) == str(b)


TREES = [
    None,
    True,
    7,
    -(2**63),
    2**64 - 1,
    10**40,
    0.1,
    -0.0,
    math.inf,
    -math.inf,
    math.nan,
    1 + 2j,
    complex(math.nan, -math.inf),
    "",
    'h\u00e9 "\\\n\x00\u4e16',
    [],
    (),
    {},
    [1, [2, (3, None, [])], {"a": {}}],
    {"b": 1, "a": 2, 3: "int", True: "bool", 2.5: "float", None: "none", "": "empty", "x.y": 0},
    OrderedDict(z=1, a=[2]),
    Point(1, Point("x", None)),
    Frozen({"k": (1,)}),
    wf.tensor(1.5),
    wf.zeros((0, 3)),
    {"w": wf.arange(6).reshape((2, 3)).T, "b": [wf.tensor([True, False]), wf.tensor([1.0], dtype="float64")]},
    np.arange(6.0).reshape(2, 3)[:, ::-1],
    [np.float64(0.1), np.float32(0.1), np.int64(3), np.bool_(True), np.array(4), np.zeros((2, 0), "i4")],
    [wf.Variable([1.0, 2.0], name="w", trainable=False)],
]


@pytest.mark.parametrize("tree", TREES, ids=range(len(TREES)))
def test_there_and_back(tmp_path, tree):
    path = tmp_path / "tree.weft"
    wf.save(path, tree)
    again = wf.load(path)
    same(tree, again)
    wf.save(path, {"nested": [again]})
    same({"nested": [tree]}, wf.load(str(path)))


def test_dataclasses_and_variables(tmp_path):
    path = tmp_path / "tree.weft"
    config = Config(0.5, [wf.ones(2), "x"])
    config.derived = 7
    calls = Config.calls
    wf.save(path, config)
    same(config, wf.load(path))
    assert Config.calls == calls  # no constructor runs
    v = wf.Variable([1.0], name="w", trainable=False)
    x = wf.tensor([3.0])
    wf.save(path, [v, {"v": v}, x, x])
    a, b, y, z = wf.load(path)
    assert a is b["v"] and a is not v and y is z
    assert a.name == "w" and not a.trainable and a.numpy() == [1]
    assert sorted(wf.io.safetensors_names(path)) == ["0", "2"]
    a.assign([5.0])
    assert v.numpy() == [1]


def test_arrays_are_the_callers(tmp_path):
    path = tmp_path / "tree.weft"
    values = np.arange(3.0)
    wf.save(path, values)
    values[0] = 9
    again = wf.load(path)
    assert again.flags.writeable and again[0] == 0
    big_endian = np.arange(3, dtype=">f4")
    wf.save(path, big_endian)
    np.testing.assert_array_equal(wf.load(path), big_endian)


def test_classes_of_a_function(tmp_path):
    path = tmp_path / "tree.weft"
    Local = namedtuple("Local", "x")

    @dataclass
    class Inner:
        x: int

    wf.save(path, [Local(1), Inner(2)])
    with pytest.raises(wf.IOError, match=r"'0' is of the class 'test_save:Local', which is in no module that is imported"):
        wf.load(path)
    assert wf.load(path, types=[Local, Inner]) == [Local(1), Inner(2)]

    @dataclass
    class Inner:  # noqa: F811
        x: int
        y: int = 0

    with pytest.raises(wf.IOError, match=r"'1' has the fields \(x\), but the class .* has \(x, y\)"):
        wf.load(path, types=[Local, Inner])
    with pytest.raises(wf.DTypeError, match="types has 'Local'"):
        wf.load(path, types=["Local"])


class Texts(str):
    pass


class Linear(wf.Module):
    def __init__(self):
        self.w = wf.Variable([1.0])


@pytest.mark.parametrize(
    ("tree", "error", "words"),
    [
        ({"a": [{1}]}, wf.DTypeError, r"save: 'a\.0' is of type set: a file holds lists"),
        (defaultdict(list), wf.DTypeError, "the tree is of type collections.defaultdict"),
        ([Texts("x")], wf.DTypeError, "'0' is of type Texts"),
        ([b"x"], wf.DTypeError, "'0' is of type bytes"),
        ([Linear()], wf.DTypeError, "'0' is of type Linear, which only the program makes: a Checkpoint"),
        ([wf.nn.Dense(3)], wf.DTypeError, "which only the program makes"),
        ({"f": len}, wf.DTypeError, "'f' is of type builtin_function_or_method"),
        ({(1, 2): 3}, wf.DTypeError, r"has a key of type tuple, \(1, 2\): files hold keys"),
        ([np.zeros(2, "complex256")], wf.DTypeError, "'0' is an array of complex256, which no dtype of Weft is"),
        ([np.zeros(2, "longdouble")], wf.DTypeError, "'0' is an array of .*, which no dtype of Weft is"),
        ([np.ma.masked_array([1.0, 2.0], [0, 1])], wf.DTypeError, "'0' is of type .*MaskedArray: make it a tensor"),
        (["\ud800"], wf.ValueError, "'0' is a text that is not UTF-8"),
    ],
    ids=range(12),
)
def test_what_is_refused(tmp_path, tree, error, words):
    path = tmp_path / "tree.weft"
    with pytest.raises(error, match=words):
        wf.save(path, tree)
    assert not list(tmp_path.iterdir())


def test_cycles_and_traces(tmp_path):
    path = tmp_path / "tree.weft"
    loop = []
    loop.append(loop)
    with pytest.raises(wf.ValueError, match="nested deeper than 256"):
        wf.save(path, loop)
    deep = None
    for _ in range(256):
        deep = [deep]
    wf.save(path, deep)
    same(deep, wf.load(path))
    deep = None
    for _ in range(80):
        deep = {"a": Point(0, [deep])}
    wf.save(path, deep)
    same(deep, wf.load(path))

    @wf.function
    def traced(x):
        wf.save(path, x)
        return x

    with pytest.raises(wf.StateError, match="save: inside of a traced function"):
        traced(wf.ones(2))
    wf.save(path, "before")
    with pytest.raises(wf.DTypeError):
        wf.save(path, [1, {2}])
    assert wf.load(path) == "before"


def test_errors_of_files(tmp_path):
    path = tmp_path / "no folder" / "tree.weft"
    with pytest.raises(wf.IOError, match="tree.weft"):
        wf.save(path, 1)
    with pytest.raises(wf.IOError, match="tree.weft"):
        wf.load(path)
    path = tmp_path / "named.safetensors"
    wf.io.save_safetensors(path, {"w": [1.0]})
    with pytest.raises(wf.IOError, match="named.safetensors: holds no tree: it is a file of named tensors"):
        wf.load(path)


def test_changed_bytes(tmp_path):
    path = tmp_path / "tree.weft"
    wf.save(path, {"w": wf.arange(4), "note": "x"})
    data = path.read_bytes()
    for i in range(0, len(data), 3):
        path.write_bytes(data[:i] + bytes([data[i] ^ 4]) + data[i + 1 :])
        with pytest.raises(wf.IOError, match="tree.weft"):
            wf.load(path)
        path.write_bytes(data[:i])
        with pytest.raises(wf.IOError, match="tree.weft"):
            wf.load(path)


