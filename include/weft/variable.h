// Variables: named state that lives between calls.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <weft/tensor.h>

namespace weft {

class VariableAt;
class VariableState;

/// Gives the first value of a variable of that shape and dtype. Random numbers are those of a
/// generator of the seed; without one, the next of `random::process_generator()`.
using VariableInitializer = std::function<Tensor(const Shape &shape, DType dtype,
                                                 const std::optional<std::uint64_t> &seed)>;

/// A named tensor that can be given new values of the same dtype and shape. Copies of the handle
/// are the same variable. Reads and assigns are atomic and may come from any thread; inside a
/// traced function they keep program order, and the function sees the value at the time of the
/// call.
class Variable {
public:
  /// Starts with the value `initial`; a variable without a name gets one of its own ("variable_3").
  /// Inside a traced function it is created once, while the function is traced, with the value that
  /// `initial` has then. Throws StateError for an undefined tensor, or a value that depends on
  /// arguments of a trace.
  explicit Variable(const Operand &initial, std::string name = "", bool trainable = true);

  /// A variable whose shape is not known yet: it gets it, and its first value, by `initialize`.
  /// Until then its shape and value are a StateError. Layers make such variables, and initialize
  /// them when they are first called.
  static Variable uninitialized(DType dtype, VariableInitializer initializer, std::string name = "",
                                bool trainable = true);

  // A move is a copy: no handle is ever without its variable.
  Variable(const Variable &) = default;
  Variable &operator=(const Variable &) = default;

  /// The name it was created with, or else its path in the model that it was first seen in.
  const std::string &name() const;
  bool trainable() const;
  DType dtype() const;
  Shape shape() const;

  /// The present value, as an op that tapes and traces see.
  Tensor value(std::source_location where = WEFT_HERE) const;

  /// Gives it a new value, adds to it, subtracts from it. A C++ scalar takes the variable's dtype
  /// and stands for all elements. Throws DTypeError and ShapeError that name the variable.
  const Variable &assign(const Operand &value) const;
  const Variable &assign_add(const Operand &value) const;
  const Variable &assign_sub(const Operand &value) const;

  /// `v += y` is `v.assign_add(y)`, `v *= y` is `v.assign(v * y)`: the variable has the new value,
  /// for all its handles.
  const Variable &operator+=(const Operand &y) const { return assign_add(y); }
  const Variable &operator-=(const Operand &y) const { return assign_sub(y); }
  const Variable &operator*=(const Operand &y) const;
  const Variable &operator/=(const Operand &y) const;

  /// Some of its elements, to be read or given new values: `v[3].assign(0)`, `v[{all,
  /// 1}].assign_add(y)`.
  VariableAt operator[](std::initializer_list<Index> indices) const;
  VariableAt operator[](const Index &index) const;

  /// Whether it has a shape and a value.
  bool initialized() const;
  /// How many ranks keep a part of it each (Optimizer::shard_state); 1 if it is whole.
  int ranks() const;
  /// Gives it its shape and its first value, once: if it has one already, nothing is done. Inside a
  /// traced function that happens while it is traced. Throws ShapeError if it has another shape, or
  /// the initializer gives another.
  const Variable &initialize(const Shape &shape, std::source_location where = WEFT_HERE) const;
  /// Draws its first value by this seed: at `initialize`, or now, if it is initialized. Does
  /// nothing to a variable that was created with a value.
  void seed(std::uint64_t seed, std::source_location where = WEFT_HERE) const;
  /// Another variable with the same value, or without one, that draws its first value alike.
  Variable clone() const;
  /// What it is called from now on if it was created without a name and has no path yet.
  void name_by_path(const std::string &path) const;

  friend bool operator==(const Variable &a, const Variable &b) { return a.state_ == b.state_; }

  /// For the library itself. (A template, or 0 would be a null pointer and not a number.)
  template <std::same_as<std::shared_ptr<VariableState>> State>
  explicit Variable(State state) : state_(std::move(state)) {}
  const std::shared_ptr<VariableState> &state() const { return state_; }

private:
  std::shared_ptr<VariableState> state_;
};

/// The elements of a variable at an index, with the rules of TensorAt; an operand of ops as a
/// tensor is, `v[0] + 1`. An update reads the variable and assigns it: of two threads that update
/// elements of one variable at once, one update may be lost.
class VariableAt {
public:
  VariableAt(Variable variable, std::vector<Index> indices)
      : variable_(std::move(variable)), indices_(std::move(indices)) {}

  /// Their present values.
  Tensor value(std::source_location where = WEFT_HERE) const;
  const VariableAt &assign(const Operand &value) const;
  const VariableAt &assign_add(const Operand &value) const;
  const VariableAt &assign_sub(const Operand &value) const;

  /// `v[0] = y` is `v[0].assign(y)`, also where y is elements of a variable, and `v[0] += y` is
  /// `v[0].assign_add(y)`.
  const VariableAt &operator=(const Operand &value) const { return assign(value); }
  const VariableAt &operator=(const VariableAt &other) const { return assign(other); }
  VariableAt(const VariableAt &) = default;
  const VariableAt &operator+=(const Operand &y) const { return assign_add(y); }
  const VariableAt &operator-=(const Operand &y) const { return assign_sub(y); }
  const VariableAt &operator*=(const Operand &y) const;
  const VariableAt &operator/=(const Operand &y) const;

private:
  Variable variable_;
  std::vector<Index> indices_;
};

} // namespace weft
