"""Makes the files that the tests of lib/Data read, by tools that have nothing to do with Weft: NumPy, Pillow and crc32c.

pip install numpy pillow crc32c; python generate.py  (made with numpy 2, Pillow 11 or newer)
"""

import pathlib
import struct

import crc32c
import numpy as np
from PIL import Image

here = pathlib.Path(__file__).parent


def pattern(*shape):
    """Whole numbers that no generator of random numbers decides."""
    n = int(np.prod(shape))
    return ((np.arange(n) * 37 + 11) % 251).astype(np.uint8).reshape(shape)


def images():
    """A file of each kind, and the RGBA samples that Pillow reads from it."""
    rgb = pattern(5, 7, 3)
    palette = Image.fromarray(rgb).quantize(8)
    files = {
        "rgb.png": Image.fromarray(rgb),
        "rgba.png": Image.fromarray(pattern(4, 3, 4)),
        "grey.png": Image.fromarray(pattern(3, 5)),
        "grey_alpha.png": Image.fromarray(pattern(3, 5, 2), "LA"),
        "bits.png": Image.fromarray(pattern(6, 11) > 120),
        "palette.png": palette,
    }
    for name, image in files.items():
        image.save(here / name)
        np.save(here / f"{name}.npy", np.asarray(Image.open(here / name).convert("RGBA")).astype(np.int32))
    grey16 = pattern(4, 6).astype(np.uint16) * 257 + 3
    Image.fromarray(grey16).save(here / "grey16.png")
    np.save(here / "grey16.png.npy", np.asarray(Image.open(here / "grey16.png")).astype(np.int32))
    smooth = np.add.outer(np.arange(24) * 5, np.arange(17) * 7)[..., None] + np.array([0, 20, 40])
    for name, options in {
        "baseline.jpg": dict(quality=90),
        "progressive.jpg": dict(quality=80, progressive=True),
    }.items():
        Image.fromarray(smooth.astype(np.uint8)).save(here / name, **options)
        np.save(here / f"{name}.npy", np.asarray(Image.open(here / name)).astype(np.int32))
    Image.fromarray(smooth[..., 0].astype(np.uint8)).save(here / "grey.jpg")
    np.save(here / "grey.jpg.npy", np.asarray(Image.open(here / "grey.jpg")).astype(np.int32))
    Image.fromarray(smooth.astype(np.uint8)).convert("CMYK").save(here / "cmyk.jpg")


def archives():
    arrays = {"x": np.arange(12, dtype=np.float32).reshape(4, 3), "y": np.array([3, 1, 4, 1]),
              "f": np.asfortranarray(np.arange(8, dtype=np.float64).reshape(4, 2))}
    np.savez(here / "stored.npz", **arrays)
    np.savez_compressed(here / "deflated.npz", **arrays)
    np.savez(here / "half.npz", x=np.zeros(2, np.float16))


def varint(n):
    n &= 2**64 - 1
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def example(features):
    """tf.train.Example, by the definition in tensorflow/core/example/{example,feature}.proto."""
    entries = b""
    for name, value in features.items():
        if isinstance(value, list) and isinstance(value[0], bytes):
            feature = field(1, b"".join(field(1, v) for v in value))
        elif isinstance(value, list) and isinstance(value[0], float):
            feature = field(2, field(1, struct.pack(f"<{len(value)}f", *value)))
        else:
            feature = field(3, field(1, b"".join(varint(v) for v in value)))
        entries += field(1, field(1, name.encode()) + field(2, feature))
    return field(1, entries)


def records():
    def masked(data):
        crc = crc32c.crc32c(data)
        return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)

    payloads = [b"first", b"", bytes(range(256)),
                example({"pixels": [0.5, -2.0, 8.25], "label": [7, -1], "name": [b"seven", b"\x00\xff"]})]
    with open(here / "records.tfrecord", "wb") as file:
        for payload in payloads:
            length = struct.pack("<Q", len(payload))
            file.write(length + masked(length) + payload + masked(payload))


images()
archives()
records()
