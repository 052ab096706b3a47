// What is defined for weft.losses, weft.metrics, weft.schedules and weft.optimizers.
#pragma once

#include "Bound.h"
#include "Numbers.h"

#include <algorithm>
#include <array>

namespace weft::python {

/// The operands of a loss or an update of a metric: numbers of Python take the dtype of the others,
/// but labels that are integers stay that beside floating predictions.
template <std::size_t N>
class Targets {
public:
  /// `also` is an argument whose dtype counts, too, or null.
  Targets(std::span<PyObject *const> values, const char *function,
          std::span<const char *const> names, PyObject *also = nullptr) {
    Beside all;
    for (std::size_t i = 0; i < N; ++i) all.add(values[i]);
    if (also != nullptr) all.add(also);
    dtype_ = all.dtype();
    for (std::size_t i = 0; i < N; ++i) {
      const Place place{function, names[i]};
      const auto hint = is_wide(values[i]) ? dtype_ : std::nullopt;
      nb::object number; // which a numpy.float64 beside tensors is
      if (is_wide_float(values[i]) && is_beside_tensor(values, i))
        number = checked(PyFloat_FromDouble(PyFloat_AS_DOUBLE(values[i])));
      PyObject *value = number.is_valid() ? number.ptr() : values[i];
      if (!arguments_[i].convert(value, place, hint)) refuse_object(value, place);
      if (is_floating(arguments_[i].operand().dtype()) && is_weak(value))
        arguments_[i].convert(value, place, dtype_);
    }
  }
  const Operand &operator[](std::size_t i) const { return arguments_[i].operand(); }
  /// What `call(operands...)` gives, without the lock of Python if there is much to compute.
  template <class Call>
  auto apply(const Call &call) const {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return unlocked(std::max({arguments_[I].size()...}),
                      [&] { return call(arguments_[I].operand()...); });
    }(std::make_index_sequence<N>());
  }
  /// Factors of the values, undefined for None or null.
  Tensor weights(PyObject *value, const Place &place) const {
    return value == nullptr || value == Py_None ? Tensor() : to_tensor(value, place, dtype_);
  }

private:
  /// Whether all in a value are numbers; those of bool count as well.
  static bool is_weak(PyObject *value) {
    Beside numbers(DType::boolean);
    numbers.add(value);
    return numbers.dtype() == DType::boolean;
  }
  static bool is_beside_tensor(std::span<PyObject *const> values, std::size_t i) {
    for (std::size_t other = 0; other < N; ++other)
      if (other != i && !is_weak(values[other])) return true;
    return false;
  }
  /// Whether it is an integer of Python that no dtype of integers holds.
  static bool is_wide(PyObject *value) {
    int overflow = 0;
    if (PyLong_Check(value) != 0) PyLong_AsLongLongAndOverflow(value, &overflow);
    return overflow != 0;
  }

  std::array<Argument, N> arguments_;
  std::optional<DType> dtype_;
};

void define_losses();
void define_network_functions();
void define_metrics(nb::module_ &module);
void define_schedules(nb::module_ &module);
/// The schedule that a Schedule of Python is; empty for other objects.
std::function<Tensor(const Tensor &)> schedule_of(nb::handle object);
void define_optimizers(nb::module_ &module);

} // namespace weft::python
