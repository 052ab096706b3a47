// Errors of the library as exceptions of Python, which name the user's line.
#include "Aliases.h"
#include "Define.h"
#include "Foreign.h"
#include "Text.h"

#include <algorithm>
#include <cctype>
#include <new>

#include <frameobject.h>

namespace weft::python {

std::string package_folder() {
  const nb::object package = nb::steal(PyImport_GetModule(nb::str("weft").ptr()));
  if (!package.is_valid()) {
    PyErr_Clear();
    return {};
  }
  const nb::object path = nb::steal(PyObject_GetAttrString(package.ptr(), "__path__"));
  const nb::object first =
      path.is_valid() ? nb::steal(PySequence_GetItem(path.ptr(), 0)) : nb::object();
  const char *text =
      first.is_valid() && PyUnicode_Check(first.ptr()) ? PyUnicode_AsUTF8(first.ptr()) : nullptr;
  PyErr_Clear();
  return text == nullptr ? std::string() : std::string(text) + "/";
}

namespace {

nb::object file_of(nb::handle frame) {
  const nb::object code = nb::steal(reinterpret_cast<PyObject *>(
      PyFrame_GetCode(reinterpret_cast<PyFrameObject *>(frame.ptr()))));
  return nb::steal(PyObject_GetAttrString(code.ptr(), "co_filename"));
}

/// Whether the code that runs is of the package.
bool package_runs() {
  PyObject *frame = reinterpret_cast<PyObject *>(PyEval_GetFrame());
  if (frame == nullptr) return false;
  const std::string folder = package_folder();
  const nb::object name = file_of(frame);
  const char *file = name.is_valid() ? PyUnicode_AsUTF8(name.ptr()) : nullptr;
  if (file == nullptr) PyErr_Clear();
  return file != nullptr && !folder.empty() && std::string_view(file).starts_with(folder);
}

constexpr std::size_t kKinds = static_cast<std::size_t>(ErrorKind::internal) + 1;
PyObject *classes[kKinds] = {};
PyObject *not_allowed = nullptr, *no_attribute = nullptr, *symbolic_size = nullptr;

PyObject *make_class(nb::module_ &module, const char *name, std::initializer_list<PyObject *> bases,
                     const char *documentation) {
  nb::list list;
  for (PyObject *base : bases) list.append(nb::borrow(base));
  const nb::tuple tuple(list);
  const std::string qualified = std::string("weft.") + name;
  PyObject *made =
      PyErr_NewExceptionWithDoc(qualified.c_str(), documentation, tuple.ptr(), nullptr);
  if (made == nullptr) throw nb::python_error();
  module.attr(name) = nb::borrow(made);
  return made;
}

/// Gives an error its text behind the line of the user, and what there is of it.
void give_place(nb::handle error, const nb::object &message, const std::string &file, int line) {
  if (line != 0) {
    const std::string start = file.substr(file.rfind('/') + 1) + ":" + std::to_string(line) + ": ";
    error.attr("args") = nb::make_tuple(shown_text(start) + message);
  }
  error.attr("message") = message;
  error.attr("file") = line == 0 ? nb::object(nb::none()) : kept_text(file);
  error.attr("line") = line == 0 ? nb::object(nb::none()) : nb::object(nb::int_(line));
}

/// Whether `set` makes an error, which knows its line.
thread_local bool placed = false;

/// The `__init__` of errors: those that Python's part of the package raises get the user's line as
/// those of the library do.
PyObject *initialize(PyObject *self, PyObject *args, PyObject *keywords) {
  PyObject *of_python = PyObject_TypeCheck(self, reinterpret_cast<PyTypeObject *>(PyExc_OSError))
                            ? PyExc_OSError
                            : PyExc_BaseException;
  auto *base = reinterpret_cast<PyTypeObject *>(of_python);
  if (base->tp_init(self, args, keywords) != 0) return nullptr;
  return guarded([&]() -> PyObject * {
    const bool text = PyTuple_GET_SIZE(args) == 1 && PyUnicode_Check(PyTuple_GET_ITEM(args, 0));
    if (!placed && text && package_runs()) {
      const auto [file, line] = line_of_user();
      give_place(self, nb::borrow(PyTuple_GET_ITEM(args, 0)), file, line);
    }
    Py_RETURN_NONE;
  });
}

PyMethodDef initializer = {"__init__", reinterpret_cast<PyCFunction>(initialize),
                           METH_VARARGS | METH_KEYWORDS, nullptr};

PyObject *class_of(ErrorKind kind) { return classes[static_cast<std::size_t>(kind)]; }

void set(PyObject *type, std::string_view text, const SourceLocation &place = {}) noexcept {
  try {
    const std::string message = as_called(text);
    // Compiled code knows the line of each op; else it is the one that is running.
    const auto [file, line] =
        place.known() ? std::pair(place.file, static_cast<int>(place.line)) : line_of_user();
    placed = true;
    const nb::object error = nb::steal(PyObject_CallOneArg(type, shown_text(message).ptr()));
    placed = false;
    if (!error.is_valid()) throw nb::python_error();
    give_place(error, shown_text(message), file, line);
    PyErr_SetObject(type, error.ptr());
  } catch (nb::python_error &error) {
    error.restore();
  } catch (...) {
    PyErr_NoMemory();
  }
}

/// Words of C++ that messages of the library have, and what stands for them in Python.
constexpr std::pair<std::string_view, std::string_view> kWords[] = {
    {"{.persistent = true}", "persistent=True"},
    {"ask with {.vectorize = false}", "ask with vectorize=False"},
    {"list it in .variables, or make it untrainable",
     "list it in variables, or make it untrainable"},
    {"count down a C++ number", "count down a number of Python"},
    {"take it to a host_call", "take it to weft.py_function"},
    {"print it with print()", "print it with weft.print"},
    {"-1 is what size() and shape() say of a size that a traced function does not know: use "
     "size_of(x) or zeros_like(x), which do when it runs",
     "of a size that a traced function does not know x.shape has what stands for it, and "
     "weft.zeros_like(x) knows it"},
};
/// Names before `::`, which stand before a dot in Python.
constexpr std::pair<std::string_view, std::string_view> kScopes[] = {
    {"TensorArray", "TensorArray"},
    {"Checkpoint", "Checkpoint"},
    {"CheckpointManager", "CheckpointManager"},
    {"History", "History"},
    {"random", "random"},
    {"events", "summary"},
    {"data", "data"},
    {"nn", "nn"},
};

/// A message of the library as users of Python read it.
std::string in_python(std::string text) {
  for (const auto &[word, said] : kWords)
    if (const std::size_t at = text.find(word); at != std::string::npos)
      text.replace(at, word.size(), said);
  if (text.starts_with("host_call ")) text.replace(0, 9, "py_function");
  const auto is_of_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  // What stands in quotes is a name of the user.
  for (std::size_t at = text.find("::"); at < text.find('\''); at = text.find("::", at + 1)) {
    std::size_t from = at;
    while (from != 0 && is_of_name(text[from - 1])) --from;
    const std::string_view scope = std::string_view(text).substr(from, at - from);
    const auto *known =
        std::ranges::find(kScopes, scope, [](const auto &pair) { return pair.first; });
    if (known == std::end(kScopes)) continue;
    text.replace(from, at + 2 - from, std::string(known->second) + ".");
    at = from;
  }
  return text;
}

/// Characters to insert, remove, replace or swap with the next between two words.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last, last, row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last = std::exchange(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j - 1] + (a[i - 1] != b[j - 1]), last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

} // namespace

/// The dtype whose name the text begins with; the longest of several.
static std::optional<DType> dtype_word_at(std::string_view text) {
  std::optional<DType> found;
  for (std::size_t i = 0; i < kNumDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (text.starts_with(name_of(dtype)) &&
        (!found || name_of(*found).size() < name_of(dtype).size()))
      found = dtype;
  }
  return found;
}

std::string with_dtypes(std::string_view text) {
  const auto is_of_word = [&](std::size_t at) {
    return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 ||
                                text[at] == '_' || text[at] == '<');
  };
  std::string made;
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    // An apostrophe stands between letters.
    if (text[at] == '\'' && (quoted || !is_of_word(at - 1))) quoted = !quoted;
    // An open size of a shape: "(?, 3)".
    if (!quoted && text[at] == '?' && at > 0 && (text[at - 1] == '(' || text[at - 1] == ' ') &&
        at + 1 < text.size() && (text[at + 1] == ',' || text[at + 1] == ')')) {
      made += "None";
      continue;
    }
    const std::optional<DType> dtype =
        quoted || is_of_word(at - 1) ? std::nullopt : dtype_word_at(text.substr(at));
    if (!dtype || is_of_word(at + name_of(*dtype).size())) {
      made += text[at];
      continue;
    }
    made += python_name(*dtype);
    at += name_of(*dtype).size() - 1;
  }
  return made;
}

std::string with_printed_dtypes(std::string_view line) {
  constexpr std::string_view before = "), dtype=";
  std::string text;
  for (std::size_t at = line.find(before); at != std::string_view::npos; at = line.find(before)) {
    text += line.substr(0, at + before.size());
    line.remove_prefix(at + before.size());
    const std::optional<DType> dtype = dtype_word_at(line);
    if (!dtype || !line.substr(name_of(*dtype).size()).starts_with(')')) continue;
    text += python_name(*dtype);
    line.remove_prefix(name_of(*dtype).size());
  }
  return text + std::string(line);
}

std::pair<std::string, int> line_of_user() {
  const std::string folder = package_folder();
  nb::object frame = nb::borrow(reinterpret_cast<PyObject *>(PyEval_GetFrame()));
  while (frame.is_valid() && frame.ptr() != nullptr) {
    auto *of = reinterpret_cast<PyFrameObject *>(frame.ptr());
    const nb::object name = file_of(frame);
    const char *file = name.is_valid() ? PyUnicode_AsUTF8(name.ptr()) : nullptr;
    if (file == nullptr) {
      PyErr_Clear();
      return {};
    }
    if (folder.empty() || !std::string_view(file).starts_with(folder))
      return {file, PyFrame_GetLineNumber(of)};
    frame = nb::steal(reinterpret_cast<PyObject *>(PyFrame_GetBack(of)));
  }
  return {};
}

std::string nearest(std::string_view wrong, std::span<const char *const> names) {
  // What C++ and others call it.
  static constexpr std::pair<std::string_view, std::string_view> synonyms[] = {
      {"axes", "axis"},           {"dim", "axis"},         {"keep_dims", "keepdims"},
      {"keepdim", "keepdims"},    {"lr", "learning_rate"}, {"bias", "use_bias"},
      {"max_to_keep", "keep"},    {"a_min", "min"},        {"a_max", "max"},
      {"every", "every_seconds"},
  };
  for (const auto &[word, ours] : synonyms)
    if (word == wrong && std::ranges::find(names, ours) != names.end()) return std::string(ours);
  // A slip of the pen, in every fourth character, or a word that was not written to its end: what
  // is further away is another word.
  const std::size_t slips = std::clamp<std::size_t>((wrong.size() + 2) / 4, 1, 4);
  const char *best = nullptr;
  std::size_t least = std::string_view::npos;
  for (const char *name : names) {
    const std::size_t away = distance(wrong, name);
    const bool begun = wrong.size() > 2 && std::string_view(name).starts_with(wrong);
    if (away >= least || (away > slips && !begun)) continue;
    least = away;
    best = name;
  }
  return best == nullptr ? std::string() : best;
}

void raise_type_error(const std::string &message) {
  PyErr_SetObject(PyExc_TypeError, shown_text(as_called(message)).ptr());
  throw nb::python_error();
}

void raise_not_allowed(const std::string &message) {
  set(not_allowed, message);
  throw nb::python_error();
}

void raise_no_attribute(const std::string &message) {
  set(no_attribute, message);
  throw nb::python_error();
}

void set_error() noexcept {
  try {
    throw;
  } catch (nb::python_error &error) {
    error.restore();
  } catch (const KeptError &error) {
    error.restore();
  } catch (const Error &error) {
    stay_if_refused(error);
    // What an assertion says is the words of whoever wrote it, what a compiler says those of its
    // IR.
    const bool ours = error.kind() != ErrorKind::assertion && error.kind() != ErrorKind::compile;
    const std::string text = in_python(std::string(error.message()));
    const bool of_size = dynamic_cast<const SymbolicSizeError *>(&error) != nullptr;
    set(of_size ? symbolic_size : class_of(error.kind()),
        ours ? with_dtypes(text) : with_printed_dtypes(text), error.location());
  } catch (const std::bad_alloc &) {
    set(class_of(ErrorKind::out_of_memory), "there is no memory left");
  } catch (const std::exception &error) {
    set(class_of(ErrorKind::internal), error.what());
  } catch (...) {
    set(class_of(ErrorKind::internal), "an exception of unknown type");
  }
}

void define_errors(nb::module_ &module) {
  PyObject *base = make_class(
      module, "Error", {PyExc_Exception},
      "What Weft raises. `message` is the text without the place, `file` and `line` are "
      "the user's, or None."
      "\n\nExample:\n"
      "    >>> try:\n"
      "    ...     wf.matmul(wf.ones((2, 3)), wf.ones((2, 3)))\n"
      "    ... except wf.Error as error:\n"
      "    ...     print(error.message)\n"
      "    matmul: the inner dimensions differ: lhs is (2, 3) and rhs is (2, 3), so 3 meets 2\n");
  nb::setattr(base, "__init__",
              checked(PyDescr_NewMethod(reinterpret_cast<PyTypeObject *>(base), &initializer)));
  PyObject *invalid = make_class(module, "InvalidArgumentError", {base},
                                 "Arguments that an op does not take."
                                 "\n\nExample:\n"
                                 "    >>> issubclass(wf.ShapeError, wf.InvalidArgumentError)\n"
                                 "    True\n");
  const auto define = [&](ErrorKind kind, const char *name, std::initializer_list<PyObject *> bases,
                          const char *documentation) {
    classes[static_cast<std::size_t>(kind)] = make_class(module, name, bases, documentation);
  };
  define(ErrorKind::shape, "ShapeError", {invalid, PyExc_ValueError},
         "Shapes that do not fit together, or a wrong rank."
         "\n\nExample:\n"
         "    >>> wf.ones(2) + wf.ones(3)\n"
         "    Traceback (most recent call last):\n"
         "        ...\n"
         "    weft.ShapeError: ...: add: the shapes do not broadcast: lhs is (2,)...\n");
  define(ErrorKind::dtype, "DTypeError", {invalid, PyExc_TypeError},
         "A dtype that an op does not admit."
         "\n\nExample:\n"
         "    >>> wf.cast(1, 'int4')\n"
         "    Traceback (most recent call last):\n"
         "        ...\n"
         "    weft.DTypeError: ...: cast: dtype is 'int4', which names no dtype:...\n");
  define(ErrorKind::index, "OutOfRangeError", {base, PyExc_IndexError},
         "An axis or an index out of range."
         "\n\nExample:\n"
         "    >>> wf.sum([1, 2], axis=1)\n"
         "    Traceback (most recent call last):\n"
         "        ...\n"
         "    weft.OutOfRangeError: ...: sum: axis 1 is out of range for x of shape...\n");
  define(ErrorKind::value, "ValueError", {invalid, PyExc_ValueError},
         "An argument whose value makes no sense."
         "\n\nExample:\n"
         "    >>> wf.tensor([[1, 2], [3]])\n"
         "    Traceback (most recent call last):\n"
         "        ...\n"
         "    weft.ValueError: ...: tensor: value is ragged: the element at [1] has...\n");
  define(ErrorKind::state, "StateError", {base, PyExc_RuntimeError},
         "A call at a time when it is not possible, such as of a tape that is spent."
         "\n\nExample:\n"
         "    >>> tape = wf.GradientTape()\n"
         "    >>> tape.gradient(wf.tensor(1.0), [])\n"
         "    Traceback (most recent call last):\n"
         "        ...\n"
         "    weft.StateError: ...: GradientTape: gradient was called before the...\n");
  define(ErrorKind::assertion, "AssertionError", {invalid, PyExc_AssertionError},
         "A check that did not hold."
         "\n\nExample:\n"
         "    >>> @wf.function\n"
         "    ... def checked(x):\n"
         "    ...     assert x > 0, 'x is not positive'\n"
         "    ...     return x\n"
         "    >>> checked(wf.tensor(-1.0))\n"
         "    Traceback (most recent call last):\n"
         "        ...\n"
         "    weft.AssertionError: ...: assertion failed in checked: x is not positive\n");
  define(
      ErrorKind::linalg, "LinAlgError", {invalid, PyExc_ValueError},
      "A matrix that has not what is asked for: no inverse, not positive definite, no convergence."
      "\n\nExample:\n"
      "    >>> wf.linalg.cholesky([[0.0]])\n"
      "    Traceback (most recent call last):\n"
      "        ...\n"
      "    weft.LinAlgError: ...: linalg.cholesky: the matrix is not positive definite...\n");
  define(ErrorKind::out_of_memory, "ResourceExhaustedError", {base, PyExc_MemoryError},
         "More bytes than can be had."
         "\n\nExample:\n"
         "    >>> wf.zeros([2**40])\n"
         "    Traceback (most recent call last):\n"
         "        ...\n"
         "    weft.ResourceExhaustedError: ...: zeros: out of memory: asked for...\n");
  define(ErrorKind::compile, "CompileError", {base, PyExc_RuntimeError},
         "A program that cannot be compiled."
         "\n\nExample:\n"
         "    >>> issubclass(wf.CompileError, wf.Error) and issubclass(wf.CompileError, "
         "RuntimeError)\n"
         "    True\n");
  define(ErrorKind::io, "IOError", {base, PyExc_OSError},
         "A file that is missing, malformed or cannot be written."
         "\n\nExample:\n"
         "    >>> wf.io.load_npy('missing.npy')\n"
         "    Traceback (most recent call last):\n"
         "        ...\n"
         "    weft.IOError: ...: missing.npy: cannot be opened: No such file or directory\n");
  define(ErrorKind::device, "DeviceError", {base, PyExc_RuntimeError},
         "A device that is not there, that failed, or that other operands of a call are not on."
         "\n\nExample:\n"
         "    >>> wf.ones(2).to('gpu:99')\n"
         "    Traceback (most recent call last):\n"
         "        ...\n"
         "    weft.DeviceError: ...: to: cannot use gpu:99:...\n");
  define(ErrorKind::peer, "PeerError", {base, PyExc_RuntimeError},
         "Another process of a distributed program that is gone, failed, or did not come in time."
         "\n\nExample:\n"
         "    >>> issubclass(wf.PeerError, wf.Error) and issubclass(wf.PeerError, RuntimeError)\n"
         "    True\n");
  define(ErrorKind::internal, "InternalError", {base, PyExc_RuntimeError},
         "A fault of Weft's own: please report it."
         "\n\nExample:\n"
         "    >>> issubclass(wf.InternalError, wf.Error) and issubclass(wf.InternalError, "
         "RuntimeError)\n"
         "    True\n");
  make_class(module, "AutoGraphError", {base, PyExc_TypeError},
             "Control flow of Python that cannot be converted where a tensor decides."
             "\n\nExample:\n"
             "    >>> def squares(n):\n"
             "    ...     yield n * n\n"
             "    >>> wf.autograph.to_code(squares)\n"
             "    Traceback (most recent call last):\n"
             "        ...\n"
             "    weft.AutoGraphError: ...: squares is not converted: generators are not...\n");
  not_allowed = make_class(
      module, "OperatorNotAllowedInGraphError", {class_of(ErrorKind::state), PyExc_TypeError},
      "A traced tensor where Python wants a value."
      "\n\nExample:\n"
      "    >>> wf.function(lambda x: bool(x), autograph=False)(wf.tensor(1.0))\n"
      "    Traceback (most recent call last):\n"
      "        ...\n"
      "    weft.OperatorNotAllowedInGraphError: ...: a tensor of a traced...\n");
  symbolic_size = make_class(
      module, "SymbolicSizeError", {class_of(ErrorKind::state), PyExc_TypeError},
      "The number of a size is asked for, which a traced function knows only when it runs."
      "\n\nExample:\n"
      "    >>> signature = [wf.TensorSpec([None])]\n"
      "    >>> first = wf.function(lambda x: len(x), autograph=False, input_signature=signature)\n"
      "    >>> first(wf.ones(3))\n"
      "    Traceback (most recent call last):\n"
      "        ...\n"
      "    weft.SymbolicSizeError: ...: len: the first size of this tensor is known...\n");
  no_attribute =
      make_class(module, "SymbolicTensorError", {class_of(ErrorKind::state), PyExc_AttributeError},
                 "An attribute that a traced tensor does not have: its value."
                 "\n\nExample:\n"
                 "    >>> wf.function(lambda x: x.numpy())(wf.tensor(1.0))\n"
                 "    Traceback (most recent call last):\n"
                 "        ...\n"
                 "    weft.SymbolicTensorError: ...: numpy: the tensor x:0 has no value...\n");
  weft::python::define(
      module, "internal_nearest(wrong, names)",
      [](const std::string &wrong, const nb::list &names) -> nb::object {
        std::vector<std::string> texts;
        for (const nb::handle name : names) texts.push_back(text_of(name));
        std::vector<const char *> list;
        for (const std::string &text : texts) list.push_back(text.c_str());
        const std::string near = nearest(wrong, list);
        return nb::make_tuple(near, distance(wrong, near));
      },
      Returns{"tuple[str, int]"});
  nb::register_exception_translator([](const std::exception_ptr &exception, void *) {
    try {
      std::rethrow_exception(exception);
    } catch (const Error &) {
      set_error();
    } catch (const KeptError &error) {
      error.restore();
    }
  });
}

} // namespace weft::python
