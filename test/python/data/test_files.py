"""Files of data: what NumPy and the tests themselves wrote is read back."""

import struct
import zlib

import numpy as np
import pytest

import weft as wf


def idx_bytes(array):
    code = {np.dtype(np.uint8): 8, np.dtype(np.float32): 0x0D}[array.dtype]
    head = struct.pack(">BBBB", 0, 0, code, array.ndim)
    return head + struct.pack(f">{array.ndim}I", *array.shape) + array.astype(array.dtype.newbyteorder(">")).tobytes()


def test_idx(tmp_path):
    images = np.arange(5 * 2 * 3, dtype=np.uint8).reshape(5, 2, 3)
    labels = np.array([4, 3, 2, 1, 0], np.uint8)
    (tmp_path / "x").write_bytes(idx_bytes(images))
    (tmp_path / "y").write_bytes(idx_bytes(labels))
    data = wf.data.idx(tmp_path / "x", tmp_path / "y", dtype="float32", scale=1 / 255)
    (batch,) = data.batch(5)
    assert np.allclose(batch[0], images / np.float32(255)) and np.array_equal(batch[1], labels)
    assert np.array_equal(wf.data.read_idx(tmp_path / "x"), images)
    assert [int(y) for y in wf.data.idx(tmp_path / "y")] == labels.tolist()
    with pytest.raises(wf.IOError, match="missing"):
        wf.data.idx(tmp_path / "missing")


def test_npy_and_npz(tmp_path):
    a, b = np.arange(6.0, dtype=np.float32).reshape(3, 2), np.array([1, 2, 3])
    np.save(tmp_path / "a.npy", a)
    np.savez_compressed(tmp_path / "ab.npz", a=a, b=b)
    assert np.array_equal(np.stack([np.asarray(x) for x in wf.data.npy(tmp_path / "a.npy")]), a)
    assert np.array_equal(wf.io.load_npy(tmp_path / "a.npy"), a)
    assert list(wf.data.read_npz(tmp_path / "ab.npz")) == ["a", "b"]
    rows = list(wf.data.npz(tmp_path / "ab.npz"))
    assert list(rows[0]) == ["a", "b"] and np.array_equal(rows[2]["a"], a[2])
    assert [int(y) for x, y in wf.data.npz(str(tmp_path / "ab.npz"), "a", "b")] == [1, 2, 3]
    with pytest.raises(wf.ValueError, match="no array 'c': it has a, b"):
        wf.data.npz(tmp_path / "ab.npz", "c")
    wf.io.save_npy(tmp_path / "w.npy", wf.tensor(a))
    assert np.array_equal(np.load(tmp_path / "w.npy"), a)


def test_csv_and_lines(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n1.5,2\n,4\n")
    rows = list(wf.data.csv(path))
    assert float(rows[0]["x"]) == 1.5 and np.isnan(float(rows[1]["x"]))
    columns = wf.data.read_csv(path, ["y"], dtypes="int32")
    assert list(columns) == ["y"] and np.asarray(columns["y"]).tolist() == [2, 4]
    assert list(wf.data.lines(path)) == ["x,y", "1.5,2", ",4"]
    path.write_text("x\nno\n")
    with pytest.raises(wf.IOError, match="t.csv"):
        wf.data.csv(path)


def masked(data):
    table = []
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
        table.append(n)
    crc = 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def record_bytes(data):
    length = struct.pack("<Q", len(data))
    return length + struct.pack("<I", masked(length)) + data + struct.pack("<I", masked(data))


def test_names_that_are_no_utf8(tmp_path):
    csv, npz = tmp_path / "a.csv", tmp_path / "a.npz"
    csv.write_bytes(b"a,\xff\n1,2\n")
    assert [*wf.data.read_csv(csv)] == ["a", "\udcff"]
    np.savez(npz, ab=np.ones(2))
    npz.write_bytes(npz.read_bytes().replace(b"ab.npy", b"a\xff.npy"))
    assert [*wf.data.read_npz(npz)] == ["a\udcff"]
    (tmp_path / "pets" / "\udcffa").mkdir(parents=True)
    assert wf.data.image_classes(tmp_path / "pets") == ["\udcffa"]
    feature = b"\n\x01\xff\x12\x05\x1a\x03\n\x01\x05"
    example = wf.data.parse_example(b"\n\x0c\n\x0a" + feature)
    assert [*example] == ["\udcff"] and example["\udcff"].tolist() == [5]


def test_errors_that_hold_what_is_no_utf8(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,\xff\n1,2\n")
    with pytest.raises(wf.Error, match=r"a\.csv.*\\xff"):
        wf.data.read_csv(path, columns=["q"])
    path.write_bytes(b"a,b\n1,\xff\n")
    with pytest.raises(wf.Error, match=r"a\.csv.*\\xff") as caught:
        wf.data.read_csv(path)
    assert "\\xff" in caught.value.message


def test_tfrecord(tmp_path):
    path = tmp_path / "r.tfrecord"
    # An Example of the feature "n", an int64 list of 5 and 6, by hand.
    feature = b"\x1a\x04\x0a\x02\x05\x06"
    entry = b"\x0a\x01n" + b"\x12" + bytes([len(feature)]) + feature
    features = b"\x0a" + bytes([len(entry)]) + entry
    example = b"\x0a" + bytes([len(features)]) + features
    path.write_bytes(record_bytes(b"\xff\x00one") + record_bytes(example))
    records = list(wf.data.tfrecord(path))
    assert records == [b"\xff\x00one", example]
    (parsed,) = wf.data.tfrecord(path).skip(1).map(wf.data.parse_example)
    assert np.asarray(parsed["n"]).tolist() == [5, 6]
    path.write_bytes(record_bytes(b"whole")[:-1])
    with pytest.raises(wf.IOError, match="r.tfrecord"):
        list(wf.data.tfrecord(path))


def png_bytes(image):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width, _ = image.shape
    rows = b"".join(b"\0" + row.tobytes() for row in image)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def test_images(tmp_path):
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (4, 3, 5, 3), dtype=np.uint8)
    for i, image in enumerate(images):
        folder = tmp_path / ("b" if i % 2 else "a")
        folder.mkdir(exist_ok=True)
        (folder / f"{i}.png").write_bytes(png_bytes(image))
    assert np.array_equal(wf.data.read_image(tmp_path / "a" / "0.png", dtype="int32"), images[0])
    assert np.allclose(wf.data.decode_image(png_bytes(images[1])), images[1] / np.float32(255))
    assert wf.data.image_classes(tmp_path) == ["a", "b"]
    data = wf.data.images(tmp_path, dtype="int32")
    assert [int(y) for _, y in data] == [0, 0, 1, 1]
    assert np.array_equal(next(iter(data.skip(3)))[0], images[3])
    assert next(iter(wf.data.images(tmp_path, size=(6, 10))))[0].shape == (6, 10, 3)
    wf.data.write_png(tmp_path / "w.png", images[2])
    assert np.array_equal(wf.data.read_image(tmp_path / "w.png", dtype="int32"), images[2])
    assert wf.data.encode_png(images[2])[:4] == b"\x89PNG"


def test_safetensors(tmp_path):
    path = tmp_path / "t.safetensors"
    a, b = np.arange(6.0, dtype=np.float32).reshape(3, 2), np.array([1, 2, 3], np.int64)
    wf.io.save_safetensors(path, {"a": a, "b": wf.tensor(b)}, {"note": "x"})
    head = path.read_bytes()
    size = struct.unpack("<Q", head[:8])[0]
    assert b'"F32"' in head[8 : 8 + size] and a.tobytes() in head
    got = wf.io.load_safetensors(path)
    assert np.array_equal(got["a"], a) and np.array_equal(got["b"], b)
    assert wf.io.safetensors_metadata(path)["note"] == "x"
    assert [int(y) for y in wf.data.safetensors(path, "b")] == [1, 2, 3]
    assert np.array_equal(next(iter(wf.data.safetensors(path)))["a"], a[0])
    with pytest.raises(wf.IOError):
        wf.io.load_safetensors(tmp_path / "no.safetensors")
