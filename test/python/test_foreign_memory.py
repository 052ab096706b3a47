"""DLPack 1.1 with NumPy as the peer and with peers of the test's own, memory that is only read, and pixels of cameras."""

import ctypes
import gc
import mmap

import numpy as np
import pytest

import weft as wf


class Managed(ctypes.Structure):
    """DLManagedTensorVersioned up to its array, as far as these tests look."""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("data", ctypes.c_void_p),
    ]


def managed(capsule):
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.cast(get(capsule, b"dltensor_versioned"), ctypes.POINTER(Managed)).contents


class Peer:
    """A library that exports an array of NumPy, and says what it was asked for."""

    def __init__(self, array, refuses=()):
        self.array, self.refuses, self.asked = array, refuses, []

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **words):
        self.asked.append(words)
        for word in self.refuses:
            if word in words:
                raise TypeError(f"unexpected argument {word}")
        return self.array.__dlpack__(**words)


STRIDED = {
    "contiguous": lambda: np.arange(12, dtype="f4").reshape(3, 4),
    "transposed": lambda: np.arange(12, dtype="f4").reshape(3, 4).T,
    "negative": lambda: np.arange(12, dtype="f4").reshape(3, 4)[::-1, ::-2],
    "broadcast": lambda: np.broadcast_to(np.arange(4, dtype="f4"), (3, 4)),
    "empty": lambda: np.zeros((0, 4), "f4"),
    "scalar": lambda: np.array(2.5, "f8"),
    "bool": lambda: np.array([True, False]),
    "int64": lambda: np.arange(3, dtype="i8"),
}


@pytest.mark.parametrize("name", STRIDED)
def test_arrays_both_ways(name):
    values = STRIDED[name]()
    x = wf.from_dlpack(values)
    assert x.shape == values.shape and x.dtype == values.dtype.name
    np.testing.assert_array_equal(np.asarray(x), values)
    if values.size:
        assert np.shares_memory(np.asarray(x), values)
    again = np.from_dlpack(x)
    assert not again.flags.writeable and again.dtype == values.dtype and again.strides is not None
    np.testing.assert_array_equal(again, values)
    copied = np.from_dlpack(x, copy=True)
    assert copied.flags.writeable and not np.shares_memory(copied, np.asarray(x))
    np.testing.assert_array_equal(copied, values)


def test_flags_of_exports():
    x = wf.arange(6).reshape((2, 3))
    assert managed(x.__dlpack__(max_version=(1, 1))).flags == 1  # read only
    assert managed(x.__dlpack__(max_version=(1, 0), copy=False)).flags == 1
    copy = managed(capsule := x.__dlpack__(max_version=(2, 0), copy=True))
    assert copy.flags == 2 and (copy.major, copy.minor) == (1, 1)  # a copy, the receiver's
    assert copy.data != managed(other := x.__dlpack__(max_version=(1, 1))).data
    del capsule, other
    for old in (None, (0, 8)):
        assert '"dltensor"' in repr(x.__dlpack__(max_version=old))
    assert '"dltensor_versioned"' in repr(x.__dlpack__(dl_device=(1, 0), max_version=(1, 1)))
    with pytest.raises(BufferError, match="not moved to another device"):
        x.__dlpack__(dl_device=(2, 0), copy=True)


def test_what_the_peer_is_asked_for():
    values = np.arange(3, dtype="f4")
    peer = Peer(values)
    assert np.shares_memory(np.asarray(wf.from_dlpack(peer)), values)
    assert np.shares_memory(np.asarray(wf.from_dlpack(peer, copy=False)), values)
    x = wf.from_dlpack(peer, device="cpu", copy=True)
    assert not np.shares_memory(np.asarray(x), values)
    assert peer.asked == [
        {"max_version": (1, 1)},
        {"max_version": (1, 1), "copy": False},
        {"max_version": (1, 1), "dl_device": (1, 0), "copy": True},
    ]


def test_a_copy_of_the_peer_is_not_copied_again(live):
    class Copying(Peer):
        def __dlpack__(self, **words):
            self.capsule_data = None
            capsule = super().__dlpack__(**words)
            self.data = managed(capsule).data
            assert managed(capsule).flags == 2
            return capsule

    peer = Copying(np.arange(3, dtype="f4"))
    x = wf.from_dlpack(peer, copy=True)
    assert np.asarray(x).ctypes.data == peer.data and x.tolist() == [0, 1, 2]


@pytest.mark.parametrize("refuses", [("copy",), ("dl_device",), ("copy", "dl_device"), ("copy", "dl_device", "max_version")])
def test_peers_from_before_these_arguments(refuses):
    values = np.arange(3, dtype="f4")
    peer = Peer(values, refuses)
    x = wf.from_dlpack(peer, device="cpu", copy=True)
    values[0] = 9
    assert x.tolist() == [0, 1, 2]  # copied here, as the peer did not
    assert wf.from_dlpack(peer, copy=False).tolist() == [9, 1, 2]


def test_errors_of_peers():
    class Failing:
        def __dlpack__(self, **words):
            raise BufferError("no copy to be had")

    with pytest.raises(BufferError, match="no copy to be had"):
        wf.from_dlpack(Failing(), copy=False)


def test_arrays_are_given_up_once():
    alive, created = [], []

    class Array(np.ndarray):
        def __array_finalize__(self, of):
            created.append(1)

        def __del__(self):
            alive.append(1)

    def make():
        return np.arange(1000, dtype="f4").view(Array)

    x = wf.from_dlpack(make())
    view = x[10:]
    del x
    gc.collect()
    assert alive == []
    del view
    gc.collect()
    assert alive == [1]
    wf.from_dlpack(make(), copy=True)
    gc.collect()
    assert len(alive) == len(created) > 1  # with the copy that NumPy makes
    capsule = make().__dlpack__(max_version=(1, 1))
    del capsule  # which nobody took
    gc.collect()
    assert len(alive) == len(created)


def read_only_page():
    """Floats that a write to ends the process."""
    with open("/proc/self/exe", "rb") as file:
        page = mmap.mmap(file.fileno(), 4096, prot=mmap.PROT_READ)
    return np.frombuffer(page, "u1").view("i4")


@pytest.mark.parametrize("make", [wf.from_dlpack, wf.asarray, lambda x: wf.asarray(x, copy=False)], ids=["dlpack", "asarray", "no copy"])
def test_read_only_memory_is_never_written(make):
    values = read_only_page()
    before = values.copy()
    x = make(values)
    assert np.shares_memory(np.asarray(x), values)
    x[0] = 5
    assert x[0].item() == 5
    x = make(values)
    x[1:3] = wf.tensor([7, 8])
    assert x[2].item() == 8
    x = make(values)
    x += 1
    assert x[0].item() == before[0] + 1
    x = make(values)
    view = x[2:]
    view[0] = 3
    assert view[0].item() == 3 and x[2].item() == before[2]
    v = wf.Variable(make(values))
    v.assign_add(wf.ones_like(v))
    assert v[0].numpy() == before[0] + 1

    @wf.function
    def step(y):
        y[0] = 11
        v.assign(v + y)
        return y

    assert step(make(values))[0].item() == 11
    np.testing.assert_array_equal(values, before)


def test_old_peers_get_a_copy_of_memory_that_may_be_read_only():
    values = np.arange(3, dtype="f4")
    x = wf.from_dlpack(values)
    assert np.shares_memory(np.asarray(wf.from_dlpack(x.__dlpack__(max_version=(1, 1)))), values)
    old = wf.from_dlpack(x.__dlpack__())
    assert old.tolist() == [0, 1, 2] and not np.shares_memory(np.asarray(old), values)


def expected(frames, scale=1 / 255, mean=None, deviation=None):
    """As the documentation says it, in float32."""
    deviation = np.asarray(1.0 if deviation is None else deviation, "f8")
    scaled = np.asarray(frames).astype("f4") * (scale / deviation).astype("f4")
    return scaled if mean is None else scaled + (-np.asarray(mean, "f8") / deviation).astype("f4")


FRAMES = np.random.default_rng(0).integers(0, 256, (3, 5, 7, 3), np.uint8)


@pytest.mark.parametrize("words", [{}, {"scale": 1}, {"mean": [0.5, 0.25, 0.125], "deviation": [0.2, 0.3, 0.4]}, {"mean": [0.1]}], ids=range(4))
def test_pixels(words):
    layouts = {
        "one": FRAMES[0],
        "batch": FRAMES,
        "upside down": FRAMES[:, ::-1],
        "bgr": FRAMES[..., ::-1],
        "mirrored": FRAMES[:, :, ::-1],
        "every other": FRAMES[::2, ::2, 1::2],
        "grey": FRAMES[..., :1],
        "planes": np.ascontiguousarray(FRAMES.transpose(0, 3, 1, 2)).transpose(0, 2, 3, 1),
        "repeated": np.broadcast_to(FRAMES[0, 0, 0], (4, 4, 3)),
    }
    for name, frames in layouts.items():
        if name == "grey" and len(words.get("mean", [0])) > 1:
            continue
        batch = frames if frames.ndim == 4 else frames[None]
        want = expected(batch, **words)
        for given in (frames, list(batch)):
            x = wf.data.pixels(given, **words)
            assert x.dtype == "float32"
            np.testing.assert_array_equal(x.numpy(), want, name)
        np.testing.assert_array_equal(wf.data.pixels(frames, channels_first=True, **words).numpy(), want.transpose(0, 3, 1, 2), name)


def test_pixels_are_the_callers_again(live):
    frame = FRAMES[0].copy()
    x = wf.data.pixels(memoryview(frame))
    want = x.numpy()
    frame[:] = 0
    np.testing.assert_array_equal(x.numpy(), want)
    assert wf.data.pixels(np.zeros((0, 3, 3), np.uint8)).shape == (1, 0, 3, 3)


@pytest.mark.parametrize(
    ("frames", "words", "error", "message"),
    [
        ([], {}, wf.ValueError, "there are no frames"),
        ([FRAMES[0], FRAMES[0][1:]], {}, wf.ShapeError, r"frame 1 is \(4, 7, 3\), but frame 0 is \(5, 7, 3\)"),
        (FRAMES[0, :, :, 0], {}, wf.ShapeError, r"frames has the shape \(5, 7\): .* frame\[:, :, None\]"),
        ([FRAMES], {}, wf.ShapeError, r"frame 0 has the shape \(3, 5, 7, 3\)"),
        (FRAMES.astype("f4"), {}, wf.DTypeError, "frames has elements of the format 'f': uint8 is wanted"),
        (FRAMES.astype("i1"), {}, wf.DTypeError, "uint8 is wanted"),
        ("frame", {}, wf.DTypeError, "frames is of type str: an array of uint8 is wanted"),
        (FRAMES, {"mean": [1.0, 2.0]}, wf.ShapeError, "the option mean has 2 numbers, but the frames have 3 channels"),
        (FRAMES, {"deviation": [0.0]}, wf.ValueError, "channel 0 has a scale, mean or deviation that is not finite"),
        (FRAMES, {"scale": np.nan}, wf.ValueError, "not finite"),
    ],
    ids=range(10),
)
def test_pixels_that_are_refused(frames, words, error, message):
    with pytest.raises(error, match=message):
        wf.data.pixels(frames, **words)
