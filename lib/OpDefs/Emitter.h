// Emitters: what a derivative rule, and what is said of complex numbers by real ones, builds its
// result with. The tape's emitter executes op calls, the passes' builds operations.
#pragma once

#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "OpDefs/OpInfo.h"

namespace weft {

/// A list of sizes as a rule gives it to an op: numbers, and values of the emitter, i64 scalars.
template <class Value>
struct SizeList {
  Ints numbers; ///< detail::kDynamic where a value stands
  std::vector<Value> values;

  SizeList() = default;
  SizeList(Ints list) : numbers(std::move(list)) {}
  SizeList(const Shape &shape) : numbers(shape) {}
  SizeList(std::initializer_list<std::int64_t> list) : numbers(list) {}

  void push_back(std::int64_t number) { numbers.push_back(number); }
  void push_back(const Value &value) {
    numbers.push_back(detail::kDynamic);
    values.push_back(value);
  }
};

/// Base of every emitter, with one method per op that a rule may emit: ops without effects, and
/// collectives. A rule builds nothing in any other way, so what it builds can be differentiated
/// again. `Derived` has
///
///   using Value                                                 a tensor or an SSA value
///   Value emit(OpCode, std::span<const Value>, const Attrs &)   executes or builds a call
///   std::vector<Value> emit_all(..)                             the same of an op with several
///                                                               results
///   TensorType type(const Value &)                              its type, with unknown dimensions
///   Value scalar(double, DType)                                 a constant of rank 0
template <class Derived, class ValueType>
class EmitterOps {
public:
  using Value = ValueType;

#include "EmitterOps.inc"

private:
  /// Emits an op whose lists may have values, which are its last operands.
  Value emit_sized(OpCode op, std::span<const Value> operands,
                   std::initializer_list<const SizeList<Value> *> lists, const Attrs &attrs) {
    std::vector<Value> all;
    for (const SizeList<Value> *list : lists) {
      if (list->values.empty()) continue;
      if (all.empty()) all.assign(operands.begin(), operands.end());
      all.insert(all.end(), list->values.begin(), list->values.end());
    }
    return self().emit(op, all.empty() ? operands : std::span<const Value>(all), attrs);
  }

  // Only the emitter named as `Derived` may derive from it.
  friend Derived;
  EmitterOps() = default;

  Derived &self() { return static_cast<Derived &>(*this); }
};

} // namespace weft
