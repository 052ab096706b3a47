"""Metrics: what tells people how good a model is.

    accuracy = wf.metrics.SparseCategoricalAccuracy()
    for x, y in batches:
        accuracy.update(y, model(x))
    print(float(accuracy.result()))

`accuracy(y, scores)` adds a batch and gives the result. State is kept in variables that are not
trainable, also in traced functions.
"""

from weft import _metrics
from weft._bases import Metric as Metric
from weft._metrics import *  # noqa: F403

__all__ = ["Metric"]
__all__ += _metrics.__all__
