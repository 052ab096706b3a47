// Parameters that Python alone has, as the array API or NumPy gives them: what is done with their
// values.
#pragma once

#include "Binding.h"

#include <optional>

#include <weft/device.h>

namespace weft::python {

/// Of a flag without effect: throws what its truth throws.
void check_flag(PyObject *value, const Place &place, const Operand &x);
/// Throws ValueError for another device than that of x.
void check_device(PyObject *value, const Place &place, const Operand &x);

/// The device that a parameter names, if it is given: where new tensors go while this lives.
/// Throws ValueError for what names none, and DeviceError for one that cannot be used.
class OnDevice {
public:
  OnDevice(PyObject *value, const Place &place);
  OnDevice(const OnDevice &) = delete;
  OnDevice &operator=(const OnDevice &) = delete;

  /// What is as good as the tensor where its shape and dtype alone are looked at: there, if a
  /// device is given.
  Tensor beside(Tensor like) const;
  /// The tensor, there if a device is given.
  Tensor moved(Tensor tensor) const;
  /// The same of what was made of `value`: there, or, unless that is a tensor itself, where new
  /// tensors go.
  Tensor placed(Tensor made, PyObject *value) const;

private:
  std::optional<Device> device_;
  std::optional<DeviceScope> scope_;
};

/// Throws ValueError if it is false, not None, and the elements of x are to be put in a row first.
void check_no_copy(PyObject *value, const Place &place, const Operand &x);
/// The value of a parameter with two names. Throws TypeError if both are given.
PyObject *either(PyObject *value, PyObject *other, const Place &place, const char *other_name);

/// A list or tuple of two. Throws TypeError for another object.
class Pair {
public:
  Pair(PyObject *value, const Place &place);
  PyObject *operator[](std::size_t i) const { return parts_[i].ptr(); }

private:
  std::array<nb::object, 2> parts_;
};

/// Whether it is given, and not None.
inline bool is_given(PyObject *value) { return value != nullptr && value != Py_None; }

} // namespace weft::python
