"""Data sets: sequences of elements that are made as a loop comes to them.

    import weft as wf

    digits = wf.data.from_tensors(images, labels).shuffle(seed=5).batch(32)
    for x, y in digits:
        step(x, y)

An element is a tensor, or a tuple, namedtuple, dict or dataclass of them; text, bytes, None and
other objects may be parts of it as well. Numbers, arrays and lists of them become tensors. Any
Python iterable is a data set, wherever one is wanted.

Stages describe what to do and do nothing by themselves. A stage that makes elements (a decoded
file, `map`) is run for those that a loop comes to, not for those that `skip`, `shard` or a resumed
loop pass over. A loop is an epoch; its position is state that checkpoints keep.

A function of Python holds Python's lock: more than one worker helps where it is a `wf.function`, or
spends its time in NumPy, in files or elsewhere outside of Python.
"""

from weft._data_files import csv as csv
from weft._data_files import decode_image as decode_image
from weft._data_files import encode_png as encode_png
from weft._data_files import idx as idx
from weft._data_files import image_classes as image_classes
from weft._data_files import images as images
from weft._data_files import lines as lines
from weft._data_files import npy as npy
from weft._data_files import npz as npz
from weft._data_files import parse_example as parse_example
from weft._data_files import read_csv as read_csv
from weft._data_files import read_idx as read_idx
from weft._data_files import read_image as read_image
from weft._data_files import read_npz as read_npz
from weft._data_files import safetensors as safetensors
from weft._data_files import tfrecord as tfrecord
from weft._data_files import write_png as write_png
from weft._datasets import Dataset as Dataset
from weft._datasets import DatasetStats as DatasetStats
from weft._datasets import as_dataset as as_dataset
from weft._datasets import concatenate as concatenate
from weft._datasets import from_element as from_element
from weft._datasets import from_generator as from_generator
from weft._datasets import from_iterable as from_iterable
from weft._datasets import from_tensor_slices as from_tensor_slices
from weft._datasets import from_tensors as from_tensors
from weft._datasets import range as range
from weft._datasets import zip as zip

__all__ = [
    "Dataset",
    "DatasetStats",
    "as_dataset",
    "concatenate",
    "csv",
    "decode_image",
    "encode_png",
    "from_element",
    "from_generator",
    "from_iterable",
    "from_tensor_slices",
    "from_tensors",
    "idx",
    "image_classes",
    "images",
    "lines",
    "npy",
    "npz",
    "parse_example",
    "range",
    "read_csv",
    "read_idx",
    "read_image",
    "read_npz",
    "safetensors",
    "tfrecord",
    "write_png",
    "zip",
]
