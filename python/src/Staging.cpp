// What AutoGraph's operators do in a trace: control flow, trials, checks, host calls, and the lines
// of Python that traced ops belong to.
#include "Staging.h"
#include "Assignment.h"
#include "Define.h"
#include "Foreign.h"
#include "Snapshots.h"
#include "Text.h"

#include <unordered_map>
#include <unordered_set>

#include <frameobject.h>
#include <weft/control_flow.h>
#include <weft/detail/binding.h>
#include <weft/detail/staging.h>
#include <weft/host_call.h>

namespace weft::python {

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

namespace {

/// A name that lives for ever, or null for a file of the package, whose lines are not the user's.
const char *file_of_user(PyObject *name) {
  static auto &names = *new std::unordered_map<PyObject *, const char *>; // keys are owned
  static auto &texts = *new std::unordered_set<std::string>;
  constexpr std::size_t kMost = 4096;
  if (const auto found = names.find(name); found != names.end()) return found->second;
  static const std::string &folder = *new std::string(package_folder());
  const char *text = PyUnicode_AsUTF8(name);
  if (text == nullptr) {
    PyErr_Clear();
    return nullptr;
  }
  const bool ours = !folder.empty() && std::string_view(text).starts_with(folder);
  if (names.size() >= kMost) {
    for (const auto &[key, file] : names) Py_DECREF(key);
    names.clear();
  }
  return names[Py_NewRef(name)] = ours ? nullptr : texts.insert(text).first->c_str();
}

/// The line that a frame is at.
detail::ForeignLine line_of(PyFrameObject *frame, PyCodeObject *code, const char *file) {
  int line = 0, column = 0, end_line = 0, end_column = 0;
  if (PyCode_Addr2Location(code, PyFrame_GetLasti(frame), &line, &column, &end_line, &end_column) ==
          0 ||
      line <= 0)
    return {};
  // Columns of Python count from 0.
  return {file, static_cast<std::uint32_t>(line), static_cast<std::uint32_t>(column + 1)};
}

/// The innermost line of Python that is the user's.
detail::ForeignLine find_line() {
  if (PyGILState_Check() == 0) return {};
  PyFrameObject *frame = PyEval_GetFrame();
  Py_XINCREF(frame);
  while (frame != nullptr) {
    PyCodeObject *code = PyFrame_GetCode(frame);
    const char *file = file_of_user(code->co_filename);
    const detail::ForeignLine found =
        file == nullptr ? detail::ForeignLine() : line_of(frame, code, file);
    Py_DECREF(code);
    PyFrameObject *back = file == nullptr ? PyFrame_GetBack(frame) : nullptr;
    Py_DECREF(frame);
    if (file != nullptr) return found;
    frame = back;
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Calls of the user's functions
//===----------------------------------------------------------------------===//

/// AutoGraph's call of a function, which the first use imports. (Kept for good it would keep all
/// modules behind it when Python ends.)
nb::object installed_trace_call() {
  nb::module_::import_("weft._late").attr("imported")("weft._staging").attr("install")();
  return nb::module_::import_("weft._autograph.calls").attr("trace_call");
}

} // namespace

void show_users_lines(nb::python_error &error) {
  const nb::object cleaner = nb::module_::import_("weft._autograph.traceback").attr("clean");
  const nb::object value = nb::borrow(error.value());
  if (error.traceback().is_valid() && !error.traceback().is_none())
    PyException_SetTraceback(value.ptr(), error.traceback().ptr());
  static_cast<void>(checked(PyObject_CallOneArg(cleaner.ptr(), value.ptr())));
  const nb::object traceback = nb::steal(PyException_GetTraceback(value.ptr()));
  PyErr_Restore(Py_NewRef(error.type().ptr()), value.inc_ref().ptr(),
                traceback.is_valid() ? traceback.inc_ref().ptr() : nullptr);
}

nb::object call_tracing(nb::handle function, const nb::tuple &positional, const nb::dict &named,
                        bool autograph) {
  const nb::object caller = autograph ? installed_trace_call() : nb::object();
  PyObject *result = nullptr;
  if (autograph) {
    PyObject *const args[] = {function.ptr(), positional.ptr(), named.ptr()};
    result = PyObject_Vectorcall(caller.ptr(), args, 3, nullptr);
  } else {
    result = PyObject_Call(function.ptr(), positional.ptr(), named.ptr());
  }
  if (result != nullptr) return nb::steal(result);
  nb::python_error error;
  show_users_lines(error);
  throw nb::python_error();
}

Phase phase_named(std::string_view name) {
  static constexpr std::array names = {"trace",      "differentiate", "control-deps", "simplify",
                                       "lift-state", "linalg",        "schedule",     "bufferize",
                                       "llvm",       "object",        "ptx"};
  for (std::size_t i = 0; i < names.size(); ++i)
    if (name == names[i]) return static_cast<Phase>(i);
  std::string known;
  for (const char *each : names) known += std::string(known.empty() ? "'" : ", '") + each + "'";
  throw ValueError("ir: there is no phase '" + std::string(name) + "': they are " + known);
}

//===----------------------------------------------------------------------===//
// Staging
//===----------------------------------------------------------------------===//

Shape shape_of_spec(nb::handle sizes, const Place &place) {
  if (sizes.is_none()) return spec(DType::f32, any_rank).shape;
  Shape shape;
  for (const nb::handle size : sizes) {
    if (nb::isinstance<nb::str>(size)) {
      shape.push_back(detail::named_size(dim(nb::cast<std::string>(size))));
      continue;
    }
    shape.push_back(size.is_none() ? unknown : to_integer(size.ptr(), place));
    if (shape[shape.size() - 1] < unknown)
      throw ShapeError(place.text() + " has a size of " + std::to_string(shape[shape.size() - 1]) +
                       ", which is negative");
  }
  return shape;
}

Tensor to_tensor_as(PyObject *object, DType dtype, const Place &place, const char *says) {
  const Tensor tensor = to_tensor(object, place, dtype);
  const TensorType type = detail::type_of(tensor);
  if (type.dtype == dtype) return tensor;
  // A variable has a dtype of its own, as a tensor has. Floats do not become integers silently.
  if (is_variable(object) || kind_of(type.dtype) > kind_of(dtype))
    throw DTypeError(place.text() + " is " + to_string(type) + ", but " + says + " says " +
                     std::string(name_of(dtype)) + ": convert it with weft.cast, or " + says +
                     " has to say " + std::string(name_of(type.dtype)));
  if (type.dtype == DType::i64 && dtype == DType::i32)
    for (const std::int64_t number : tensor.to_vector<std::int64_t>())
      if (number != static_cast<std::int32_t>(number))
        throw ValueError(place.text() + " has the number " + std::to_string(number) + ", but " +
                         says + " says int32, which does not hold it");
  return to_tensor_of(object, dtype, place);
}

nb::object list_of(std::span<const Tensor> tensors) {
  nb::object list = checked(PyList_New(static_cast<Py_ssize_t>(tensors.size())));
  for (std::size_t i = 0; i < tensors.size(); ++i)
    PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i), wrap(tensors[i]));
  return list;
}

std::vector<Tensor> tensors_of(nb::handle list, const char *function) {
  std::vector<Tensor> tensors;
  for (const nb::handle item : entries_of(list.ptr()))
    tensors.push_back(to_tensor(item.ptr(), {function, "a tensor"}));
  return tensors;
}

nb::tuple tuple_of(const Shape &shape) {
  nb::list sizes;
  for (const std::int64_t size : shape)
    sizes.append(size == unknown ? nb::object(nb::none()) : nb::object(nb::int_(size)));
  return nb::tuple(sizes);
}

namespace {

std::vector<Tensor> tensors_of(nb::handle list) { return python::tensors_of(list, "staging"); }

/// A body of Python of a construct, called on one list of tensors. Both are borrowed.
detail::Body body_of(const std::string &name, nb::handle body) {
  return [&name, body](std::span<const Tensor> tensors) {
    const TracedBody traced(TracedBody::Kind::branch, name.c_str());
    return tensors_of(checked(PyObject_CallOneArg(body.ptr(), list_of(tensors).ptr())));
  };
}

PyObject *is_traced(PyObject *, PyObject *object) {
  return PyBool_FromLong(is_tensor(object) && tensor_in(object).traced());
}
PyObject *is_tensor_of(PyObject *, PyObject *object) { return PyBool_FromLong(is_tensor(object)); }
PyObject *is_tracing(PyObject *, PyObject *) { return PyBool_FromLong(detail::is_tracing()); }
PyObject *is_staged(PyObject *, PyObject *) { return PyBool_FromLong(detail::is_staged()); }
PyObject *op_count(PyObject *, PyObject *) {
  return PyLong_FromUnsignedLongLong(detail::recorded_ops());
}

/// The dtype's name and the sizes. Unlike `x.shape` it does not count as a look at sizes, which
/// would have the function traced for them alone.
nb::tuple type_of(nb::handle object) {
  const TensorType type = detail::type_of(tensor_in(object.ptr()));
  return nb::make_tuple(python_name(type.dtype), tuple_of(type.shape));
}

Tensor as_tensor(nb::handle object, nb::handle like) {
  const Place place{"a value", "that a tensor decides"};
  PyObject *value = object.ptr();
  std::optional<DType> dtype;
  if (!like.is_none()) {
    const DType wanted = to_dtype(like.ptr(), place);
    const bool fits = PyBool_Check(value)        ? wanted == DType::boolean
                      : PyLong_CheckExact(value) ? wanted != DType::boolean
                      : PyFloat_Check(value)     ? is_inexact(wanted)
                      : PyComplex_Check(value)   ? is_complex(wanted)
                                                 : false;
    if (fits) dtype = wanted;
  }
  return to_tensor_of(value, dtype, place);
}

nb::object branch(const std::string &name, nb::handle predicate, nb::handle then,
                  nb::handle otherwise) {
  const auto body = [&](nb::handle thunk) {
    return detail::Body([&name, thunk](std::span<const Tensor>) {
      const TracedBody traced(TracedBody::Kind::branch, name.c_str());
      return tensors_of(checked(PyObject_CallNoArgs(thunk.ptr())));
    });
  };
  return list_of(detail::branch(name, tensor_in(predicate.ptr()), body(then), body(otherwise)));
}

nb::object choose(const std::string &name, nb::handle index, nb::handle cases) {
  std::vector<detail::Body> bodies;
  for (const nb::handle thunk : cases)
    bodies.emplace_back([&name, thunk](std::span<const Tensor>) {
      const TracedBody traced(TracedBody::Kind::branch, name.c_str());
      return tensors_of(checked(PyObject_CallNoArgs(thunk.ptr())));
    });
  return list_of(detail::choose(name, tensor_in(index.ptr()), bodies));
}

nb::object loop(const std::string &name, nb::handle condition, nb::handle body, nb::handle state,
                bool breaks) {
  const detail::Body test = [&name, condition](std::span<const Tensor> tensors) {
    const TracedBody traced(TracedBody::Kind::branch, name.c_str());
    const nb::object holds = checked(PyObject_CallOneArg(condition.ptr(), list_of(tensors).ptr()));
    return std::vector{to_tensor(holds.ptr(), {"while", "the condition"})};
  };
  const auto run = breaks ? detail::loop_until : detail::loop;
  return list_of(run(name, test, body_of(name, body), tensors_of(state), {}));
}

/// A bound of a loop: a number of Python is weak.
Operand bound_of(nb::handle object, std::vector<Tensor> &kept) {
  if (PyLong_Check(object.ptr())) return {nb::cast<std::int64_t>(object), std::source_location()};
  kept.push_back(to_tensor(object.ptr(), {"for", "a bound"}));
  return {kept.back(), std::source_location()};
}

nb::object count(const std::string &name, nb::handle start, nb::handle stop, std::int64_t step,
                 nb::handle body, nb::handle state, bool breaks) {
  std::vector<Tensor> kept;
  kept.reserve(2);
  const Iterations iterations(bound_of(start, kept), bound_of(stop, kept), step);
  const detail::Body iteration = [&](std::span<const Tensor> tensors) {
    const TracedBody traced(TracedBody::Kind::branch, name.c_str());
    const nb::object number = checked(wrap(iterations.number(tensors[0])));
    const nb::object rest = list_of(tensors.subspan(1));
    PyObject *const args[] = {number.ptr(), rest.ptr()};
    return tensors_of(checked(PyObject_Vectorcall(body.ptr(), args, 2, nullptr)));
  };
  const auto run = breaks ? detail::count_until : detail::count;
  return list_of(run(name, iterations, iteration, tensors_of(state)));
}

nb::object scan(nb::handle body, nb::handle carries, nb::handle slices, bool reverse) {
  const std::vector<Tensor> xs = tensors_of(slices);
  const std::string name = "scan";
  return list_of(detail::scan(name, body_of(name, body), tensors_of(carries), xs, reverse, {}));
}

nb::tuple probe(nb::handle body, nb::handle state) {
  const std::uint64_t before = detail::recorded_ops();
  nb::object result;
  detail::probe("autograph", tensors_of(state), [&](std::span<const Tensor> tensors) {
    const TracedBody traced(TracedBody::Kind::branch, "a loop");
    result = checked(PyObject_CallOneArg(body.ptr(), list_of(tensors).ptr()));
  });
  return nb::make_tuple(result, detail::recorded_ops() != before);
}

/// The message takes a value for each {}, three at most: others are not shown.
void check_staged(nb::handle condition, const std::string &message, const nb::args &values) {
  const Tensor holds = tensor_in(condition.ptr());
  const auto shown = [&](std::size_t i) -> Tensor { return tensor_in(values[i].ptr()); };
  switch (values.size()) {
  case 0: return check_values(holds, message, {});
  case 1: return check_values(holds, message, {shown(0)});
  case 2: return check_values(holds, message, {shown(0), shown(1)});
  default: return check_values(holds, message, {shown(0), shown(1), shown(2)});
  }
}

void check_sizes_staged(nb::handle condition, const std::string &message, nb::handle sizes) {
  detail::check_sizes(tensor_in(condition.ptr()), message, tensors_of(sizes));
}

/// A function of Python that a program keeps, and that may go where no lock of Python is held. When
/// Python ends all go: programs of functions that the module's names hold would keep them for good.
class HostCallable {
public:
  explicit HostCallable(nb::object function) : function_(std::move(function)) {
    if (all().empty())
      nb::module_::import_("atexit").attr("register")(nb::cpp_function([] {
        if (leaves_threads()) return; // which may call them
        for (HostCallable *callable : std::vector(all().begin(), all().end()))
          callable->function_.reset();
      }));
    all().insert(this);
  }
  ~HostCallable() {
    if (PyGILState_Check() == 0 && Py_IsInitialized() == 0) {
      static_cast<void>(function_.release());
      return;
    }
    const Locked locked;
    all().erase(this);
    function_.reset();
  }
  HostCallable(const HostCallable &) = delete;
  HostCallable &operator=(const HostCallable &) = delete;

  nb::object function(const std::string &name) const {
    if (!function_.is_valid()) throw StateError(name + ": Python is ending");
    return function_;
  }

private:
  static std::unordered_set<HostCallable *> &all() { // under the lock of Python
    static auto &callables = *new std::unordered_set<HostCallable *>;
    return callables;
  }

  nb::object function_;
};

/// Calls a function of Python in the middle of a program. `specs` are dtypes and shapes of results.
nb::object host_call(nb::object function, nb::handle operands, nb::handle specs,
                     const std::string &name, bool pure) {
  HostCallOptions options{.results = {}, .name = name, .pure = pure, .where = {}};
  const Place place{name.c_str(), "a result"};
  for (const nb::handle spec : specs) {
    const nb::object dtype = spec[0], shape = spec[1];
    options.results.push_back(
        weft::spec(to_dtype(dtype.ptr(), place), shape_of_spec(shape, place)));
  }
  const auto kept = std::make_shared<HostCallable>(std::move(function));
  const detail::Body callable = [kept, dtypes = options.results,
                                 name](std::span<const Tensor> tensors) {
    const Locked locked;
    const nb::object result =
        checked(PyObject_CallOneArg(kept->function(name).ptr(), list_of(tensors).ptr()));
    std::vector<Tensor> made;
    const nb::tuple items = entries_of(result.ptr());
    for (std::size_t at = 0; at < items.size(); ++at) {
      PyObject *item = nb::handle(items[at]).ptr();
      const Place result_place{name.c_str(), "what the function returns"};
      // Numbers and lists of Python take the dtype that was promised.
      const bool weak = at < dtypes.size() && !is_tensor(item) && !is_variable(item);
      made.push_back(weak ? to_tensor_as(item, dtypes[at].dtype, result_place, "its type")
                          : to_tensor(item, result_place));
    }
    return made;
  };
  return list_of(detail::host_call(std::move(options), callable, tensors_of(operands)));
}

PyMethodDef functions[] = {
    {"internal_is_traced", is_traced, METH_O,
     "internal_is_traced(x)\n--\n\nWhether it is a traced tensor."},
    {"internal_is_tensor", is_tensor_of, METH_O,
     "internal_is_tensor(x)\n--\n\nWhether it is a tensor."},
    {"internal_is_tracing", is_tracing, METH_NOARGS,
     "internal_is_tracing()\n--\n\nWhether this thread records a trace."},
    {"internal_is_staged", is_staged, METH_NOARGS,
     "internal_is_staged()\n--\n\nWhether tensors of this thread may stand for values to come, or "
     "for several."},
    {"internal_op_count", op_count, METH_NOARGS,
     "internal_op_count()\n--\n\nHow many ops the traces of this thread have recorded."},
    {nullptr, nullptr, 0, nullptr}};

} // namespace

void define_staging(nb::module_ &module) {
  detail::set_line_finder(find_line);
  add_functions(module, functions);
  define<type_of>(module, "internal_type_of(object)");
  define<as_tensor>(module, "internal_as_tensor", Arg("x"), Arg("like").none());
  define<branch>(module, "internal_branch(name, predicate, then, otherwise)");
  define<choose>(module, "internal_choose(name, index, cases)");
  define<loop>(module, "internal_loop(name, condition, body, state, breaks)");
  define<count>(module, "internal_count(name, start, stop, step, body, state, breaks)");
  define(module, "internal_break_predicate(predicate)", [](nb::handle predicate) {
    return detail::break_predicate(to_tensor(predicate.ptr(), {"break_if", "predicate"}));
  });
  define<scan>(module, "internal_scan(body, carries, slices, reverse)");
  define<probe>(module, "internal_probe(body, state)");
  define<check_staged>(module, "internal_check(condition, message)");
  define<check_sizes_staged>(module, "internal_check_sizes(condition, message, sizes)");
  define<host_call>(module, "internal_host_call(function, operands, specs, name, pure)");
}

} // namespace weft::python
