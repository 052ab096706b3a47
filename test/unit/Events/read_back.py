"""Reads with the tensorboard package the event files that TensorBoard.ReadsWhatIsWritten wrote, and compares.

    read_back.py FOLDER
"""

import struct
import sys

import numpy as np
from tensorboard.backend.event_processing import event_accumulator
from tensorboard.plugins.hparams import metadata as hparams
from tensorboard.util import tensor_util


def numbers(event):
    return tensor_util.make_ndarray(event.tensor_proto)


def main(folder):
    reader = event_accumulator.EventAccumulator(folder, size_guidance={key: 0 for key in event_accumulator.DEFAULT_SIZE_GUIDANCE})
    reader.Reload()
    assert reader.file_version == 2.0, reader.file_version

    loss = reader.Tensors("train/loss")
    assert [event.step for event in loss] == list(range(10)), loss
    np.testing.assert_array_equal([float(numbers(event)) for event in loss], np.float32(1) / np.arange(1, 11, dtype=np.float32))
    assert reader.SummaryMetadata("train/loss").plugin_data.plugin_name == "scalars"
    assert reader.PluginTagToContent("scalars").keys() == {"train/loss"}

    (spread,) = reader.Tensors("weights")
    counts, edges = np.histogram(np.arange(1000, dtype=np.float64), bins=30)
    np.testing.assert_allclose(numbers(spread), np.stack([edges[:-1], edges[1:], counts], axis=1), rtol=1e-12)
    assert reader.SummaryMetadata("weights").plugin_data.plugin_name == "histograms"

    (picture,) = reader.Tensors("picture")
    width, height, png = numbers(picture)
    assert (width, height) == (b"3", b"2") and png.startswith(b"\x89PNG\r\n\x1a\n"), picture
    assert struct.unpack(">II", png[16:24]) == (3, 2)
    assert reader.SummaryMetadata("picture").plugin_data.plugin_name == "images"

    (note,) = reader.Tensors("note")
    assert numbers(note).item() == "# A run\n\nwith *words*".encode(), note
    assert reader.SummaryMetadata("note").plugin_data.plugin_name == "text"

    contents = reader.PluginTagToContent("hparams")
    start = hparams.parse_session_start_info_plugin_data(contents[hparams.SESSION_START_INFO_TAG])
    assert start.hparams["rate"].number_value == 0.01 and start.hparams["name"].string_value == "a", start
    assert start.hparams["on"].bool_value is True and start.hparams["units"].number_value == 64, start
    experiment = hparams.parse_experiment_plugin_data(contents[hparams.EXPERIMENT_TAG])
    assert [info.name.tag for info in experiment.metric_infos] == ["train/loss"], experiment
    end = hparams.parse_session_end_info_plugin_data(contents[hparams.SESSION_END_INFO_TAG])
    assert end.status == 1, end
    graph = reader.Graph()
    names = {node.name: node for node in graph.node}
    assert {node.op for node in graph.node} >= {"argument", "sum", "greater", "cond", "exp", "multiply", "result"}, names
    assert names["cond/then/exp"].input == ["argument"], names["cond/then/exp"]
    for node in graph.node:
        for source in node.input:
            assert source.split(":")[0] in names, (node.name, source)
    shape = names["cond/then/exp"].attr["_output_shapes"].list.shape[0]
    assert [dim.size for dim in shape.dim] == [3], shape
    print("tensorboard reads what Weft writes")


if __name__ == "__main__":
    main(sys.argv[1])
