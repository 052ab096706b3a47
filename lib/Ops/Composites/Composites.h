// What functions made of ops share: their operands as tensors after promotion, axes counted from
// the front, and the functions that compute those whose record has no body.
#pragma once

#include <array>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "Ops/Call.h"
#include "Ops/DeviceOps.h"
#include <weft/composites.h>

namespace weft::call {

constexpr DTypeSet admits(std::string_view word, std::initializer_list<DType> dtypes) {
  DTypeSet set{word, 0};
  for (const DType dtype : dtypes) set.bits |= 1u << static_cast<unsigned>(dtype);
  return set;
}

/// An operand of a composite: its name, and whether it takes a dtype together with others.
struct ParameterInfo {
  std::string_view name;
  DTypeSet admits;
  bool promoted;
};

/// The line of the first operand that knows one; some may be null.
std::source_location line_of(std::span<const Operand *const> operands);

/// Writes the operands as tensors after promotion, undefined where none is given. Throws DTypeError
/// for a dtype that an operand does not admit, StateError for an undefined tensor.
void promote_operands(const char *function, Promotion promotion,
                      std::span<const ParameterInfo> infos,
                      std::span<const Operand *const> operands, Tensor *tensors);

template <std::size_t N>
std::array<Tensor, N> tensors_of(const char *function, Promotion promotion,
                                 const ParameterInfo (&infos)[N],
                                 const Operand *const (&operands)[N]) {
  std::array<Tensor, N> tensors;
  promote_operands(function, promotion, infos, operands, tensors.data());
  return tensors;
}

/// The same of a list. Throws ValueError if it is empty.
std::vector<Tensor> tensors_of(const char *function, Promotion promotion, const ParameterInfo &info,
                               std::initializer_list<Operand> list);
std::vector<Tensor> tensors_of(const char *function, Promotion promotion, const ParameterInfo &info,
                               std::span<const Tensor> list);

/// How a function made of ops is one op of 16-bit floats: its body is computed in f32, of all
/// operands if the floating ones are of one such dtype, and its results are rounded to that.
class Rounding {
public:
  /// Also brings them to one device, where the function's own tensors will be, too: see
  /// gather_on_one_device. `asked` is whether the caller says the dtype of the result.
  explicit Rounding(std::span<Tensor> operands, bool asked = false);

  Tensor of(Tensor result) const { return dtype_ ? rounded(std::move(result)) : std::move(result); }
  std::vector<Tensor> of(std::vector<Tensor> results) const {
    for (Tensor &result : results) result = of(std::move(result));
    return results;
  }
  /// Of several results with names.
  template <class Results, class... Members>
  Results of(Results results, Members... members) const {
    ((results.*members = of(std::move(results.*members))), ...);
    return results;
  }

private:
  Tensor rounded(Tensor result) const;
  std::optional<DType> dtype_;
  DeviceOfOperands device_;
};

/// A number that elements are filled with, as a scalar of their dtype; `name` is the argument.
/// Throws ValueError for one that an integer dtype does not hold, and beyond 2^53, where it may not
/// be the number any more that was written.
Tensor filling(const char *function, const char *name, double value, DType dtype);

/// Counted from the front. Throws IndexError for an axis that a tensor of that rank does not have;
/// `name` is the argument.
std::int64_t checked_axis(const char *function, const char *name, std::int64_t axis,
                          std::int64_t rank);
std::optional<std::int64_t> checked_axis(const char *function, const char *name,
                                         const std::optional<std::int64_t> &axis,
                                         std::int64_t rank);
/// All axes if none are given, ascending. Throws ValueError where one is given twice.
Ints checked_axes(const char *function, const char *name, const Axes &axes, std::int64_t rank);

} // namespace weft::call

namespace weft::composites {

#include "Composites.inc"

/// The shape as a trace knows it.
inline Shape shape_of(const Tensor &x) { return detail::type_of(x).shape; }

} // namespace weft::composites
