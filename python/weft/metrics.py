"""Metrics: what tells people how good a model is.

    accuracy = wf.metrics.SparseCategoricalAccuracy()
    for x, y in batches:
        accuracy.update(y, model(x))
    print(float(accuracy.result()))

`accuracy(y, scores)` adds a batch and gives the result. State is kept in variables that are not
trainable, also in traced functions.
"""

from weft._bases import Metric as Metric
from weft._weft import (
    AUC as AUC,
    F1 as F1,
    R2 as R2,
    BinaryAccuracy as BinaryAccuracy,
    CategoricalAccuracy as CategoricalAccuracy,
    ConfusionMatrix as ConfusionMatrix,
    Mean as Mean,
    MeanAbsoluteError as MeanAbsoluteError,
    MeanSquaredError as MeanSquaredError,
    Perplexity as Perplexity,
    Precision as Precision,
    Recall as Recall,
    SparseCategoricalAccuracy as SparseCategoricalAccuracy,
    TopKAccuracy as TopKAccuracy,
    metrics_accuracy as accuracy,
)

__all__ = [
    "AUC",
    "F1",
    "R2",
    "BinaryAccuracy",
    "CategoricalAccuracy",
    "ConfusionMatrix",
    "Mean",
    "MeanAbsoluteError",
    "MeanSquaredError",
    "Metric",
    "Perplexity",
    "Precision",
    "Recall",
    "SparseCategoricalAccuracy",
    "TopKAccuracy",
    "accuracy",
]
