// Metrics: what tells people how good a model is.
#pragma once

#include <weft/tensor.h>

namespace weft::metrics {

/// Share of rows of `scores` (..., classes) whose largest entry, the first of equal ones, is at the
/// label (...), as f32. A row whose largest entry is NaN is wrong. Throws DTypeError unless labels
/// are integers, ShapeError for other shapes (one-hot labels, say: hand over their `argmax`), and
/// IndexError for a label that is no class: in a traced function when it runs.
Tensor accuracy(const Operand &labels, const Operand &scores);

} // namespace weft::metrics
