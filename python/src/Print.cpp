// wf.print, and Python's sys.stdout as the place where printed lines go.
#include "Foreign.h"
#include "Snapshots.h"
#include "Text.h"
#include "Tree.h"

#include <deque>

#include <weft/ops.h>
#include <weft/print.h>

namespace weft::python {

namespace {

/// Writes a line as the function print of Python does: to sys.stdout as it is now.
void write_line(std::string_view given) {
  const bool ends = !given.ends_with(continues_line);
  if (!ends) given.remove_suffix(1);
  const std::string line = with_printed_dtypes(given);
  in_python([&] {
    PyObject *const out = PySys_GetObject("stdout");
    if (out == nullptr || out == Py_None) return;
    const auto size = static_cast<Py_ssize_t>(line.size());
    const nb::object text = checked(PyUnicode_DecodeUTF8(line.data(), size, "replace")),
                     stream = nb::borrow(out);
    stream.attr("write")(ends ? nb::object(text + nb::str("\n")) : text);
    stream.attr("flush")();
  });
}

/// A float of Python keeps its range.
Tensor value_of(PyObject *piece) {
  const Place place{"print", "a value"};
  if (PyFloat_CheckExact(piece)) return full({}, PyFloat_AS_DOUBLE(piece), DType::f64);
  return to_tensor(piece, place);
}

/// A format of the op and the values of its {}.
class Line {
public:
  explicit Line(std::string separator) : separator_(std::move(separator)) {}

  void add(PyObject *piece) {
    if (PyUnicode_Check(piece)) {
      begin();
      const std::string text = kept_text(piece);
      for (std::size_t at = text.find("{}"); at != std::string::npos; at = text.find("{}", at + 2))
        ++open_;
      format_ += text;
    } else if (is_value(piece) && open_ != 0) {
      --open_;
      values_.push_back(value_of(piece));
    } else {
      begin();
      if (is_value(piece)) value(value_of(piece));
      else show(piece, 0);
    }
  }

  void print(const std::string &end) {
    // What ends no line says so to whoever writes it.
    if (end != "\n") format_ += end + continues_line;
    std::deque<detail::PrintPiece> pieces;
    pieces.emplace_back(std::string_view(format_));
    for (const Tensor &each : values_) pieces.emplace_back(each);
    std::vector<const detail::PrintPiece *> list;
    for (const detail::PrintPiece &piece : pieces) list.push_back(&piece);
    detail::print_line(list);
  }

private:
  void begin() {
    if (!empty_) format_ += separator_;
    empty_ = false;
  }

  static std::string kept_text(PyObject *text) {
    Py_ssize_t size = 0;
    const char *utf8 = PyUnicode_AsUTF8AndSize(text, &size);
    if (utf8 == nullptr) throw nb::python_error();
    return {utf8, static_cast<std::size_t>(size)};
  }

  /// What takes a {}: a number, or what has elements, but not a container of Python.
  static bool is_value(PyObject *piece) {
    return is_tensor(piece) || is_variable(piece) || PyLong_Check(piece) != 0 ||
           PyFloat_Check(piece) != 0 ||
           (PyObject_CheckBuffer(piece) != 0 && PyBytes_Check(piece) == 0);
  }

  void value(Tensor tensor) {
    format_ += "{}";
    values_.push_back(std::move(tensor));
  }

  /// Text that stands for itself; a {} in it is no value's.
  void literal(PyObject *text) {
    std::string shown = kept_text(text);
    for (std::size_t at = shown.find("{}"); at != std::string::npos; at = shown.find("{}", at))
      shown.insert(at + 1, " ");
    format_ += shown;
  }

  /// As Python's print shows it, with values in the stead of tensors.
  void show(PyObject *piece, int depth) {
    check_tree_depth("print", depth);
    if (is_tensor(piece) || is_variable(piece)) return value(value_of(piece));
    const bool tuple = PyTuple_Check(piece) != 0;
    const bool plain = PyTuple_CheckExact(piece) || PyList_CheckExact(piece);
    const nb::handle fields = plain || !tuple ? nb::handle() : nb::handle(piece).type();
    if (plain || (fields.is_valid() && nb::hasattr(fields, "_fields"))) {
      const nb::tuple items = entries_of(piece);
      const nb::tuple names = plain ? nb::tuple() : nb::tuple(fields.attr("_fields"));
      if (!plain) literal(nb::object(fields.attr("__name__")).ptr());
      format_ += tuple ? "(" : "[";
      for (std::size_t i = 0; i < items.size(); ++i) {
        if (i != 0) format_ += ", ";
        if (i < names.size()) format_ += kept_text(nb::object(names[i]).ptr()) + "=";
        show(nb::object(items[i]).ptr(), depth + 1);
      }
      if (plain && tuple && items.size() == 1) format_ += ",";
      format_ += tuple ? ")" : "]";
    } else if (PyDict_CheckExact(piece)) {
      const auto items = items_of(piece);
      format_ += items.empty() ? "{ " : "{";
      for (std::size_t i = 0; i < items.size(); ++i) {
        if (i != 0) format_ += ", ";
        literal(nb::repr(items[i].first).ptr());
        format_ += ": ";
        show(items[i].second.ptr(), depth + 1);
      }
      format_ += "}";
    } else {
      literal(depth == 0 ? nb::str(nb::handle(piece)).ptr() : nb::repr(nb::handle(piece)).ptr());
    }
  }

  std::string format_, separator_;
  std::vector<Tensor> values_;
  std::size_t open_ = 0; ///< {} in the format that have no value yet
  bool empty_ = true;
};

/// `sep` or `end`: a text, or None for its default.
std::string text_option(PyObject *option, const char *name, const char *otherwise) {
  if (option == nullptr || option == Py_None) return otherwise;
  if (PyUnicode_Check(option)) return nb::cast<std::string>(nb::handle(option));
  throw DTypeError(std::string("print: ") + name + " is of type " + Py_TYPE(option)->tp_name +
                   ": a text or None is wanted");
}

PyObject *print_pieces(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  return guarded([&]() -> PyObject * {
    PyObject *separator = nullptr, *end = nullptr;
    for (Py_ssize_t i = 0; keywords != nullptr && i < PyTuple_GET_SIZE(keywords); ++i) {
      PyObject *word = PyTuple_GET_ITEM(keywords, i);
      if (PyUnicode_CompareWithASCIIString(word, "sep") == 0) separator = args[count + i];
      else if (PyUnicode_CompareWithASCIIString(word, "end") == 0) end = args[count + i];
      else
        raise_type_error("weft.print() got an unexpected argument '" +
                         nb::cast<std::string>(nb::handle(word)) + "': there are sep and end");
    }
    Line line(text_option(separator, "sep", " "));
    for (PyObject *piece : std::span(args, static_cast<std::size_t>(count))) line.add(piece);
    line.print(text_option(end, "end", "\n"));
    Py_RETURN_NONE;
  });
}

PyMethodDef functions[] = {
    {"print", reinterpret_cast<PyCFunction>(print_pieces), METH_FASTCALL | METH_KEYWORDS,
     "print(*pieces, sep=' ', end='\\n')\n--\n\n"
     "Prints text and values with `sep` between and `end` behind them, to sys.stdout. A value "
     "takes "
     "the next {} of the text before it, or the end.\n\n"
     "In a traced function it prints each time that the program comes to it, in order with its "
     "other effects; Python's own print runs once, while the function is traced.\n\n"
     "Args:\n    pieces: text, tensors, variables, numbers and arrays; lists, tuples and dicts, "
     "which "
     "may hold tensors; other objects as Python prints them\n\n"
     "Raises:\n    ValueError: if a {} is left without a value\n\n"
     "Example:\n"
     "    >>> wf.print('loss', wf.tensor(0.5), 'at step', 3)\n"
     "    loss 0.5 at step 3\n"
     "    >>> wf.print('{} of {}', 3, wf.tensor(4.5))\n"
     "    3 of 4.5\n"
     "    >>> wf.print({'loss': wf.tensor(0.5)}, wf.ones((2, 3)).shape, sep=' at ')\n"
     "    {'loss': 0.5} at (2, 3)\n"},
    {nullptr, nullptr, 0, nullptr}};

} // namespace

void define_print(nb::module_ &module) {
  add_functions(module, functions);
  set_print_sink(write_line);
}

} // namespace weft::python
