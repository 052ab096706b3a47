"""TensorFlow's side of data_digits: epochs of tf.data over a data set of bytes in memory.

A line server (docs/benchmarks.md): each line on stdin asks for one epoch, answered by one JSON line.

    tf_data.py elements|indices IMAGES LABELS
"""

import json
import os
import sys
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf

BATCH = 32


def read_idx(path, header, shape):
    return np.fromfile(path, np.uint8, offset=header).reshape(shape)


def scaled(x, y):
    return tf.cast(x, tf.float32) * (1 / 255), tf.cast(y, tf.int32)


def main(way, images, labels):
    x = tf.constant(read_idx(images, 16, (-1, 28, 28)))
    y = tf.constant(read_idx(labels, 8, (-1,)))
    count = len(x)
    if way == "elements":  # what the tutorials show
        batches = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(count).batch(BATCH, drop_remainder=True)
        batches = batches.map(scaled, num_parallel_calls=tf.data.AUTOTUNE)
    else:  # whole batches by their indices
        batches = tf.data.Dataset.range(count).shuffle(count).batch(BATCH, drop_remainder=True)
        batches = batches.map(lambda i: scaled(tf.gather(x, i), tf.gather(y, i)), num_parallel_calls=tf.data.AUTOTUNE)
    batches = batches.prefetch(tf.data.AUTOTUNE)

    # The loop is in the graph, so that no time goes to Python.
    @tf.function
    def epoch():
        return batches.reduce(tf.constant(0, tf.int32), lambda seen, element: seen + tf.shape(element[0])[0])

    epoch()
    for _ in sys.stdin:
        start = time.perf_counter()
        seen = int(epoch())
        spent = time.perf_counter() - start
        assert seen == count // BATCH * BATCH
        print(json.dumps({"value": seen / spent, "unit": "img/s", "with": f"tf.data of TensorFlow {tf.__version__}"}), flush=True)


main(*sys.argv[1:])
