// Losses: what training makes small.
#pragma once

#include <weft/tensor.h>

namespace weft::losses {

/// Mean over the batch of -sum(labels * log_softmax(logits)). `labels` are class numbers (batch,)
/// of an integer dtype, or probabilities (batch, classes); `logits` (batch, classes) floating.
/// Throws ShapeError and DTypeError for others, IndexError for a label that is no class: in a
/// traced function when it runs.
Tensor softmax_cross_entropy(const Operand &labels, const Operand &logits);
/// Mean of the squared differences. The shapes must be equal (ShapeError): (batch,) against
/// (batch, 1) would compare each with each. A C++ scalar stands for all elements.
Tensor mean_squared_error(const Operand &targets, const Operand &predictions);

} // namespace weft::losses
