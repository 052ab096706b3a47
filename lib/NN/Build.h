// How layers make their variables, and give them shapes at their first call.
#pragma once

#include <optional>
#include <string>

#include <weft/nn/convolution.h>
#include <weft/nn/layer.h>
#include <weft/tensor.h>
#include <weft/variable.h>

namespace weft::nn {

/// Makes the variables of one layer: called by `given`, or, until they have paths, by a name that
/// no other layer of its kind has.
class VariableMaker {
public:
  VariableMaker(const char *kind, const std::string &given);

  Variable operator()(const char *part, DType dtype, VariableInitializer initializer,
                      bool trainable = true) const;
  /// One that `used` says is wanted.
  std::optional<Variable> optional(bool used, const char *part, DType dtype,
                                   VariableInitializer initializer) const;

private:
  bool given_;
  std::string name_;
};

/// A size of an input that a layer is built for: of one that has an axis of it. Where a trace does
/// not know it, the trace is given up for one that does; if its signature keeps it from knowing, it
/// is a ShapeError in the layer's words.
std::int64_t size_for_building(const std::string &prefix, const Tensor &x, std::int64_t axis);

/// How many elements x has along an axis, an i64 scalar, and their numbers 0, 1, .. as an i64
/// vector; counted when it runs, where a trace does not know.
Tensor count_along(const Tensor &x, std::int64_t axis);
Tensor positions_along(const Tensor &x, std::int64_t axis);

/// Throws DTypeError in the layer's words unless x is of the layer's dtype.
void check_dtype(const std::string &prefix, const Tensor &x, DType dtype);

/// Throws ShapeError in the layer's words unless x has at least `rank` axes.
void check_rank(const std::string &prefix, const Tensor &x, std::size_t rank);

/// Throws ShapeError in the layer's words unless x has at least `rank` axes and the last of that
/// size: "dense: the last axis of x is 63, but the layer was built for 64".
void check_last_axis(const std::string &prefix, const Tensor &x, std::size_t rank,
                     std::int64_t size);

/// Throws ShapeError in the layer's words unless x is (batch, `rank` spatial axes, channels).
void check_images(const std::string &prefix, const Tensor &x, int rank);

/// Entries per axis of an option, each at least 1, or else ValueError.
Ints positive_per_axis(const LayerName &name, const char *what, const PerAxis &values, int rank);

} // namespace weft::nn
