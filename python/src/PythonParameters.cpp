// Checks of the values of parameters that Python alone has.
#include "PythonParameters.h"

#include "Text.h"
#include <weft/detail/named_call.h>

namespace weft::python {

void check_flag(PyObject *value, const Place &place, const Operand &) {
  static_cast<void>(given<bool>(value, true, place));
}

void check_device(PyObject *value, const Place &place, const Operand &x) {
  if (!is_given(value)) return;
  const Device device = parse_device(text_of(nb::handle(value)));
  const Device own = x.impl() == nullptr ? Device() : x.impl()->device;
  if (device != own)
    throw ValueError(place.text() + " is " + to_string(device) + ", but the elements are on " +
                     to_string(own) + ": take to_device()");
}

OnDevice::OnDevice(PyObject *value, const Place &place) {
  if (!is_given(value)) return;
  const detail::NamedCall named(place.function);
  device_ = parse_device(text_of(nb::handle(value)));
  scope_.emplace(*device_);
}

Tensor OnDevice::beside(Tensor like) const {
  if (!device_ || like.traced() || like.device() == *device_) return like;
  return broadcast(zeros({}, like.dtype()), like.shape());
}

Tensor OnDevice::moved(Tensor tensor) const {
  return device_ && !tensor.traced() ? tensor.to(*device_) : tensor;
}

Tensor OnDevice::placed(Tensor made, PyObject *value) const {
  if (device_) return moved(std::move(made));
  const Device wanted = default_device();
  const bool is_new = !is_tensor(value) && !is_variable(value);
  if (!is_new) return made;
  return wanted != Device() && !made.traced() ? made.to(wanted)
                                              : detail::committed(std::move(made));
}

void check_no_copy(PyObject *value, const Place &place, const Operand &x) {
  if (!is_given(value) || to<bool>(value, place) || x.impl() == nullptr) return;
  const Tensor tensor = x.materialize();
  if (!tensor.traced() && !tensor.is_contiguous())
    throw ValueError(place.text() +
                     " is False, and the elements, which are not in a row, would be copied");
}

Pair::Pair(PyObject *value, const Place &place) {
  const bool is_one = PyTuple_Check(value) || PyList_Check(value);
  const Py_ssize_t count = is_one ? PySequence_Size(value) : 0;
  if (count != 2)
    raise_type_error(place.text() +
                     (is_one ? " has " + std::to_string(count) + " entries"
                             : std::string(" is of type ") + Py_TYPE(value)->tp_name) +
                     ": a pair is wanted, a tuple of two");
  for (std::size_t i = 0; i < 2; ++i)
    parts_[i] = nb::steal(PySequence_GetItem(value, static_cast<Py_ssize_t>(i)));
}

PyObject *either(PyObject *value, PyObject *other, const Place &place, const char *other_name) {
  if (!is_given(other)) return value;
  if (value != nullptr)
    raise_type_error("weft." + std::string(place.function) + "() got both '" + place.argument +
                     "' and '" + other_name + "', which are one argument");
  return other;
}

} // namespace weft::python
