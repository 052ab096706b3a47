// Functions that are made of ops, with NumPy's names: `clip`, `round`, `hypot`, ..
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include <weft/ops.h>

namespace weft {

/// An operand that may be left out: `clip(x, {}, 6)` has no lower limit.
class OptionalOperand {
public:
  OptionalOperand() = default;
  OptionalOperand(std::nullopt_t) {}
  template <class T, class = std::enable_if_t<
                         std::is_constructible_v<Operand, const T &, std::source_location>>>
  OptionalOperand(const T &value, std::source_location where = WEFT_HERE)
      : own_(std::in_place, value, where), operand_(&*own_) {}
  /// One that lives as long as the call; null for none.
  OptionalOperand(const Operand *operand) : operand_(operand) {}
  OptionalOperand(const OptionalOperand &) = delete;
  OptionalOperand &operator=(const OptionalOperand &) = delete;

  /// Null if there is none.
  const Operand *get() const { return operand_; }

private:
  std::optional<Operand> own_;
  const Operand *operand_ = nullptr;
};

// Besides what is said of each function, all of them throw what ops throw (weft/ops.h).

#include <weft/detail/composites.inc>

} // namespace weft
