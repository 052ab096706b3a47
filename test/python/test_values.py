"""Making tensors of numbers, lists, arrays and buffers, and getting them back."""

import array
import copy
import ctypes
import enum
import math
import pickle

import numpy as np
import pytest

import weft as wf

DTYPES = ["bool", "int32", "int64", "float32", "float64"]


def same(tensor, array):
    """Whether a tensor has an array's dtype, shape and bits."""
    got = np.asarray(tensor)
    assert str(tensor.dtype) == str(array.dtype)
    assert got.shape == array.shape
    np.testing.assert_array_equal(got, array)


@pytest.mark.parametrize(
    ("value", "dtype", "shape"),
    [
        (True, "bool", ()),
        (3, "int32", ()),
        (2**40, "int64", ()),
        (1.5, "float32", ()),
        ([], "float32", (0,)),
        ([[], []], "float32", (2, 0)),
        ([1, 2], "int32", (2,)),
        ([1, 2**33], "int64", (2,)),
        ([True, 2], "int32", (2,)),
        ([True, False], "bool", (2,)),
        ([[1, 2.5]], "float32", (1, 2)),
        (((1, 2), (3, 4)), "int32", (2, 2)),
        (range(5), "int32", (5,)),
        ([[[1], [2]], [[3], [4]]], "int32", (2, 2, 1)),
    ],
)
def test_numbers_and_lists(value, dtype, shape):
    tensor = wf.tensor(value)
    assert tensor.dtype == dtype
    assert tensor.shape == shape
    np.testing.assert_array_equal(np.asarray(tensor), np.array(value if not isinstance(value, range) else list(value)))


@pytest.mark.parametrize(
    "value", [[[1, 2], [3]], [1, [2]], [[1], 2], [[], 1], [[1, 2], [3, [4]]], [[[]], []], [[1], []], [[], [[]]]]
)
def test_ragged_lists_are_refused(value):
    with pytest.raises(wf.ValueError, match=r"test_values.py:\d+: tensor: value is ragged: the element at"):
        wf.tensor(value)


def test_a_list_that_holds_itself_is_refused():
    value = []
    value.append(value)
    with pytest.raises(wf.ShapeError, match="nested deeper than 64"):
        wf.tensor(value)


@pytest.mark.parametrize("value", [None, "text", b"bytes", {1: 2}, {1, 2}, object(), [None], ["a"], iter([1])])
def test_what_has_no_elements_is_refused(value):
    with pytest.raises(wf.DTypeError, match="tensor: value"):
        wf.tensor(value)


def test_large_numbers():
    assert wf.tensor(2**63 - 1).item() == 2**63 - 1
    assert wf.tensor(2**70, dtype="float64").item() == 2.0**70
    for value in (2**64, -(2**63) - 1, [2**63, -1]):
        with pytest.raises(wf.ValueError):
            wf.tensor(value)
    with pytest.raises(wf.ValueError):
        wf.tensor([2**40], dtype="int32")


def test_subclasses_of_numbers():
    class Colour(enum.IntEnum):
        RED = 7

    assert wf.tensor(Colour.RED).item() == 7
    assert wf.tensor([Colour.RED]).dtype == "int32"


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (2, 0, 3), (1, 1, 1, 1)])
def test_arrays_there_and_back(dtype, shape):
    values = np.random.default_rng(1).integers(0, 2 if dtype == "bool" else 100, shape).astype(dtype)
    for created in (wf.tensor(values), wf.asarray(values), wf.from_dlpack(values), wf.tensor(memoryview(values))):
        same(created, values)
        assert created.tolist() == values.tolist()
        assert created.ndim == values.ndim and created.size == values.size and created.nbytes == values.nbytes


def test_halves():
    values = np.arange(0, 65536, 7, dtype=np.uint16).view(np.float16)
    for tensor in (wf.tensor(values), wf.from_dlpack(values), wf.asarray(values, copy=False), wf.from_dlpack(wf.tensor(values))):
        same(tensor, values)


@pytest.mark.parametrize(
    "values",
    [
        np.zeros(2, "complex256"),
        np.zeros(2, "datetime64[s]"),
        np.zeros(2, "longdouble"),
        np.zeros(2, [("a", "f4")]),
        np.array(["a"]),
        np.array([1, "a"], object),
    ],
    ids=lambda values: str(values.dtype),
)
def test_dtypes_that_are_not_there(values):
    for make in (wf.tensor, wf.asarray):
        with pytest.raises(wf.DTypeError, match="no dtype holds"):
            make(values)


def test_bfloat16_of_ml_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    values = np.array([[1, 2.5, -3e38], [0, np.inf, 1e-40]], ml_dtypes.bfloat16)
    for tensor in (wf.tensor(values), wf.asarray(values), wf.tensor(values.T).T):
        same(tensor, values)
    assert wf.tensor(ml_dtypes.bfloat16(1.5)).item() == 1.5 and (wf.tensor(values) + values).dtype == "bfloat16"


def test_big_endian_unaligned_and_strided_arrays_are_copied():
    values = np.arange(24, dtype=">f4").reshape(4, 6)
    same(wf.tensor(values), values.astype("f4"))
    same(wf.tensor(np.arange(5, dtype=">i8")), np.arange(5))
    raw = np.zeros(41, np.uint8)
    unaligned = raw[1:].view("f4")
    unaligned[:] = range(10)
    assert not unaligned.flags.aligned
    same(wf.tensor(unaligned), np.arange(10, dtype="f4"))
    same(wf.asarray(unaligned), np.arange(10, dtype="f4"))
    for wrong in (values, unaligned):
        with pytest.raises(wf.ValueError, match="byte order|not aligned"):
            wf.asarray(wrong, copy=False)
    strided = np.arange(24, dtype="f4").reshape(4, 6)[::-2, 1::2]
    same(wf.tensor(strided), strided.copy())
    same(wf.asarray(strided), strided.copy())
    same(wf.asarray(strided) + 1, strided + 1)
    same(wf.asarray(np.broadcast_to(np.float32(3), (2, 2))), np.full((2, 2), 3, "f4"))


def test_bools_that_are_neither_0_nor_1():
    values = np.array([0, 1, 2, 255], np.uint8).view(bool)
    assert wf.tensor(values).tolist() == [False, True, True, True]
    assert wf.asarray(values).tolist() == [False, True, True, True]


def test_read_only_arrays():
    values = np.arange(4, dtype="f4")
    values.flags.writeable = False
    for created in (wf.asarray(values, copy=False), wf.from_dlpack(values)):
        same(created, values)


def test_sharing_and_copying():
    values = np.arange(6, dtype="f4").reshape(2, 3)
    shared, shared_strided, copied = wf.asarray(values), wf.asarray(values.T, copy=False), wf.tensor(values)
    forced = wf.asarray(values, copy=True)
    values[0, 0] = 9
    assert shared[0, 0].item() == 9 and shared_strided[0, 0].item() == 9
    assert copied[0, 0].item() == 0 and forced[0, 0].item() == 0
    assert np.shares_memory(np.asarray(copied), np.asarray(copied))
    assert not np.asarray(copied).flags.writeable
    assert copied.numpy().flags.writeable
    mine = copied.numpy()
    mine[:] = 7
    assert copied[0, 1].item() == 1


def test_memory_outlives_its_array(live):
    created = wf.asarray(np.arange(1000, dtype="f4"))
    view = np.asarray(created * 1)
    again = np.from_dlpack(wf.arange(1000.0))
    assert created[999].item() == 999 and view[999] == 999 and again[999] == 999
    del created, view, again


def test_buffers():
    assert wf.tensor(array.array("d", [1, 2])).dtype == "float64"
    assert wf.tensor(bytearray(b"\x01\xff")).tolist() == [1, 255]
    assert wf.tensor((ctypes.c_int * 3)(1, 2, 3)).tolist() == [1, 2, 3]
    view = memoryview(wf.tensor([[1, 2, 3], [4, 5, 6]]))
    assert view.readonly and view.shape == (2, 3) and view.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert memoryview(wf.tensor([[1, 2, 3], [4, 5, 6]])[:, 1]).tolist() == [2, 5]
    assert bytes(wf.tensor([True, False])) == b"\x01\x00"
    with pytest.raises((BufferError, TypeError)):
        ctypes.c_float.from_buffer(wf.tensor([1.0]))
    with pytest.raises((BufferError, ValueError)):
        np.frombuffer(wf.asarray(np.ones((4, 4), "f4")[:, 0]), "f4")


def test_array_protocol():
    x = wf.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert x.__array__("float64").dtype == np.float64
    assert x.__array__(np.float32, copy=False).base is not None
    with pytest.raises(ValueError, match="copy is False"):
        x.__array__(np.int32, copy=False)
    assert np.array(x, dtype="int64").tolist() == [[1, 2], [3, 4]]
    assert isinstance(wf.tensor(2.0).numpy(), np.float32)
    assert np.sum(x) == 10 and np.concatenate([x, x]).shape == (4, 2) and np.linalg.norm(x) > 5
    assert isinstance(np.multiply(x, x), np.ndarray)


def test_objects_with_only_an_array():
    class Series:
        def __array__(self, dtype=None, copy=None):
            return np.array([1.0, 2.0], dtype or "f4")

    assert (wf.tensor([1.0, 1.0]) + Series()).tolist() == [2, 3]

    class Broken:
        def __array__(self, dtype=None, copy=None):
            raise RuntimeError("not today")

    with pytest.raises(RuntimeError, match="not today"):
        wf.tensor(Broken())


def test_lists_of_tensors_are_stacked_and_have_gradients():
    a, b = wf.tensor(2.0), wf.Variable(3.0)
    with wf.GradientTape() as tape:
        tape.watch(a)
        y = wf.sum(wf.tensor([[a, b], [1.0, a]]) * wf.tensor([[1.0, 10.0], [100.0, 1000.0]]))
    da, db = tape.gradient(y, [a, b])
    assert da.item() == 1001 and db.item() == 10
    assert wf.tensor([np.float32(1), np.float32(2)]).dtype == "float32"
    with pytest.raises(wf.ValueError, match="ragged"):
        wf.tensor([wf.ones(2), wf.ones(3)])


def capsule_without_elements(*sizes):
    """DLPack's struct of floats with a null pointer, as a capsule; and what must outlive it."""
    integer = ctypes.c_int64

    class Managed(ctypes.Structure):
        _fields_ = [
            ("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32),
            ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
            ("shape", ctypes.POINTER(integer)), ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64),
            ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
        ]  # fmt: skip

    shape = (integer * len(sizes))(*sizes)
    managed = Managed(None, (1, 0), len(sizes), 2, 32, 1, ctypes.cast(shape, ctypes.POINTER(integer)), None, 0)
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return make(ctypes.addressof(managed), b"dltensor", None), (managed, shape)


def test_dlpack_without_elements():
    for sizes in ((3,), (2, 2), ()):
        capsule, kept = capsule_without_elements(*sizes)
        with pytest.raises(wf.ValueError, match="pointer to them is null"):
            wf.from_dlpack(capsule)
    capsule, kept = capsule_without_elements(3, 0)
    assert wf.from_dlpack(capsule).shape == (3, 0)


def test_dlpack_capsules():
    x = wf.tensor([1.0, 2.0])
    assert x.__dlpack_device__() == (1, 0)
    old, new = x.__dlpack__(), x.__dlpack__(max_version=(1, 0))
    assert '"dltensor"' in repr(old) and '"dltensor_versioned"' in repr(new)
    for capsule in (old, new):
        assert wf.from_dlpack(capsule).tolist() == [1, 2]
        with pytest.raises(wf.ValueError, match="taken already"):
            wf.from_dlpack(capsule)
    assert not np.from_dlpack(x).flags.writeable
    assert np.from_dlpack(x, copy=True).flags.writeable
    with pytest.raises(BufferError):
        x.__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError):
        x.__dlpack__(stream=1)
    with pytest.raises((AttributeError, TypeError)):
        wf.from_dlpack([1, 2])
    with pytest.raises(wf.DeviceError, match="from_dlpack: cannot use gpu:99"):
        wf.from_dlpack(x, device="gpu:99")


def test_dlpack_from_before_version_1():
    class Old:
        def __dlpack__(self, stream=None):
            return np.arange(3.0).__dlpack__()

        def __dlpack_device__(self):
            return (1, 0)

    assert wf.from_dlpack(Old()).tolist() == [0, 1, 2]


def test_dlpack_keeps_errors_of_the_method():
    """An AttributeError inside a library's own export is not taken for an object without one."""

    class Broken:
        def __dlpack__(self, *, max_version=None):
            return self.missing

    for convert in (wf.from_dlpack, wf.asarray, wf.tensor):
        with pytest.raises(AttributeError, match="missing"):
            convert(Broken())


@pytest.mark.parametrize("name", ["torch", "jax.numpy"])
def test_dlpack_of_others(name):
    other = pytest.importorskip(name)
    theirs = other.arange(6.0)
    assert wf.from_dlpack(theirs).tolist() == [0, 1, 2, 3, 4, 5]
    assert wf.tensor(theirs).dtype == "float32"


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(protocol):
    for dtype in DTYPES:
        x = wf.tensor(np.arange(6).reshape(2, 3) % 2, dtype=dtype)
        for y in (x, x[:, 1], x[0, 0], wf.zeros((0, 2), dtype)):
            again = pickle.loads(pickle.dumps(y, protocol))
            same(again, np.asarray(y))
    variable = pickle.loads(pickle.dumps(wf.Variable([1.0], name="w", trainable=False), protocol))
    assert variable.name == "w" and not variable.trainable and variable.numpy() == [1]
    assert pickle.loads(pickle.dumps(wf.float32, protocol)) is wf.float32


def test_pickle_out_of_band_and_damaged():
    buffers = []
    data = pickle.dumps(wf.arange(1000.0), 5, buffer_callback=buffers.append)
    assert len(data) < 300 and len(buffers) == 1
    assert pickle.loads(data, buffers=buffers)[999].item() == 999
    with pytest.raises(wf.ValueError, match="does not fit"):
        pickle.loads(data, buffers=[b"1234"])


def test_copies():
    x = wf.tensor([1.0, 2.0])
    for y in copy.copy(x), copy.deepcopy([x])[0]:
        assert y is not x and y.tolist() == x.tolist()
    v = wf.Variable([1.0])
    w = copy.deepcopy(v)
    w.assign([5.0])
    assert v.numpy() == [1] and w.numpy() == [5]


def test_numbers_of_python():
    assert int(wf.tensor(3.7)) == 3 and float(wf.tensor(2)) == 2.0 and bool(wf.tensor([[1]]))
    assert not wf.tensor(0.0) and wf.tensor(math.nan)
    assert [10, 20, 30][wf.tensor(1)] == 20 and list(range(wf.tensor(3))) == [0, 1, 2]
    assert f"{wf.tensor(3.14159):.3f}" == "3.142" and "%d %5.1f" % (wf.tensor(7), wf.tensor(2.25)) == "7   2.2"
    assert f"{wf.tensor(1234567):,}" == "1,234,567"
    with pytest.raises(wf.DTypeError, match="no index"):
        [1, 2][wf.tensor(1.0)]
    with pytest.raises(ValueError, match="ambiguous"):
        bool(wf.ones(2))
    with pytest.raises(ValueError, match=r"shape \(2,\)"):
        float(wf.ones(2))
    with pytest.raises(TypeError, match="single number"):
        format(wf.ones(2), ".3f")


def test_sequences():
    x = wf.tensor([[1, 2], [3, 4]])
    assert len(x) == 2 and [row.tolist() for row in x] == [[1, 2], [3, 4]]
    a, b = x
    assert b.tolist() == [3, 4]
    assert 3 in x and 9 not in x and "a" not in x
    for operation in (len, iter, list):
        with pytest.raises(TypeError, match="rank 0"):
            operation(wf.tensor(1))
    assert list(wf.zeros((0, 3))) == []


def test_tensors_have_no_hash():
    x = wf.ones(3)
    with pytest.raises(TypeError, match="unhashable"):
        hash(x)
    with pytest.raises(AttributeError):
        x.name = "x"
    y = x
    y += 1
    assert x.tolist() == [1, 1, 1] and y.tolist() == [2, 2, 2]


def test_half_made_objects_are_refused():
    for make in (wf.Tensor, lambda: wf.Tensor.__new__(wf.Tensor), lambda: wf.Tensor([1])):
        with pytest.raises(TypeError, match="weft.tensor"):
            make()
    with pytest.raises(TypeError):
        object.__new__(wf.Tensor)
    with pytest.raises(TypeError):
        type("Mine", (wf.Tensor,), {})
    half = wf.Variable.__new__(wf.Variable)
    for use in (lambda: half.name, lambda: half + 1, lambda: half.assign(1), lambda: wf.sum(half), lambda: half[0]):
        with pytest.raises(TypeError, match="this Variable was never initialized: make one by a call of its class"):
            use()
    half.__init__(3.0)
    assert (half + 1).item() == 4
    with pytest.raises(wf.StateError, match="already"):
        half.__init__(4.0)


def test_weak_references():
    import weakref

    x = wf.ones(2)
    gone = weakref.ref(x)
    assert gone() is x
    del x
    assert gone() is None


def test_dtypes():
    assert wf.float32 == "float32" == wf.float32 and wf.float32 == "f32" and wf.float32 == np.float32
    assert wf.float32 == np.dtype("float32") and wf.float32 != "float64" and wf.int32 == int and wf.float32 != None  # noqa: E711
    assert np.dtype(wf.int64) == np.int64 and np.zeros(2, wf.float64).dtype == np.float64
    assert {wf.float32: 1}["float32"] == 1
    assert repr(wf.bool_) == "weft.bool" and str(wf.int32) == "int32" and wf.float64.itemsize == 8
    for wrong in ("complex256", "", 3, None, np.longdouble, str, object()):
        with pytest.raises(wf.DTypeError, match="names no dtype"):
            wf.dtype(wrong)
    for right in ("float32", "f32", float, np.float32, np.dtype("f4"), wf.float32):
        assert wf.dtype(right) is wf.float32


def test_creation():
    same(wf.zeros((2, 3)), np.zeros((2, 3), "f4"))
    same(wf.zeros(3, "int32"), np.zeros(3, "i4"))
    same(wf.ones([2], dtype=wf.bool_), np.ones(2, bool))
    same(wf.full((2,), 7), np.full(2, 7, "i4"))
    same(wf.full((2,), 7, "float64"), np.full(2, 7.0))
    same(wf.eye(3), np.eye(3, dtype="f4"))
    same(wf.zeros_like(np.ones((2, 2))), np.zeros((2, 2)))
    same(wf.ones_like([1, 2], dtype="float64"), np.ones(2))
    same(wf.full_like([1.0, 2.0], 3), np.full(2, 3, "f4"))
    for arguments in [(5,), (2, 8), (2, 8, 3), (8, 2, -2), (0, 0)]:
        same(wf.arange(*arguments), np.arange(*arguments, dtype="i4"))
    same(wf.arange(0, 1, 0.25), np.arange(0, 1, 0.25, dtype="f4"))
    same(wf.linspace(0, 1, 7, dtype="float64"), np.linspace(0, 1, 7))
    same(wf.linspace(-3, 5, 4, endpoint=False, dtype="float64"), np.linspace(-3, 5, 4, endpoint=False))
    same(wf.constant([1, 2, 3, 4], shape=(2, 2)), np.array([[1, 2], [3, 4]], "i4"))
    same(wf.constant(2.0, shape=(2, 1)), np.full((2, 1), 2, "f4"))
    for wrong in (lambda: wf.zeros(-1), lambda: wf.zeros((2**40, 2**40)), lambda: wf.linspace(0, 1, -1), lambda: wf.arange(0, 1, 0)):
        with pytest.raises(ValueError):
            wrong()
    with pytest.raises(MemoryError):
        wf.zeros((2**50,))
    with pytest.raises(TypeError, match="integer is wanted"):
        wf.zeros(2.5)


def test_no_tensor_is_left_over(live):
    for _ in range(50):
        x = wf.tensor([[1.0, 2.0], [3.0, 4.0]])
        y = np.asarray(x) + x
        z = wf.from_dlpack(np.from_dlpack(y))
        wf.asarray(memoryview(z))
        pickle.loads(pickle.dumps(z))
        z.tolist(), list(z), z[z > 2], z @ z, str(z), z.T, wf.sum(z, axis=0)
        for wrong in (lambda: z @ wf.ones(3), lambda: wf.tensor([[z], [1, 2]]), lambda: z[9], lambda: z["a"]):
            with pytest.raises(wf.Error):
                wrong()
