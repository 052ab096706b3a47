// Normalization: by the batch, by each example, by groups of channels, by the mean square.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <weft/nn/layer.h>
#include <weft/options.h>
#include <weft/variable.h>

namespace weft::nn {

class VariableMaker;

/// Options of `BatchNorm`; the numbers are Keras's.
struct BatchNormOptions {
  /// How much of the moving statistics stays at each step.
  double momentum = 0.99;
  double epsilon = 1e-3;
  bool center = true, scale = true;
  /// Whether the moving variance is the unbiased one, n / (n - 1) times that of the batch, as
  /// PyTorch has it.
  bool unbiased = false;
  /// Whether the batch of a step of replicas is that of all of them, as without replicas.
  bool synchronized = false;
  DType dtype = DType::f32;
  std::string name = "";
};
WEFT_OPTIONS(BatchNormOptions, momentum, epsilon, center, scale, unbiased, synchronized, dtype,
             name)

/// (x - mean) / sqrt(variance + epsilon) gamma + beta, of each channel, which is the last axis,
/// over all others (Ioffe & Szegedy 2015). In training mean and (biased) variance are the batch's,
/// and the moving ones follow: moving = moving momentum + batch (1 - momentum). Else they are the
/// moving ones. In f32 or f64.
///
/// In a step of replicas (`train::fit` with them, tf.distribute) the batch is the replica's rows,
/// or with `synchronized` the rows of all replicas, whose moments they tell each other in one
/// exchange, and one in reverse; then it is a ValueError where a rank has several replicas.
class BatchNorm {
public:
  /// The channels follow from the first call. Throws ValueError for a momentum outside of [0, 1] or
  /// an epsilon that is not positive.
  explicit BatchNorm(const BatchNormOptions &options = {}, std::source_location where = WEFT_HERE);

  /// Throws ShapeError for fewer than two axes or another number of channels.
  Tensor operator()(const Operand &x, const CallOptions &options = {}) const;

  std::optional<Variable> gamma, beta;
  Variable moving_mean, moving_variance; ///< not trainable

  WEFT_FIELDS(BatchNorm, gamma, beta, moving_mean, moving_variance, momentum_, epsilon_, unbiased_,
              synchronized_, name_)

private:
  BatchNorm(const VariableMaker &make, const BatchNormOptions &options,
            const std::source_location &where);

  double momentum_, epsilon_;
  bool unbiased_, synchronized_;
  LayerName name_;
};

/// Options of `LayerNorm`.
struct LayerNormOptions {
  double epsilon = 1e-3;
  bool center = true, scale = true;
  DType dtype = DType::f32;
  std::string name = "";
};
WEFT_OPTIONS(LayerNormOptions, epsilon, center, scale, dtype, name)

/// (x - mean) / sqrt(variance + epsilon) gamma + beta, of each row along the last axis (Ba et al.
/// 2016).
class LayerNorm {
public:
  /// The size of the last axis follows from the first call. Throws ValueError for an epsilon that
  /// is not positive.
  explicit LayerNorm(const LayerNormOptions &options = {}, std::source_location where = WEFT_HERE);
  /// Throws ValueError unless the size is at least 1.
  explicit LayerNorm(std::int64_t size, const LayerNormOptions &options = {},
                     std::source_location where = WEFT_HERE);

  /// Throws ShapeError for another size of the last axis.
  Tensor operator()(const Operand &x) const;

  std::optional<Variable> gamma, beta;

  WEFT_FIELDS(LayerNorm, gamma, beta, epsilon_, name_)

private:
  LayerNorm(const VariableMaker &make, std::optional<std::int64_t> size,
            const LayerNormOptions &options, const std::source_location &where);

  double epsilon_;
  LayerName name_;
};

/// Options of `RMSNorm`.
struct RMSNormOptions {
  double epsilon = 1e-6;
  DType dtype = DType::f32;
  std::string name = "";
};
WEFT_OPTIONS(RMSNormOptions, epsilon, dtype, name)

/// x / sqrt(mean(x^2) + epsilon) scale, of each row along the last axis (Zhang & Sennrich 2019).
class RMSNorm {
public:
  explicit RMSNorm(const RMSNormOptions &options = {}, std::source_location where = WEFT_HERE);
  explicit RMSNorm(std::int64_t size, const RMSNormOptions &options = {},
                   std::source_location where = WEFT_HERE);

  Tensor operator()(const Operand &x) const;

  Variable scale;

  WEFT_FIELDS(RMSNorm, scale, epsilon_, name_)

private:
  RMSNorm(const VariableMaker &make, std::optional<std::int64_t> size,
          const RMSNormOptions &options, const std::source_location &where);

  double epsilon_;
  LayerName name_;
};

/// Options of `GroupNorm`.
struct GroupNormOptions {
  double epsilon = 1e-3;
  bool center = true, scale = true;
  DType dtype = DType::f32;
  std::string name = "";
};
WEFT_OPTIONS(GroupNormOptions, epsilon, center, scale, dtype, name)

/// As LayerNorm of each example and group of channels, which are the last axis, over all axes
/// between (Wu & He 2018); gamma and beta are per channel.
class GroupNorm {
public:
  /// Throws ValueError unless there is at least one group.
  explicit GroupNorm(std::int64_t groups = 32, const GroupNormOptions &options = {},
                     std::source_location where = WEFT_HERE);

  /// Throws ShapeError for fewer than two axes, or if the groups do not divide the channels.
  Tensor operator()(const Operand &x) const;

  std::optional<Variable> gamma, beta;

  WEFT_FIELDS(GroupNorm, gamma, beta, groups_, epsilon_, name_)

private:
  GroupNorm(const VariableMaker &make, std::int64_t groups, const GroupNormOptions &options,
            const std::source_location &where);

  std::int64_t groups_;
  double epsilon_;
  LayerName name_;
};

} // namespace weft::nn
