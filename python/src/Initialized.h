// Objects of bound classes whose `__init__` was never reached: what every use of one says.
#pragma once

#include <nanobind/nanobind.h>

namespace weft {
class Tensor;
class TensorArray;
namespace optimizers {
class ReduceOnPlateau;
} // namespace optimizers
namespace random {
class Generator;
} // namespace random
} // namespace weft

namespace weft::python {

/// Whether a bound class says by `using Initialized = void` that its objects may come without what
/// they hold: of a subclass whose `__init__` does not call super().__init__, or of `__new__`.
template <class T>
inline constexpr bool checks_init = requires { typename T::Initialized; };
// Classes of the library itself.
template <>
inline constexpr bool checks_init<Tensor> = true;
template <>
inline constexpr bool checks_init<TensorArray> = true;
template <>
inline constexpr bool checks_init<optimizers::ReduceOnPlateau> = true;
template <>
inline constexpr bool checks_init<random::Generator> = true;

/// The class of the classes that nanobind makes: asking nanobind takes longer. Set by the tensors.
inline PyTypeObject *class_of_bound_classes = nullptr;

inline bool is_bound(nanobind::handle object) {
  return Py_TYPE(Py_TYPE(object.ptr())) == class_of_bound_classes || nanobind::inst_check(object);
}

/// A TypeError that says which object was never initialized, and what to do.
[[noreturn]] void refuse_half_made(PyObject *object);

} // namespace weft::python

/// Takes half-made objects and refuses them where they are read: an argument that does not convert
/// would be a TypeError about overloads, or a std::bad_cast. Only conversions inside of casters of
/// containers must not throw: no bound function takes a list of such objects.
template <class T>
  requires weft::python::checks_init<T>
struct nanobind::detail::type_caster<T, int> : nanobind::detail::type_caster_base<T> {
  using Base = nanobind::detail::type_caster_base<T>;

  bool from_python(handle source, std::uint32_t flags, cleanup_list *cleanup) noexcept {
    constexpr auto kMakes = static_cast<std::uint32_t>(cast_flags::construct) | cast_flags::trusted;
    if ((flags & kMakes) == 0 && weft::python::is_bound(source) && !inst_ready(source) &&
        isinstance<T>(source)) {
      half_made_ = source.ptr();
      return true;
    }
    return Base::from_python(source, flags, cleanup);
  }
  template <class U>
  bool can_cast() const noexcept {
    return half_made_ != nullptr || Base::template can_cast<U>();
  }
  operator T *() { return checked().operator T *(); }
  operator T &() { return checked().operator T &(); }
  operator T &&() { return checked().operator T &&(); }

private:
  Base &checked() {
    if (half_made_ != nullptr) [[unlikely]]
      weft::python::refuse_half_made(half_made_);
    return *this;
  }

  PyObject *half_made_ = nullptr;
};
