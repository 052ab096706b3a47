// Functions of rows: softmax, normalizations, cross entropies, by their kernels where that is
// possible; and what they are as ops.
#pragma once

#include <span>
#include <vector>

#include <weft/tensor.h>

namespace weft::nn {

/// exp(x) / sum(exp(x)) along an axis, and its logarithm, of a tensor that has one.
Tensor softmax_along(const Tensor &x, std::int64_t axis);
Tensor log_softmax_along(const Tensor &x, std::int64_t axis);

/// x / sqrt(mean(x^2) + epsilon) scale, of each row along the last axis.
Tensor rms_norm_of_rows(const Tensor &x, const Tensor &scale, double epsilon);

/// Mean and biased variance, whose axes stay.
struct Moments {
  Tensor mean, variance;
};
/// Of all axes but the last.
Moments moments_of_channels(const Tensor &x);
/// (x - mean) / sqrt(variance + epsilon) gamma + beta, where gamma and beta may be undefined.
Tensor normalized(const Tensor &x, const Moments &moments, double epsilon, const Tensor &gamma,
                  const Tensor &beta);
/// The same with the moments of each row along the last axis.
Tensor normalized_rows(const Tensor &x, double epsilon, const Tensor &gamma, const Tensor &beta);

/// log(sum(exp(x))) - x[label] for each row along the last axis, as ops say it. `ops` computes it
/// of scores and labels, and says which label is none.
Tensor cross_entropy_of_rows(const Tensor &scores, const Tensor &labels,
                             Tensor (*ops)(std::span<const Tensor> x));

} // namespace weft::nn

/// The functions that have kernels, of the tensors that lib/Ops/FusedRows.def says.
namespace weft::nn::rows {

using Tensors = std::vector<Tensor>;

// What they share with functions that have none.

/// With the largest along the axis and the sum of exp(x - largest) behind it.
Tensors softmax_along(const Tensor &x, std::int64_t axis);
Tensors log_softmax_along(const Tensor &x, std::int64_t axis);
/// In two passes.
Moments moments_ops(const Tensor &x, const Ints &axes);
Tensor normalized_ops(const Tensor &x, const Moments &moments, const Operand &epsilon,
                      const Tensor &gamma, const Tensor &beta);
/// With the mean and variance of each row behind it.
Tensors layer_norm_of(const Tensor &x, const Operand &epsilon, const Tensor &gamma,
                      const Tensor &beta);

Tensors softmax(std::span<const Tensor> x);
Tensors log_softmax(std::span<const Tensor> x);
/// Of x, gamma, beta and epsilon.
Tensors layer_norm(std::span<const Tensor> x);
/// Of x, scale and epsilon; and the mean of the squares of each row.
Tensors rms_norm(std::span<const Tensor> x);
/// The logarithms of the sums of exp(x - largest), the largest, and the sums, as columns.
Tensors cross_entropy(std::span<const Tensor> x);
Tensors logsumexp(std::span<const Tensor> x);
Tensors variance(std::span<const Tensor> x);
Tensors sum_of_squares(std::span<const Tensor> x);
/// The sum over rows of the squares of x - mean, of x and mean.
Tensors batch_squares(std::span<const Tensor> x);
/// Of x, mean, variance, gamma, beta and epsilon.
Tensors batch_norm(std::span<const Tensor> x);

/// The cotangent of x: of x, the columns of the function, and the cotangent of the result.
Tensors softmax_pullback(std::span<const Tensor> x);
Tensors log_softmax_pullback(std::span<const Tensor> x);
/// Of x, the other columns and the cotangent of the first, but for what comes by the labels.
Tensors cross_entropy_pullback(std::span<const Tensor> x);
/// The cotangent of x, and for each element what the one of gamma is summed of: of x, gamma,
/// epsilon, the columns and the cotangent of the result.
Tensors layer_norm_pullback(std::span<const Tensor> x);
Tensors rms_norm_pullback(std::span<const Tensor> x);

} // namespace weft::nn::rows
