// Attribute values of an op call: one representation for eager calls, traces and IR.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <weft/shape.h>

namespace weft {

/// The elements of a constant: dense, row-major, shared and never changed.
struct ConstantData {
  TensorType type;
  const void *bytes = nullptr;
  /// Keeps `bytes` alive.
  std::shared_ptr<const void> owner;
};
using ConstantRef = std::shared_ptr<const ConstantData>;

/// The state behind a weft::Variable (lib/Runtime).
class VariableState;
using VariableRef = std::shared_ptr<VariableState>;

/// One attribute of an op call. Which alternative an op takes at which place is in its record.
using Attr =
    std::variant<bool, std::int64_t, double, DType, Ints, std::string, ConstantRef, VariableRef>;

/// The attributes of an op call, in the order of its record.
using Attrs = std::vector<Attr>;

} // namespace weft
