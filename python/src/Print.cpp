// wf.print, and Python's sys.stdout as the place where printed lines go.
#include "Foreign.h"
#include "Text.h"

#include <deque>

#include <weft/ops.h>
#include <weft/print.h>

namespace weft::python {

namespace {

/// Writes a line as the function print of Python does: to sys.stdout as it is now.
void write_line(std::string_view given) {
  const std::string line = with_printed_dtypes(given);
  in_python([&] {
    PyObject *const out = PySys_GetObject("stdout");
    if (out == nullptr || out == Py_None) return;
    const auto size = static_cast<Py_ssize_t>(line.size());
    const nb::object text = checked(PyUnicode_DecodeUTF8(line.data(), size, "replace")),
                     stream = nb::borrow(out);
    stream.attr("write")(text + nb::str("\n"));
    stream.attr("flush")();
  });
}

/// A float of Python keeps its range.
Tensor value_of(PyObject *piece) {
  const Place place{"print", "a value"};
  if (PyFloat_CheckExact(piece)) return full({}, PyFloat_AS_DOUBLE(piece), DType::f64);
  return to_tensor(piece, place);
}

PyObject *print_pieces(PyObject *, PyObject *const *args, Py_ssize_t count) {
  return guarded([&]() -> PyObject * {
    std::deque<Tensor> values; // which pieces borrow
    std::deque<detail::PrintPiece> pieces;
    for (PyObject *piece : std::span(args, static_cast<std::size_t>(count))) {
      if (!PyUnicode_Check(piece)) {
        pieces.emplace_back(values.emplace_back(value_of(piece)));
        continue;
      }
      Py_ssize_t size = 0;
      const char *text = PyUnicode_AsUTF8AndSize(piece, &size);
      if (text == nullptr) throw nb::python_error();
      pieces.emplace_back(std::string_view(text, static_cast<std::size_t>(size)));
    }
    if (pieces.empty()) pieces.emplace_back("");
    std::vector<const detail::PrintPiece *> list;
    for (const detail::PrintPiece &piece : pieces) list.push_back(&piece);
    detail::print_line(list);
    Py_RETURN_NONE;
  });
}

PyMethodDef functions[] = {
    {"print", reinterpret_cast<PyCFunction>(print_pieces), METH_FASTCALL,
     "print(*pieces)\n--\n\n"
     "Prints a line of text and values with spaces between, to sys.stdout. A value takes the next "
     "{} of the text before it, or the end.\n\n"
     "In a traced function it prints each time that the program comes to it, in order with its "
     "other effects; Python's own print runs once, while the function is traced.\n\n"
     "Args:\n    pieces: text, tensors, variables, numbers, arrays and lists of numbers\n\n"
     "Raises:\n    ValueError: if a {} is left without a value\n\n"
     "Example:\n"
     "    >>> wf.print('loss', wf.tensor(0.5), 'at step', 3)\n"
     "    loss 0.5 at step 3\n"
     "    >>> wf.print('{} of {}', 3, wf.tensor(4.5))\n"
     "    3 of 4.5\n"},
    {nullptr, nullptr, 0, nullptr}};

} // namespace

void define_print(nb::module_ &module) {
  add_functions(module, functions);
  set_print_sink(write_line);
}

} // namespace weft::python
