// Sizes in Python: numbers, and integers that a traced function computes: `wf.zeros([wf.size(x, 0),
// 3])`.
#pragma once

#include "Binding.h"

#include <weft/size.h>

namespace weft::python {

/// A list of sizes, a size, or a tensor of sizes, each a number or an integer scalar of a trace.
/// Throws DTypeError for what is no integer, ShapeError for what is no scalar, or for a tensor of a
/// trace of which it is not known how many sizes it has.
template <>
Sizes to(PyObject *object, const Place &place);
/// The same of what may be one integer or a list of them, in the words of `to_integer_list`.
Sizes to_sizes_or_integers(PyObject *object, const Place &place);
/// One size.
template <>
Size to(PyObject *object, const Place &place);

inline PyTypeObject *size_type = nullptr;
/// Whether it is a size that a trace leaves open.
inline bool is_size(PyObject *object) { return Py_TYPE(object) == size_type; }
inline const Size &size_in(PyObject *object) { return *nb::inst_ptr<Size>(object); }
/// Whether it is that, or a tensor of a trace, which has no number yet.
inline bool is_computed(PyObject *object) {
  return is_size(object) || (is_tensor(object) && tensor_in(object).traced());
}
/// A number of Python, or a `weft.Size`.
nb::object wrap(const Size &size);
/// The number in the call that is traced, or a scalar where a trace is for none.
nb::object number_or_scalar(const Size &size);

/// `arange` between bounds that a trace computes, all three scalars: floating ones, or i64.
Tensor arange_between(const Tensor &start, const Tensor &stop, const Tensor &step, DType dtype);

/// Entry number `at` of the tensor of all sizes that `internal_sizes` gave: a number where that is
/// known. Undefined for other tensors.
Tensor size_in(const Tensor &sizes, std::int64_t at);

void define_sizes(nb::module_ &module);

} // namespace weft::python
