// Iteration over tensors of Python: the slices along the first axis, in loops and as `a, b = x`.
#include "Define.h"
#include "Tensors.h"

#include <frameobject.h>

namespace weft::python {

namespace {

/// The slices of a tensor along its first axis, one after the other.
struct Rows {
  using Initialized = void; // see Initialized.h
  Tensor tensor;
  std::int64_t next, count;
};

PyObject *next_row(PyObject *self) {
  return guarded([&]() -> PyObject * {
    Rows &rows = nb::cast<Rows &>(nb::handle(self));
    if (rows.next == rows.count) return nullptr;
    return wrap(rows.tensor[rows.next++]);
  });
}

PyObject *self_of(PyObject *self) { return Py_NewRef(self); }

const PyType_Slot row_slots[] = {{Py_tp_iter, reinterpret_cast<void *>(self_of)},
                                 {Py_tp_iternext, reinterpret_cast<void *>(next_row)},
                                 {0, nullptr}};

int number_of_instruction(const char *name) {
  const nb::object numbers = nb::module_::import_("opcode").attr("opmap");
  return nb::cast<int>(numbers[name]);
}

/// What the frame that runs takes apart.
struct Unpacking {
  bool is_one = false;
  bool starred = false;   ///< `a, *b = x`
  std::int64_t count = 0; ///< of names; 0 if they are too many to be told
};

/// Whether it is for `a, b = x`, and not for a loop or a call, that an iterator is asked for.
Unpacking unpacking() {
  PyFrameObject *frame = PyEval_GetFrame();
  if (frame == nullptr) return {};
  const int at = PyFrame_GetLasti(frame);
  const nb::object code = nb::steal(reinterpret_cast<PyObject *>(PyFrame_GetCode(frame)));
  const nb::object bytes = checked(PyCode_GetCode(reinterpret_cast<PyCodeObject *>(code.ptr())));
  if (at < 0 || at + 1 >= PyBytes_GET_SIZE(bytes.ptr())) return {};
  static const int whole = number_of_instruction("UNPACK_SEQUENCE"),
                   starred = number_of_instruction("UNPACK_EX"),
                   extended = number_of_instruction("EXTENDED_ARG");
  const auto *text = reinterpret_cast<const unsigned char *>(PyBytes_AS_STRING(bytes.ptr()));
  if (text[at] == starred) return {.is_one = true, .starred = true};
  if (text[at] != whole) return {};
  const bool large = at >= 2 && text[at - 2] == extended;
  return {.is_one = true, .count = large ? 0 : text[at + 1]};
}

} // namespace

PyObject *iterate(PyObject *self) {
  return guarded([&] {
    const Tensor &tensor = tensor_in(self);
    if (tensor.rank() == 0) raise_type_error("a tensor of rank 0 is not iterable");
    std::int64_t count = detail::type_of(tensor).shape[0];
    if (tensor.traced()) {
      const Unpacking names = unpacking();
      if (!names.is_one)
        raise_not_allowed(
            "iteration over a tensor of a traced function, which Python would unroll: write a "
            "`for` statement that AutoGraph converts, or index it: t[0], t[1]");
      if (count == unknown && names.count == 0)
        raise_not_allowed("a tensor of a traced function whose length is not known before it runs "
                          "cannot be taken apart so: index it, t[0] and t[1:]");
      if (count == unknown) {
        count = names.count;
        check(equal(size_of(tensor), count),
              "there must be " + std::to_string(count) + " slices to unpack, but the tensor has {}",
              size_of(tensor));
      }
    }
    return nb::cast(Rows{tensor, 0, count}).release().ptr();
  });
}

nb::object iterate_back(const Tensor &tensor) {
  // What cannot be gone through says why not.
  const bool can = tensor.rank() != 0 && !tensor.traced();
  return checked(iterate(nb::cast(can ? tensor[Slice{{}, {}, -1}] : tensor).ptr()));
}

void define_rows(nb::module_ &module) {
  ClassOf<Rows>(module, "_Rows", nb::is_final(), nb::type_slots(row_slots));
}

} // namespace weft::python
