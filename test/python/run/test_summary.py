"""Event files: read back by a reader of the test's own, of TFRecord and protocol buffers."""

import os
import struct
from pathlib import Path

import numpy as np
import pytest

import weft as wf


def records(path):
    data = Path(path).read_bytes()
    at = 0
    while at < len(data):
        (size,) = struct.unpack_from("<Q", data, at)
        yield data[at + 12 : at + 12 + size]
        at += size + 16


def fields(data):
    """(number, value) of a message: ints, and bytes of what has a length."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 1:
            yield key >> 3, data[at : at + 8]
            at += 8
        elif key & 7 == 5:
            yield key >> 3, data[at : at + 4]
            at += 4
        else:
            size = varint()
            yield key >> 3, data[at : at + size]
            at += size


def events(path):
    """(step, tag, plugin, the bytes of the tensor) of each value."""
    for record in records(path):
        event = dict(fields(record))
        if 5 not in event:
            continue
        for number, value in fields(event[5]):
            of = dict(fields(value))
            plugin = dict(fields(dict(fields(of[9]))[1]))[1].decode() if 9 in of else ""
            yield event.get(2, 0), of[1].decode(), plugin, of.get(8)


def test_scalars_and_others(tmp_path):
    with wf.summary.create_file_writer(tmp_path / "run") as writer:
        for step in range(3):
            writer.scalar("loss", 0.5 * step, step=step)
        writer.within("train").scalar("accuracy", wf.constant(0.25), step=wf.Variable(7))
        writer.histogram("weights", np.arange(100.0), step=1, buckets=10)
        writer.image("picture", np.zeros((2, 3, 3), np.float32), step=2)
        writer.text("note", "**hi**", step=3)
        writer.hparams({"rate": 0.1, "layers": 3, "norm": True, "name": "a"}, ["loss"])
        writer.finished()
        path = writer.path
    assert ".tfevents." in path
    read = list(events(path))
    scalars = [(step, tag, dict(fields(t))) for step, tag, plugin, t in read if plugin == "scalars"]
    assert [(s, t) for s, t, _ in scalars] == [(0, "loss"), (1, "loss"), (2, "loss"), (7, "train/accuracy")]
    numbers = [struct.unpack("<f", t.get(4, t.get(5)))[0] for _, _, t in scalars]
    assert numbers == [0.0, 0.5, 1.0, 0.25]
    assert {plugin for _, _, plugin, _ in read} >= {"scalars", "histograms", "images", "text", "hparams"}
    assert wf.summary.read_scalars(tmp_path / "run")["loss"] == [(0, 0.0), (1, 0.5), (2, 1.0)]
    (histogram,) = [e for e in wf.summary.read(path) if e.plugin == "histograms"]
    assert histogram.tag == "weights" and np.asarray(histogram.numbers)[:, 2].tolist() == [10.0] * 10
    (picture,) = [e for e in wf.summary.read(path) if e.plugin == "images"]
    assert picture.bytes[2][:4] == b"\x89PNG"


def test_inside_of_a_traced_function(tmp_path):
    writer = wf.summary.create_file_writer(tmp_path)

    @wf.function
    def f(x, step):
        writer.scalar("x", x * 2, step)
        return x

    for i in range(3):
        f(wf.constant(float(i)), wf.constant(i))
    writer.graph(f, wf.constant(1.0), wf.constant(1))
    writer.flush()
    assert wf.summary.read_scalars(tmp_path)["x"] == [(0, 0.0), (1, 2.0), (2, 4.0)]
    graphs = [event for event in map(lambda r: dict(fields(r)), records(writer.path)) if 4 in event]
    assert len(graphs) == 1 and b"multiply" in graphs[0][4]
    with pytest.raises(TypeError, match="a traced function"):
        writer.graph(len, 1)


def test_errors(tmp_path):
    writer = wf.summary.create_file_writer(tmp_path)
    with pytest.raises(wf.ValueError, match="tag"):
        writer.scalar("", 1.0, step=0)
    with pytest.raises(wf.ShapeError):
        writer.scalar("a", [1.0, 2.0], step=0)
    with pytest.raises(wf.DTypeError):
        writer.scalar("a", 1.0, step=0.5)
    with pytest.raises(wf.DTypeError, match="'x' is a list"):
        writer.hparams({"x": [1]})
    with pytest.raises(TypeError, match="scalar: tag is 3: a text is wanted"):
        writer.scalar(3, 1.0, step=0)
    with pytest.raises(TypeError):
        writer.histogram("a", [1.0], 0, buckets="x")
    writer.close()
    with pytest.raises(wf.StateError):
        writer.scalar("a", 1.0, step=0)
    (tmp_path / "file").write_text("")
    with pytest.raises(wf.IOError):
        wf.summary.create_file_writer(tmp_path / "file")


def test_tensorboard_reads_them(tmp_path):
    """By the package, where `build/tensorboard` has it."""
    import subprocess

    python = Path(__file__).resolve().parents[3] / "build/tensorboard/bin/python"
    if not python.exists():
        pytest.skip("tensorboard is not installed in build/tensorboard")
    with wf.summary.create_file_writer(tmp_path) as writer:
        for step in range(3):
            writer.scalar("loss", 0.5 * step, step=step)
        writer.histogram("weights", np.arange(100.0), step=1)
        writer.image("picture", np.zeros((2, 3, 3), np.float32), step=2)
    program = """
import sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.util import tensor_util
events = EventAccumulator(sys.argv[1])
events.Reload()
print(sorted(events.Tags()["tensors"]))
print([(e.step, float(tensor_util.make_ndarray(e.tensor_proto))) for e in events.Tensors("loss")])
"""
    result = subprocess.run(
        [python, "-c", program, str(tmp_path)], capture_output=True, text=True, timeout=60
    )
    if "ModuleNotFoundError" in result.stderr:
        pytest.skip("tensorboard is not installed in build/tensorboard")
    lines = result.stdout.splitlines()
    assert lines[0] == "['loss', 'picture', 'weights']", result.stderr
    assert lines[1] == "[(0, 0.0), (1, 0.5), (2, 1.0)]"


def test_text_that_is_no_utf8(tmp_path):
    folder = os.fsencode(tmp_path) + b"/run\xff"
    tags = ["a\udcff", "a\0b", "ä"]
    with wf.summary.Writer(folder) as writer:
        for tag in tags:
            writer.scalar(tag, 1.0, 1)
    assert os.fsencode(writer.path).startswith(folder)
    assert [event.tag for event in wf.summary.read(writer.path)] == tags
    assert [*wf.summary.read_scalars(folder)] == sorted(tags, key=os.fsencode)
