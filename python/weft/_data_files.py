"""Data sets of files, and files of data read and written at once."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, TypeAlias, cast

from weft import _weft
from weft._arguments import options
from weft._datasets import Dataset, from_tensors
from weft._tracebacks import users_lines

__all__ = [
    "csv",
    "decode_image",
    "encode_png",
    "idx",
    "image_classes",
    "images",
    "lines",
    "npy",
    "npz",
    "parse_example",
    "read_csv",
    "read_idx",
    "read_image",
    "read_npz",
    "safetensors",
    "tfrecord",
    "write_png",
]

Path: TypeAlias = "str | os.PathLike[str]"


def _made(pipeline: _weft.internal_Pipeline) -> Dataset[Any]:
    return Dataset._of(pipeline)  # pyright: ignore[reportPrivateUsage]


@options
def idx(
    path: Path, labels: Path | None = None, *, dtype: Any = None, scale: float = 1
) -> Dataset[Any]:
    """The rows of an IDX file, the format of MNIST, or pairs of rows of two. They stay the bytes
    that they are in the file until they are copied into an element or a batch.

    >>> import struct
    >>> with open("labels.idx", "wb") as file:
    ...     _ = file.write(struct.pack(">BBBBI", 0, 0, 8, 1, 3) + bytes([7, 2, 1]))
    >>> [int(label) for label in wf.data.idx("labels.idx")]
    [7, 2, 1]

    Args:
        dtype: what the elements of the first file become; by default integers up to 32 bits int32
        scale: what floating elements are multiplied by: 1 / 255 makes bytes numbers of [0, 1]

    Raises:
        IOError: for a file that is missing, damaged or no IDX file
        DTypeError: for a dtype that is narrower than the file's, or a scale of integers
    """
    second = None if labels is None else os.fsdecode(labels)
    return _made(_weft.internal_from_idx(os.fsdecode(path), second, dtype, scale))


@users_lines
def npy(path: Path) -> Dataset[_weft.Tensor]:
    """The rows of a .npy file.

    >>> np.save("rows.npy", np.arange(6).reshape(3, 2))
    >>> [row.tolist() for row in wf.data.npy("rows.npy")]
    [[0, 1], [2, 3], [4, 5]]
    """
    return _made(_weft.internal_from_npy(os.fsdecode(path)))


def _columns(what: str, arrays: dict[str, Any], names: tuple[str, ...]) -> Dataset[Any]:
    for name in names:
        if name not in arrays:
            raise _weft.ValueError(f"{what} has no array '{name}': it has {', '.join(arrays)}")
    return from_tensors(*[arrays[name] for name in names]) if names else from_tensors(arrays)


@users_lines
def npz(path: Path, *names: str) -> Dataset[Any]:
    """Rows of the arrays of a .npz file: a dict of all, or the tuple of those that are named, as in
    `npz("mnist.npz", "x_train", "y_train")`.

    >>> np.savez("digits.npz", x=np.zeros((3, 2)), y=np.arange(3))
    >>> [(x.shape, int(y)) for x, y in wf.data.npz("digits.npz", "x", "y")]
    [((2,), 0), ((2,), 1), ((2,), 2)]

    Raises:
        IOError: for a file that is missing or damaged
        ValueError: for a name that is not there
    """
    return _columns(os.fsdecode(path), read_npz(path), names)


@options
def csv(
    path: Path,
    columns: Sequence[str] = (),
    *,
    dtypes: Any = "float32",
    header: bool = True,
    delimiter: str = ",",
) -> Dataset[Any]:
    r"""Rows of a CSV file: dicts of numbers by the names of their columns. See `read_csv`.

    >>> with open("points.csv", "w") as file:
    ...     _ = file.write("x,y\n1,2\n3,4\n")
    >>> [(float(row["x"]), float(row["y"])) for row in wf.data.csv("points.csv")]
    [(1.0, 2.0), (3.0, 4.0)]
    """
    arrays = read_csv(path, columns, dtypes=dtypes, header=header, delimiter=delimiter)
    return from_tensors(arrays)


@users_lines
def lines(path: Path) -> Dataset[str]:
    r"""The lines of a text file, without their ends. Bytes that are no UTF-8 are kept as Python's
    surrogate escapes.

    >>> with open("poem.txt", "w") as file:
    ...     _ = file.write("one\ntwo\n")
    >>> list(wf.data.lines("poem.txt"))
    ['one', 'two']

    Raises:
        IOError: for a file that cannot be read
    """
    return _made(_weft.internal_from_lines(os.fsdecode(path)))


@users_lines
def tfrecord(path: Path) -> Dataset[bytes]:
    """The records of a TFRecord file. `map(wf.data.parse_example)` reads `tf.train.Example`s.

    >>> writer = wf.summary.create_file_writer("events")
    >>> writer.close()
    >>> len(list(wf.data.tfrecord(writer.path)))
    1

    Raises:
        IOError: for what is truncated or damaged; in a loop too
    """
    return _made(_weft.internal_from_tfrecord(os.fsdecode(path)))


@options
def safetensors(path: Path, *names: str, widen: bool = False) -> Dataset[Any]:
    """Rows of the tensors of a safetensors file: a dict of all, or the tuple of those that are
    named.

    >>> wf.io.save_safetensors("rows.safetensors", {"x": wf.arange(3)})
    >>> [int(x) for x in wf.data.safetensors("rows.safetensors", "x")]
    [0, 1, 2]

    Args:
        widen: reads dtypes that Weft lacks as one that holds all their numbers
    """
    arrays = _weft.internal_load_safetensors(os.fsdecode(path), widen)
    return _columns(os.fsdecode(path), arrays, names)


@options
def images(
    folder: Path,
    *,
    size: tuple[int, int] | None = None,
    channels: int | None = 3,
    dtype: Any = "float32",
) -> Dataset[tuple[_weft.Tensor, _weft.Tensor]]:
    """Images and labels, int32 scalars, of a folder with a subfolder for each class, class by
    class: shuffle them. A file is read when its element is made: `prefetch` them.

    >>> import os
    >>> os.makedirs("pets/cat")
    >>> wf.data.write_png("pets/cat/1.png", wf.zeros((4, 5, 3)))
    >>> [(image.shape, int(label)) for image, label in wf.data.images("pets")]
    [((4, 5, 3), 0)]

    Args:
        size: height and width that images are resized to
        channels: 1, 3 or 4; None for as many as a file has
        dtype: floating for numbers of [0, 1], integers for 0 to 255

    Raises:
        IOError: for a folder that is missing or has no images
    """
    return _made(_weft.internal_from_image_folder(os.fsdecode(folder), size, channels, dtype))


@users_lines
def image_classes(folder: Path) -> list[str]:
    """The classes of `images`: the names of the subfolders in the order of their bytes.

    >>> import os
    >>> os.makedirs("pets/cat"), os.makedirs("pets/dog")
    (None, None)
    >>> wf.data.image_classes("pets")
    ['cat', 'dog']
    """
    return _weft.internal_image_classes(os.fsdecode(folder))


# At once.


@options
def read_idx(path: Path, *, dtype: Any = None) -> _weft.Tensor:
    """The array of an IDX file.

    >>> import struct
    >>> with open("labels.idx", "wb") as file:
    ...     _ = file.write(struct.pack(">BBBBI", 0, 0, 8, 1, 3) + bytes([7, 2, 1]))
    >>> wf.data.read_idx("labels.idx")
    tensor([7, 2, 1], shape=(3,), dtype=int32)
    """
    return _weft.internal_read_idx(os.fsdecode(path), dtype)


@users_lines
def read_npz(path: Path) -> dict[str, _weft.Tensor]:
    """All arrays of a .npz file by their names.

    >>> np.savez("digits.npz", x=np.zeros((3, 2)), y=np.arange(3))
    >>> wf.data.read_npz("digits.npz")["y"]
    tensor([0, 1, 2], shape=(3,), dtype=int64)
    """
    return _weft.internal_read_npz(os.fsdecode(path))


@options
def read_csv(
    path: Path,
    columns: Sequence[str] = (),
    *,
    dtypes: Any = "float32",
    header: bool = True,
    delimiter: str = ",",
) -> dict[str, _weft.Tensor]:
    r"""The columns of a CSV file by name, each of shape (rows,). An empty field is NaN where the
    dtype is floating.

    >>> with open("points.csv", "w") as file:
    ...     _ = file.write("x,y\n1,2\n3,4\n")
    >>> wf.data.read_csv("points.csv")["y"]
    tensor([2., 4.], shape=(2,), dtype=float32)

    Args:
        columns: those to read, by name or, without a header, by number as text; by default all
        dtypes: one for each, or a single one

    Raises:
        IOError: with line and column, for what is no number of the dtype, and rows that are too
            long or short
    """
    many = isinstance(dtypes, list | tuple)
    listed: list[Any] = list(cast("list[Any]", dtypes)) if many else [dtypes]
    return _weft.internal_read_csv(os.fsdecode(path), list(columns), listed, header, delimiter)


@options
def read_image(path: Path, *, channels: int | None = None, dtype: Any = "float32") -> _weft.Tensor:
    """A PNG or JPEG file, (height, width, channels). Floating numbers are of [0, 1].

    >>> wf.data.write_png("black.png", wf.zeros((4, 5, 3)))
    >>> wf.data.read_image("black.png").shape
    (4, 5, 3)

    Raises:
        IOError: for a file that is missing or damaged
        ValueError: for a number of channels other than 1, 3 and 4
    """
    return _weft.internal_read_image(os.fsdecode(path), channels, dtype)


@options
def decode_image(
    data: bytes, *, channels: int | None = None, dtype: Any = "float32"
) -> _weft.Tensor:
    """The same of the bytes of a file.

    >>> png = wf.data.encode_png(wf.ones((4, 5, 3)))
    >>> wf.data.decode_image(png).shape
    (4, 5, 3)
    """
    return _weft.internal_decode_image(data, channels, dtype)


@users_lines
def encode_png(image: Any) -> bytes:
    r"""The bytes of a PNG file of an image (height, width) or (height, width, channels).

    >>> wf.data.encode_png(wf.zeros((4, 5)))[:4]
    b'\x89PNG'
    """
    return _weft.internal_encode_png(image)


@users_lines
def write_png(path: Path, image: Any) -> None:
    """Writes an image as a PNG file, which appears as a whole or not at all.

    >>> wf.data.write_png("black.png", wf.zeros((4, 5, 3)))
    >>> wf.data.read_image("black.png", dtype="int32").shape
    (4, 5, 3)
    """
    _weft.internal_write_png(os.fsdecode(path), image)


@users_lines
def parse_example(data: bytes) -> dict[str, Any]:
    r"""The features of a `tf.train.Example` by their names: tensors (n,) of float32 or int64, and
    lists of bytes.

    >>> wf.data.parse_example(b"\n\x0d\n\x0b\n\x02id\x12\x05\x1a\x03\n\x01\x07")
    {'id': tensor([7], shape=(1,), dtype=int64)}
    """
    return _weft.internal_parse_example(data)
