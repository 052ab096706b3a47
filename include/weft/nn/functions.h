// The functions that models are made of besides layers.
#pragma once

#include <cstdint>

#include <weft/random.h>
#include <weft/tensor.h>

namespace weft::nn {

/// x with each element 0 with the probability `rate`, and the others divided by 1 - rate, so that
/// means stay (Srivastava et al. 2014). Throws ValueError unless rate is in [0, 1), DTypeError
/// unless x is floating.
Tensor dropout(const Operand &x, double rate,
               const random::Generator &generator = random::process_generator());
/// With the numbers of a key.
Tensor dropout(const Operand &x, double rate, const Tensor &key);

/// x - log(sum(exp(x))) along an axis, without overflow. As an object, so that it is an activation
/// too. Throws ShapeError for a scalar, IndexError if there is no such axis.
inline constexpr struct LogSoftmax {
  Tensor operator()(const Operand &logits, std::int64_t axis = -1) const;
} log_softmax;
/// exp(x) / sum(exp(x)) along an axis, without overflow. Throws as `log_softmax` does.
inline constexpr struct Softmax {
  Tensor operator()(const Operand &logits, std::int64_t axis = -1) const;
} softmax;
/// (x - mean) / sqrt(variance + epsilon) gamma + beta, with the moments of each row along the last
/// axis, of which gamma and beta have a number for each element (Ba et al. 2016). Throws ShapeError
/// for a scalar x, and where gamma or beta does not fit.
Tensor layer_norm(const Operand &x, const Operand &gamma, const Operand &beta,
                  double epsilon = 1e-3);
/// x / sqrt(mean(x^2) + epsilon) scale, with the mean of each row along the last axis (Zhang &
/// Sennrich 2019). Throws as `layer_norm` does.
Tensor rms_norm(const Operand &x, const Operand &scale, double epsilon = 1e-6);
/// As `layer_norm`, with the moments of each channel, which is the last axis, over all other axes
/// (Ioffe & Szegedy 2015): the form for training, see `BatchNorm`.
Tensor batch_norm(const Operand &x, const Operand &gamma, const Operand &beta,
                  double epsilon = 1e-3);
/// 1 where the last axis' position is the label, 0 elsewhere: (...) integers to (..., classes). A
/// label that is none of 0 to classes - 1 has zeros only. Throws DTypeError unless labels are
/// integers, ValueError if `classes` is negative.
Tensor one_hot(const Operand &labels, const Size &classes, DType dtype = DType::f32);

} // namespace weft::nn
